"""Whole runs of the scripted agent, through the real gateway and the real sandbox."""

import threading
import time

import pytest
from loopback import Loopback

from codecap import stopping
from codecap.config import PROJECT
from codecap.exchange import session
from codecap.generate.agents import logs
from codecap.generate.agents.scripted import Script, ScriptedModel
from codecap.generate.harnesses import scripted
from codecap.generate.harnesses.scripted import Scripted
from codecap.generate.paid import caption_shard
from codecap.generate.sandbox import relay
from codecap.generate.sandbox.contained import Contained
from codecap.records import Outcome, Usage
from codecap.store import ItemStore

pytestmark = pytest.mark.usefixtures("bwrap")


def test_a_page_is_made_with_the_tools_and_its_row_tells_how(play, browser, writes_page, page):
    row, account = play(
        [
            {"run": "frames --at 0 1 -o shots"},
            {"view": "shots/1.000.png"},
            {"run": writes_page},
            {"run": "render index.html && compare index.html"},
            {"view": "compare.png"},
            {"say": "Done."},
        ]
    )
    assert (row.outcome, row.detail, row.salvaged) == (Outcome.OK, "", False)
    assert row.html.read_text() == page
    assert (row.usage, row.rounds) == (account.usage, account.rounds) and row.rounds == 6
    assert row.cost_usd == pytest.approx(
        (row.usage.input_uncached + 0.1 * row.usage.input_cache_read + 10 * row.usage.output) / 1e6
    )
    classes = {"view_reference": 1, "analyse_frames": 1, "write_code": 1, "render_compare": 2, "other": 0}
    assert (row.tool_calls, row.harness_version) == (classes, "scripted 1")
    assert {body["reasoning_effort"] for _, body in account.bodies} == {"high"}
    pictures = [
        part for message in account.bodies[-1][1]["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    assert len(pictures) == 2 and all(part["image_url"]["url"].startswith("data:image/png;base64,iVBOR") for part in pictures)


def test_a_stored_run_asks_nobody_again(play, writes_page):
    turns = [{"run": writes_page}, {"say": "Done."}]
    first, _ = play(turns)
    again, account = play(turns)
    assert account.bodies == [] and again == first


@pytest.mark.slow
def test_at_the_deadline_all_is_ended_and_the_page_rendered_last_is_kept_beside(play, browser, writes_page, page):
    turns = [
        {"run": f"{writes_page}\nrender index.html --at 1"},
        {"run": "head -c 60 index.html > cut; mv cut index.html; echo '<!doctype html><html>other</html>' > other.html"},
        {"run": "setsid sleep 4321 & sleep 4321"},
        {"say": "Done."},
    ]
    row, account = play(turns, deadline_s=15)
    assert (row.outcome, row.salvaged) == (Outcome.GENERATION_TIMEOUT, True)
    assert row.detail == "ended at the deadline; the last complete page is the one rendered last"
    assert row.html.read_text() == page and row.wall_s >= 15
    assert (row.usage, row.rounds) == (account.usage, 3) and row.usage != Usage()
    assert row.tool_calls["render_compare"] == 1
    counted, _ = play(turns, deadline_s=15, salvage_counts=True)  # the same run, read otherwise
    assert (counted.outcome, counted.salvaged, counted.key) == (Outcome.OK, True, row.key)


def test_a_limit_of_rounds_ends_a_run_like_its_deadline(play, writes_page):
    row, account = play([{"run": writes_page}, {"run": "true"}, {"run": "true"}, {"say": "Done."}], most_rounds=2)
    assert (row.outcome, row.salvaged, row.rounds, account.rounds) == (Outcome.GENERATION_TIMEOUT, True, 2, 2)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("true", "index.html: No such file or directory; it said: I give up."),
        ("printf '<!doctype html><html><body>' > index.html", "index.html is no complete document; it said: I give up."),
        ("ln -s /etc/passwd index.html", "index.html: Too many levels of symbolic links; it said: I give up."),
    ],
)
def test_a_run_without_a_page_says_why(play, command, words):
    row, _ = play([{"run": command}, {"say": "I give up."}])
    assert (row.outcome, row.detail, row.html) == (Outcome.NO_COMPLETE_HTML, words, None)


def test_who_ends_the_way_to_its_model_ends_the_run(play):
    kill = "for p in /proc/[2-9]*; do grep -q relay.py $p/cmdline && kill -9 ${p#/proc/} && break; done; sleep 30"
    row, _ = play([{"run": kill}, {"say": "Done."}])
    assert (row.outcome, row.detail) == (Outcome.NO_COMPLETE_HTML, f"index.html: No such file or directory; {relay.CUT_OFF}")
    assert row.wall_s < 25


def test_what_the_agent_puts_in_the_place_of_its_home_is_not_read(play, writes_page, tmp_path, durable, monkeypatch):
    (tmp_path / "log.txt").write_text("a secret of the host")
    monkeypatch.setattr(Scripted, "logs", ("log.txt",))
    link = f"mv .agent old; ln -s {tmp_path} .agent"
    row, _ = play([{"run": f"{writes_page}\n{link}"}, {"say": "Done."}])
    assert row.outcome is Outcome.OK
    (kept,) = durable.glob("**/*.logs.json.gz")
    assert "log.txt" not in logs.read(kept)


def test_a_request_that_asks_for_nonsense_costs_nobody_a_row(play, writes_page):
    ask = "\n".join(
        [
            "python3 - <<'EOF'",
            "import os, urllib.error, urllib.request",
            "big = b'1' + b'0' * 400",
            r"""for body in (b'{"page": "x", "at_s": [%s]}' % big, b'{"page": "x", "at_s": [1e308]}', b'{"page": "\\ud800"}'):""",
            "    try: urllib.request.urlopen(os.environ['CODECAP_GATEWAY'] + '/codecap/render', data=body)",
            "    except urllib.error.HTTPError as error: print(error.code)",
            "EOF",
        ]
    )
    row, account = play([{"run": f"{writes_page}\n{ask}"}, {"say": "Done."}])
    (seen,) = [message["content"] for message in account.bodies[-1][1]["messages"] if message["role"] == "tool"]
    assert row.outcome is Outcome.OK and seen.split()[:3] == ["400", "400", "400"]


def test_what_fails_at_the_provider_is_our_failure_and_is_tried_again(play, writes_page, durable):
    row, _ = play([{"run": writes_page, "status": (401, 99)}])
    assert row.outcome is Outcome.INFRA_ERROR and "401" in row.detail
    assert not list(durable.glob("generate/runs/**/*.json"))
    again, _ = play([{"run": writes_page}, {"say": "Done."}])
    assert again.outcome is Outcome.OK


def test_a_run_begun_again_took_the_time_that_its_answers_took(play, writes_page):
    turns = [{"run": writes_page, "waits_s": 3}, {"run": "true", "status": (401, 99)}, {"say": "Done."}]
    assert play(turns)[0].outcome is Outcome.INFRA_ERROR
    turns[1].pop("status")
    row, account = play(turns)
    assert (row.outcome, account.rounds) == (Outcome.OK, 2) and row.wall_s >= 3


@pytest.mark.slow
def test_who_ends_before_the_deadline_is_in_time_however_long_the_taking_down_takes(play, writes_page, monkeypatch):
    kill = Contained.kill
    monkeypatch.setattr(Contained, "kill", lambda running: (time.sleep(5), kill(running)))
    row, _ = play([{"run": writes_page}, {"say": "Done."}], deadline_s=8)
    assert (row.outcome, row.detail) == (Outcome.OK, "") and row.wall_s <= 8


def test_a_model_that_refuses_has_refused(clip, durable):
    """As a filter over chat completions says it: whatever the agent makes of it."""
    with Loopback(answer=lambda _: "") as server, session(durable):
        server.otherwise = "refusal"
        settings = {"endpoint": {"api": "openai", "model": "m-1", "base_url": server.base_url()}, "deadline_s": 60}
        (row,) = caption_shard([clip], "system", "scripted", settings, durable)
    assert (row.outcome, row.html) == (Outcome.REFUSED, None)


def test_a_model_that_is_busy_at_times_is_asked_again_by_the_agent(play, writes_page):
    row, account = play([{"run": writes_page, "status": (503, 1)}, {"say": "Done."}])
    assert (row.outcome, row.rounds, account.refused) == (Outcome.OK, 2, 1)


def test_nothing_of_ours_is_to_be_read_from_inside(play, clip, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    look = "\n".join(
        [
            "env | grep -c secret",
            "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c secret",
            f"ls {PROJECT}/resources {PROJECT}/config {clip.mp4} 2>&1 | grep -vc 'No such file'",
            "find / -xdev -name '*.mp4' -not -path '/proc/*' 2>/dev/null",
            "ls /input",
            "touch /input/x /opt/codecap/bin/x 2>&1 | grep -c 'Read-only'",
        ]
    )
    _, account = play([{"run": look}, {"say": "Done."}])
    (seen,) = [message["content"] for message in account.bodies[-1][1]["messages"] if message["role"] == "tool"]
    lines = seen.split("\n")
    assert lines[:3] == ["0", "0", "0"] and lines[3:6] == ["/input/video.mp4", "video.mp4", "2"], seen


def test_runs_are_broken_off_at_once_and_not_stored(clip, durable):
    script = Script.model_validate({"turns": [{"run": "sleep 4321"}, {"say": "Done."}]})
    with ScriptedModel(script, for_s=100) as model, session(durable):
        endpoint = {"api": "openai", "model": "scripted-1", "base_url": model.base_url}
        harness = scripted.load({"endpoint": endpoint, "deadline_s": 90})
        runs = ItemStore(durable, stage="runs", salt=None)
        raised: list[BaseException] = []

        def work() -> None:
            try:
                runs.get_or_make("s", clip.clip_id, "k", lambda draft: harness.run(clip, draft))
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        until = time.monotonic() + 30
        while model.account.rounds == 0 and time.monotonic() < until:
            time.sleep(0.1)
        harness.end()
        thread.join(30)
        assert not thread.is_alive() and isinstance(raised[0], stopping.Stopped)
        assert runs.get("s", clip.clip_id, "k") is None
