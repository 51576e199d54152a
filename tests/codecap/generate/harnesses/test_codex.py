"""Codex: its configuration file, its command line, and what its logs tell."""

import json
import tomllib
from dataclasses import replace

import pytest
from agent_logs import cut_anywhere, recorded, spoilt

from codecap.generate.agents import npm
from codecap.generate.agents.agent import STDOUT, Task
from codecap.generate.harnesses import codex

TASK = Task("Watch it.", "m-1", "xhigh", "http://127.0.0.1:8321", "/work/.agent", "/work")
SHELL = json.dumps({"command": ["bash", "-lc", "compare a.html"]})
ENDPOINT = {"api": "openai", "model": "m-1", "thinking": "xhigh"}


def agent(**told) -> codex.Codex:
    return codex.load({"endpoint": ENDPOINT, "version": "0.155.1", **told}).agent


def test_a_run_is_read_from_its_rollout():
    trace = agent().parse(recorded("codex", "done"))
    shell = ["time-left > /dev/null; ls", "frames --at 0 1 -o shots"]
    assert [call.told for call in trace.calls[:3]] == [*shell, "/work/shots/1.000.png"]
    assert trace.by_class == {"view_reference": 1, "analyse_frames": 2, "write_code": 1, "render_compare": 2, "other": 1}
    assert (trace.rounds, trace.said, trace.stop, trace.errors) == (8, "The page is done.", "end", ())


def test_a_run_that_was_killed_tells_what_it_did_before():
    trace = agent().parse(recorded("codex", "late"))
    assert [call.told for call in trace.calls] == ["frames --at 0 -o shots", "sleep 500"]
    assert (trace.rounds, trace.said, trace.stop) == (2, "", "")


def test_a_run_whose_model_failed_says_so():
    trace = agent().parse(recorded("codex", "failed"))
    assert (trace.rounds, trace.stop) == (1, "error") and "as the script says" in trace.errors[-1]


def test_the_words_of_a_refusal_are_the_models_last():
    content = [{"type": "refusal", "refusal": "I cannot help."}]
    line = json.dumps({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": content}})
    assert agent().parse({STDOUT: "", "sessions/a": line}).said == "I cannot help."


def test_logs_may_be_cut_anywhere_and_hold_anything():
    whole = recorded("codex", "done")
    counts = [len(agent().parse(logs).calls) for logs in cut_anywhere(whole)]
    assert counts == sorted(counts) and counts[0] == 0
    for logs in spoilt(whole):
        agent().parse(logs)


def test_patches_and_lists_of_words_are_understood():
    lines = [
        '{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch"}}',
        json.dumps({"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": SHELL}}),
        '{"type":"response_item","payload":{"type":"local_shell_call","action":{"command":["ffprobe","/input/video.mp4"]}}}',
        '{"type":"response_item","payload":{"type":"function_call","name":"write_stdin","arguments":"{\\"session_id\\":1}"}}',
        '{"type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{}"}}',
    ]
    trace = agent().parse({STDOUT: "", "sessions/2026/01/01/rollout-1.jsonl": "\n".join(lines)})
    assert trace.by_class == {"view_reference": 0, "analyse_frames": 1, "write_code": 1, "render_compare": 1, "other": 1}


def test_the_configuration_names_the_gateway_as_its_only_provider_and_holds_no_key(tmp_path):
    agent(config={"model_context_window": 400000, "features": {"x": False}}).prepare(TASK, tmp_path)
    told = tomllib.loads((tmp_path / "config.toml").read_text())
    provider = told["model_providers"][told["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == ("http://127.0.0.1:8321/v1", "responses")
    assert (told["model"], told["model_reasoning_effort"], told["web_search"]) == ("m-1", "xhigh", "disabled")
    assert (told["model_context_window"], told["features"]) == (400000, {"x": False})
    assert "env_key" not in provider


def test_effort_is_left_to_the_agent_where_the_entry_does_not_say_it(tmp_path):
    agent().prepare(replace(TASK, effort=None), tmp_path)
    assert "model_reasoning_effort" not in tomllib.loads((tmp_path / "config.toml").read_text())


@pytest.mark.parametrize(
    "told", [{"a": 'q"\\\n'}, {"a.b": {"c d": [1, 2.5, True]}}, {"a": {}}, {"a": {"b": {"c": "é"}}, "z": 1}, {"": {"": 1}}]
)
def test_toml_is_read_back_as_it_was_meant(told):
    assert tomllib.loads(codex.as_toml(told)) == told


def test_only_openai_s_api_is_spoken():
    with pytest.raises(ValueError, match="it speaks openai"):
        codex.load({"endpoint": {"api": "anthropic", "model": "m"}, "version": "1"})


def test_what_is_not_installed_is_an_error_that_says_how_to_get_it(tmp_path):
    with pytest.raises(npm.NotInstalled, match="codecap harness install codex"):
        agent(folder=str(tmp_path)).version()
