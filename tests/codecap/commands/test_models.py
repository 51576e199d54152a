"""`codecap models check` against loopback servers: what it says is what the server saw."""

import json
import time

import pytest
import yaml
from loopback import Loopback
from typer.testing import CliRunner

from codecap.cli import app
from codecap.generate import checking
from codecap.generate.agents.scripted import Script, ScriptedModel

KEY = "sk-test-0123456789-abcdefghijklmnop"
PRICES = """
models:
  - models: ["m-*"]
    source: a test
    prices: [{from: 2020-01-01, input: 11, cache_read: 2, cache_write: 17, output: 53}]
"""


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Runs the command over a configuration with these models; exit status and what it printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.yaml").write_text(PRICES)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_SUCH_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOOPBACK_KEY", KEY)

    def run(models, *arguments):
        told = {"models": models, "systems": list(models), "store": {"durable": str(tmp_path / "durable")}}
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(told | {"exchange": {"prices": str(tmp_path / "prices.yaml")}}))
        result = CliRunner().invoke(app, ["models", "check", "--config", "mine.yaml", *arguments])
        return result.exit_code, result.stdout if "--json" in arguments else result.stdout + result.stderr

    return run


def entry(server, api, **told):
    endpoint = {"api": api, "model": "m-1", "base_url": server.base_url(api), "key_env": "LOOPBACK_KEY", "thinking": "high", **told}
    return {"label": api, "harness": "direct", "endpoint": endpoint}


def test_each_is_asked_once_with_its_pictures_and_effort_and_what_was_sent_is_shown(check, tmp_path):
    with Loopback(answer=lambda _: "7", key=KEY) as server:
        status, told = check({api: entry(server, api, images=7) for api in ("openai", "anthropic", "google")}, "--json")
        bodies = server.bodies
    assert status == 0
    checked = json.loads(told)
    assert [one["problems"] for one in checked] == [[], [], []]
    assert bodies[0]["reasoning_effort"] == checked[0]["sent"]["body"]["reasoning_effort"] == "high"
    assert bodies[1]["output_config"]["effort"] == checked[1]["sent"]["body"]["output_config"]["effort"] == "high"
    assert checked[2]["sent"]["body"]["generationConfig"] == bodies[2]["generationConfig"]
    assert bodies[2]["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "high"}
    assert [json.dumps(body).count("base64,") for body in bodies[:1]] == [7]
    assert "7 times" in json.dumps(checked[0]["sent"]["body"]) and "base64,iVBOR" not in told
    assert checked[0]["sent"]["headers"] == ["Authorization"] and checked[1]["sent"]["headers"][-1] == "x-api-key"
    assert all(one["cost_usd"] > 0 and one["answer"] == "7" for one in checked)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "durable").rglob("*") if path.is_file())
    assert KEY not in told and KEY.encode() not in kept


def test_what_is_wrong_is_said_and_the_status_is_1(check):
    with Loopback(answer=lambda _: "1", key=KEY) as server:
        server.behave("404", "400", "well")
        models = {
            "unknown_model": entry(server, "openai", images=2),
            "wrong_effort": entry(server, "openai", images=2, thinking="utmost", model="m-2"),
            "no_key": entry(server, "openai", key_env="NO_SUCH_KEY"),
            "wrong_setting": entry(server, "openai") | {"framerate": 2},
            "fine": entry(server, "openai", images=60, model="m-3"),
            "still": {"label": "still", "harness": "vtrace", "mode": "still"},
        }
        status, told = check(models)
    assert status == 1
    lines = {name: told[told.index(f"{name}: ") :].partition(f"\n{after}: " if after else "\0")[0]
             for name, after in zip(models, [*list(models)[1:], ""], strict=True)}  # fmt: skip
    assert "FAILED" in lines["unknown_model"] and "model_not_found" in lines["unknown_model"]
    assert "invalid_request_error" in lines["wrong_effort"] and '"reasoning_effort": "utmost"' in lines["wrong_effort"]
    assert "NO_SUCH_KEY is not set" in lines["no_key"]
    assert "framerate" in lines["wrong_setting"]
    assert lines["fine"].startswith("fine: ok") and "50 pictures tried; its entry says that it takes 60" in lines["fine"]
    assert "asks no model" in lines["still"]
    assert "2 of 6 ready" in told


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"harness": "codex"}, "/v1/responses"),
        ({"harness": "pi", "wire": "responses"}, "/v1/responses"),
        ({"harness": "pi"}, "/v1/chat/completions"),
    ],
)
def test_an_agents_model_is_asked_in_the_format_that_the_agent_speaks(check, tmp_path, more, path):
    with ScriptedModel(Script(model="m-1", turns=[{"say": "3"}]), for_s=30) as server:
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url, "thinking": "high", "images": 3}
        _, told = check({"one": {"label": "x", "folder": str(tmp_path), "endpoint": endpoint, **more}}, "--json")
        ((asked, body),) = server.account.bodies
    (one,) = json.loads(told)
    assert (asked, one["answer"], one["sent"]["POST"]) == (path, "3", server.base_url + path.removeprefix("/v1"))
    assert json.dumps(body).count("base64,iVBOR") == 3 and "high" in json.dumps(body) and one["cost_usd"] > 0
    (problem,) = one["problems"]
    assert "codecap harness install" in problem


def test_an_api_without_the_format_that_an_agent_speaks_is_told(check, tmp_path):
    with Loopback(answer=lambda _: "1") as server:
        server.behave("404")
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url(), "images": 1}
        status, told = check({"one": {"label": "x", "harness": "codex", "folder": str(tmp_path), "endpoint": endpoint}}, "--json")
    assert status == 1 and any("404" in problem for problem in json.loads(told)[0]["problems"])


def test_a_refusal_is_wrong_and_an_empty_answer_is_told(check):
    with Loopback(answer=lambda _: "", key=KEY) as server:
        server.behave("refusal", "well")
        status, told = check(
            {"refused": entry(server, "openai", images=1), "empty": entry(server, "anthropic", images=1)}, "--json"
        )
    refused, empty = json.loads(told)
    assert status == 1
    assert refused["problems"] == ["the model, or a filter of its provider, refused to answer"]
    assert empty["problems"] == [] and any(note.startswith("the answer holds no text") for note in empty["notes"])


def test_an_endpoint_that_hangs_is_named_first_and_not_waited_for_as_for_a_page(check, monkeypatch):
    monkeypatch.setattr(checking, "LONGEST_S", 0.5)
    with Loopback(answer=lambda _: "1", key=KEY, hang_s=5) as server:
        server.behave("hang")
        began = time.monotonic()
        status, told = check({"one": entry(server, "openai", images=1)})
    assert status == 1 and time.monotonic() - began < 4.5
    assert "one: asking m-1 at 127.0.0.1" in told and "one: FAILED" in told


def test_a_script_is_told_as_one_and_not_as_a_service_of_videos(check, tmp_path):
    (tmp_path / "script.yaml").write_text("turns: [{say: Done.}]")
    _, told = check({"trial": {"label": "A trial", "harness": "scripted", "script": str(tmp_path / "script.yaml")}})
    assert "its model is a script" in told and "video" not in told


def test_the_longest_wait_is_two_minutes():
    assert checking.LONGEST_S == 120


def test_what_is_wrong_with_one_entry_does_not_hold_up_the_next(check):
    with Loopback(answer=lambda _: "7", key=KEY) as server:
        server.behave("404", "well")
        models = {
            "typo": {"label": "x", "harness": "direkt"},
            "refused": entry(server, "openai", images=1, thinking="xhigh"),
            "good": entry(server, "openai", images=1, thinking="low"),
        }
        status, told = check(models, "--json")
    told = {one["system"]: one["problems"] for one in json.loads(told)}
    assert status == 1 and told["good"] == [] and len(told["refused"]) == 1
    assert "no generate.harnesses called 'direkt'; this version has: " in told["typo"][0]


def test_a_second_check_asks_again(check):
    with Loopback(answer=lambda _: "1", key=KEY) as server:
        models = {"one": entry(server, "openai", images=1)}
        check(models)
        check(models)
        assert server.account.calls == 2


def test_an_unknown_name_names_those_there_are(check):
    status, told = check({"one": {"label": "x", "harness": "reference"}}, "two")
    assert status == 1 and "no entry called two; there are" in told and "one" in told
