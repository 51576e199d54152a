"""Pi: its configuration file, and what its logs tell."""

import json

import pytest
from agent_logs import cut_anywhere, recorded, spoilt

from codecap.generate.agents.agent import Task
from codecap.generate.harnesses import pi

ENDPOINT = {"api": "openai", "model": "m-1", "thinking": "high"}
VERSIONS = {"pi": "1.6.0", "node": "22.23.5"}
TASK = Task("Watch it.", "m-1", "high", "http://127.0.0.1:8321", "/work/.agent", "/work")


def agent(**told) -> pi.Pi:
    return pi.load({"endpoint": ENDPOINT, "versions": VERSIONS, **told}).agent


def provider(tmp_path, **told) -> dict:
    agent(**told).prepare(TASK, tmp_path)
    return json.loads((tmp_path / "agent" / "models.json").read_text())["providers"]["codecap"]


def test_a_run_is_read_from_its_events():
    trace = agent().parse(recorded("pi", "done"))
    assert [call.tool for call in trace.calls] == ["bash", "bash", "read", "write", "edit", "write", "bash", "bash", "read"]
    assert trace.by_class == {"view_reference": 1, "analyse_frames": 3, "write_code": 2, "render_compare": 2, "other": 1}
    assert (trace.rounds, trace.said, trace.stop, trace.errors) == (10, "The page is done.", "stop", ())


def test_a_run_that_was_killed_tells_what_it_did_before():
    trace = agent().parse(recorded("pi", "late"))
    assert [call.told for call in trace.calls] == ["frames --at 0 -o shots", "sleep 500"]
    assert (trace.rounds, trace.stop) == (2, "toolUse")


def test_a_run_whose_model_failed_says_so_though_its_exit_status_is_0():
    trace = agent().parse(recorded("pi", "failed"))
    assert (trace.rounds, trace.stop) == (1, "error") and "as the script says" in trace.errors[-1]


@pytest.mark.parametrize(("raw", "stop"), [("refusal", "refusal"), ("incomplete.content_filter", "content_filter"), ("x", "error")])
def test_a_refusal_that_it_calls_an_error_is_one_all_the_same(raw, stop):
    message = {"role": "assistant", "content": [], "stopReason": "error", "rawStopReason": raw, "errorMessage": "The model refused"}
    assert agent().parse({"stdout": json.dumps({"type": "message_end", "message": message})}).stop == stop


def test_logs_may_be_cut_anywhere_and_hold_anything():
    whole = recorded("pi", "done")
    counts = [len(agent().parse(logs).calls) for logs in cut_anywhere(whole)]
    assert counts == sorted(counts) and counts[0] == 0
    for logs in spoilt(whole):
        agent().parse(logs)


def test_lines_that_say_again_what_others_say_are_not_kept_and_nothing_is_lost_by_it():
    assert not [line for line in recorded("pi", "done")["stdout"].encode().splitlines() if line.startswith(pi.NOISE)]


@pytest.mark.parametrize(
    ("told", "address", "api"),
    [
        ({}, "http://127.0.0.1:8321/v1", "openai-completions"),
        ({"wire": "responses"}, "http://127.0.0.1:8321/v1", "openai-responses"),
        ({"endpoint": ENDPOINT | {"api": "anthropic"}}, "http://127.0.0.1:8321", "anthropic-messages"),
        ({"endpoint": ENDPOINT | {"api": "google"}}, "http://127.0.0.1:8321/v1beta", "google-generative-ai"),
    ],
)
def test_each_api_of_an_endpoint_has_its_wire(tmp_path, told, address, api):
    made = provider(tmp_path, **told)
    assert (made["baseUrl"], made["api"], made["models"][0]["id"]) == (address, api, "m-1")


def test_what_differs_at_a_server_lies_over_what_is_known_of_it(tmp_path):
    made = provider(tmp_path, compat={"thinkingFormat": "qwen", "supportsReasoningEffort": False})
    assert made["compat"]["thinkingFormat"] == "qwen" and made["compat"]["supportsReasoningEffort"] is False
    other = provider(tmp_path, endpoint=ENDPOINT | {"output_limit": "max_tokens"})
    assert other["compat"]["maxTokensField"] == "max_tokens"


def test_a_level_that_it_does_not_have_is_refused():
    with pytest.raises(ValueError, match="its levels are off, minimal, low, medium, high, xhigh, max"):
        agent(endpoint=ENDPOINT | {"thinking": "huge"})
