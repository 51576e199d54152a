"""The real agents, installed from npm, with a scripted model: each makes a page, and is ended at its deadline.

Opt-in: `pytest -m agents`. Fetches 750 MB the first time, into `CODECAP_TEST_AGENTS` or a folder of the tests'. Not for CI.
"""

import os
from pathlib import Path

import pytest

from codecap import config
from codecap.generate.agents import npm
from codecap.records import Outcome, Usage
from codecap.render import render_page

pytestmark = [pytest.mark.agents, pytest.mark.usefixtures("bwrap", "browser")]
VERSIONS = config.load()["agents"]["versions"]
APIS = [("codex", "openai", {}), ("claude_code", "anthropic", {}), ("pi", "openai", {}), ("pi", "openai", {"wire": "responses"})]
APIS += [("pi", "anthropic", {}), ("pi", "google", {})]


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    told = os.environ.get("CODECAP_TEST_AGENTS")
    return Path(told) if told else tmp_path_factory.mktemp("agents")


@pytest.fixture
def played(play, folder):
    def run(harness: str, api: str, turns: list[dict], **told):
        npm.install(harness, VERSIONS[harness], folder, VERSIONS["node"], print)
        return play(turns, harness, api, folder=str(folder), versions=VERSIONS, **told)

    return run


def efforts(path: str, body: dict) -> str | None:
    """How much a request asks the model to think, wherever its format says it."""
    if path.endswith("/responses"):
        return body["reasoning"]["effort"]
    if path.endswith("/messages"):
        return body["output_config"]["effort"]
    if path.endswith("/chat/completions"):
        return body["reasoning_effort"]
    return body["generationConfig"]["thinkingConfig"]["thinkingLevel"].lower()


@pytest.mark.parametrize(("harness", "api", "told"), APIS)
def test_an_agent_makes_a_page_that_renders(played, clip, writes_page, page, tmp_path, harness, api, told):
    turns = [
        {"run": "time-left && frames --at 0 1 -o shots"},
        {"view": "/work/shots/1.000.png"},
        {"run": writes_page},
        {"run": "python3 -c 'import cv2, numpy, PIL, av' && ffmpeg -version | head -1 && render index.html --at 1 -o out"},
        {"view": "/work/out/1.000.png"},
        {"say": "The page is done."},
    ]
    model = "gemini-3.8-flash" if api == "google" else "scripted-1"
    row, account = played(harness, api, turns, model=model, **told)
    assert (row.outcome, row.detail) == (Outcome.OK, "")
    assert row.html.read_text() == page
    made = render_page(row.html, clip.frames, clip.width_px, clip.height_px, tmp_path / "page.mp4")
    assert made.outcome is Outcome.OK
    assert {efforts(*asked) for asked in account.bodies} == {"high"}
    assert (row.usage, row.rounds) == (account.usage, account.rounds) and row.rounds == 6
    paid = account.usage
    assert row.cost_usd == pytest.approx((paid.input_uncached + 0.1 * paid.input_cache_read + 10 * paid.output) / 1e6)
    assert row.tool_calls == {"view_reference": 1, "analyse_frames": 1, "write_code": 1, "render_compare": 2, "other": 0}
    assert VERSIONS[harness] in row.harness_version


@pytest.mark.parametrize(("harness", "api", "told"), APIS[:3])
def test_an_agent_is_ended_at_its_deadline_with_its_usage_intact(played, writes_page, page, harness, api, told):
    turns = [{"run": f"{writes_page}\nrender index.html --at 1"}, {"run": "setsid sleep 4321 & sleep 4321"}, {"say": "Done."}]
    row, account = played(harness, api, turns, deadline_s=30, **told)
    assert (row.outcome, row.salvaged) == (Outcome.GENERATION_TIMEOUT, True)
    assert row.html.read_text() == page
    assert (row.usage, row.rounds) == (account.usage, 2) and row.usage != Usage()
    assert row.tool_calls["render_compare"] == 1
