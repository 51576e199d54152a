"""The scripted model: what it says in each wire format is what the readers of those formats understand."""

import json
import urllib.error
import urllib.request

import pytest

from codecap.errors import UserError
from codecap.exchange import wire
from codecap.generate.agents.scripted import Script, ScriptedModel, Turn
from codecap.records import Usage

USAGE = Usage(input_uncached=11, input_cache_read=7, output=5, reasoning=3)
SCRIPT = Script(turns=[Turn(run="ls"), Turn(say="Done.", usage=USAGE)])
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}}
PATHS = {
    "openai": ("/v1/chat/completions", {"tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}]}),
    "anthropic": ("/v1/messages", {"tools": [{"name": "Bash", "input_schema": SHELL}]}),
    "google": ("/v1beta/models/m:generateContent", {"tools": [{"functionDeclarations": [{"name": "bash", "parameters": SHELL}]}]}),
}


def post(model: ScriptedModel, path: str, body: dict) -> tuple[int, str]:
    request = urllib.request.Request(model.base_url.removesuffix("/v1") + path, json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("api", PATHS)
def test_the_last_turn_is_read_with_its_usage(api):
    path, body = PATHS[api]
    after = {"contents": [{"parts": [{"functionCall": {}}]}]} if api == "google" else {"messages": [{"id": "scripted_call_0"}]}
    with ScriptedModel(SCRIPT, for_s=30) as model:
        status, told = post(model, path, {**body, **after})
        answer = wire.speaking(api).read(json.loads(told))
        expected = USAGE.model_copy(update={"reasoning": 0}) if api == "anthropic" else USAGE
        assert (status, answer.text, answer.stop, answer.usage) == (200, "Done.", "end", expected)
        assert (model.account.usage, model.account.rounds) == (expected, 1)


@pytest.mark.parametrize("api", PATHS)
def test_the_first_turn_calls_a_tool_that_was_offered(api):
    path, body = PATHS[api]
    with ScriptedModel(SCRIPT, for_s=30) as model:
        _, told = post(model, path, {**body, "messages": [], "contents": []} if api == "google" else {**body, "messages": []})
    assert '"ls"' in told.replace('\\"', '"')


def test_responses_stream_ends_with_the_whole_answer():
    body = {
        "stream": True,
        "input": [],
        "tools": [{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}}],
    }
    with ScriptedModel(SCRIPT, for_s=30) as model:
        _, told = post(model, "/v1/responses", body)
    events = [json.loads(line.removeprefix("data: ")) for line in told.splitlines() if line.startswith("data: ")]
    assert events[0]["type"] == "response.created" and events[-1]["type"] == "response.completed"
    deltas = "".join(event["delta"] for event in events if event["type"] == "response.function_call_arguments.delta")
    assert json.loads(deltas) == json.loads(events[-1]["response"]["output"][0]["arguments"]) == {"cmd": "ls"}


def test_an_error_of_the_script_is_met_as_often_as_it_says():
    script = Script(turns=[Turn(say="x", status=(503, 2))])
    with ScriptedModel(script, for_s=30) as model:
        assert [post(model, *PATHS["openai"])[0] for _ in range(3)] == [503, 503, 200]
        assert (model.account.refused, model.account.rounds) == (2, 1)


def test_what_it_does_not_understand_is_refused():
    with ScriptedModel(SCRIPT, for_s=30) as model:
        assert post(model, "/v1/embeddings", {})[0] == 404


@pytest.mark.parametrize(
    ("text", "words"),
    [("turns: [{run: a, say: b}]", "one of run, view, use and say"), ("turns: []", "turns"), ("a: [", "not YAML")],
)
def test_what_is_no_script_is_an_error_that_names_the_file(tmp_path, text, words):
    (tmp_path / "script.yaml").write_text(text)
    with pytest.raises(UserError, match=rf"script\.yaml.*{words}"):
        Script.read(tmp_path / "script.yaml")
