"""What is kept back, and noted."""

from __future__ import annotations

import pytest

from .conftest import WAYS, Client

TURN = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("api", "method", "path", "body", "noted"),
    [
        ("openai", "GET", "/v1/models", None, "GET /v1/models"),
        ("openai", "POST", "/v1/embeddings", {"model": "m-1"}, "POST /v1/embeddings"),
        ("openai", "POST", "/v1/messages", {"model": "m-1"}, "POST /v1/messages"),
        ("openai", "POST", "/v1/chat/completions/x", {"model": "m-1"}, "POST /v1/chat/completions/x"),
        ("openai", "POST", "http://elsewhere.example/v1/files", {"model": "m-1"}, "POST /v1/files"),
        ("openai", "DELETE", "/v1/responses", None, "DELETE /v1/responses"),
        ("openai", "POST", "/v1/chat/completions", {"model": "m-9", "messages": TURN}, "model m-9"),
        ("openai", "POST", "/v1/chat/completions", {"messages": TURN}, "model no name"),
        ("openai", "POST", "/v1/chat/completions", [1], "POST /v1/chat/completions: no JSON"),
        ("openai", "POST", "/v1/responses", {"model": "m-1", "tools": [{"type": "web_search"}]}, "tool web_search"),
        ("openai", "POST", "/v1/responses", {"model": "m-1", "tools": [{"type": "mcp", "server_url": "x"}]}, "tool mcp"),
        ("openai", "POST", "/v1/responses", {"model": "m-1", "background": True}, "field background"),
        ("openai", "POST", "/v1/responses", {"model": "m-1", "service_tier": "priority"}, "field service_tier"),
        (
            "openai",
            "POST",
            "/v1/chat/completions",
            {"model": "m-1", "messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}]}]},
            "media by address",
        ),
        (
            "openai",
            "POST",
            "/v1/responses",
            {"model": "m-1", "input": [{"content": [{"type": "input_image", "image_url": "http://a"}]}]},
            "media by address",
        ),
        (
            "anthropic",
            "POST",
            "/v1/messages",
            {"model": "m-1", "tools": [{"type": "web_search_20250305", "name": "w"}]},
            "tool web_search_20250305",
        ),
        ("anthropic", "POST", "/v1/messages", {"model": "m-1", "mcp_servers": [{"url": "x"}]}, "field mcp_servers"),
        ("anthropic", "POST", "/api/event_logging/batch", {"events": []}, "POST /api/event_logging/batch"),
        (
            "anthropic",
            "POST",
            "/v1/messages",
            {"model": "m-1", "messages": [{"content": [{"type": "image", "source": {"type": "url", "url": "https://a.example"}}]}]},
            "media by address",
        ),
        ("google", "POST", "/v1beta/models/m-9:generateContent", {"contents": []}, "model m-9"),
        (
            "google",
            "POST",
            "/v1beta/models/m-1:generateContent",
            {"contents": [], "tools": [{"googleSearch": {}}]},
            "tool googleSearch",
        ),
        ("google", "GET", "/v1beta/models", None, "GET /v1beta/models"),
        (
            "google",
            "POST",
            "/v1beta/models/m-1:generateContent",
            {"contents": [{"parts": [{"fileData": {"fileUri": "gs://a"}}]}]},
            "media by address",
        ),
        ("openai", "POST", "/v1/chat/completions", {"model": "m-1", "tools": 5}, "tools that are no list"),
        ("google", "POST", "/v1beta/models/m-1:generateContent", {"tools": {"googleSearch": {}}}, "tools that are no list"),
        ("google", "POST", "/v1beta/models/m-1:generateContent", {"serviceTier": "priority"}, "field serviceTier"),
        ("google", "POST", "/v1beta/models/m-1:generateContent", {"service_tier": "priority"}, "field service_tier"),
        ("google", "POST", "/v1beta/models/m-1:generateContent", {"cachedContent": "a"}, "field cachedContent"),
        ("anthropic", "POST", "/v1/messages", {"model": "m-1", "inference_geo": "us"}, "field inference_geo"),
    ],
)
def test_it_is_refused_noted_and_not_passed_on(api, method, path, body, noted, upstream, gateway_of):
    way = next(way for way in WAYS.values() if way.api == api)
    with gateway_of(way) as gateway:
        response = Client(gateway).http.request(method, path, json=body)
    assert response.status_code in (400, 404)
    assert response.json()["error"]["message"]
    assert (gateway.tally.refused, gateway.tally.requests_refused) == ({noted: 1}, 1)
    assert (upstream.requests, gateway.tally.calls) == ([], 0)


@pytest.mark.parametrize(
    "part",
    [
        {"fileData": {"mimeType": "video/mp4"}, "file_data": {"file_uri": "https://a.example"}},
        {"fileData": {"fileUri": "data:,", "file_uri": "https://a.example"}},
        {"functionResponse": {"name": "run", "parts": [{"file_data": {"fileUri": "https://a.example"}}]}},
    ],
)
def test_googles_two_spellings_are_both_looked_at(part, upstream, gateway_of):
    way = WAYS["generate"]
    with gateway_of(way) as gateway:
        response = Client(gateway).ask(way, contents=[{"role": "user", "parts": [part]}])
    assert (response.status_code, gateway.tally.refused) == (400, {"media by address": 1})
    assert upstream.requests == []


SEARCH = {"type": "web_search"}


@pytest.mark.parametrize(
    ("asked", "noted"),
    [
        ({"tools": [{"type": "namespace", "name": "n", "tools": [SEARCH]}]}, "tool web_search"),
        ({"tools": [{"type": "namespace", "tools": [{"type": "namespace", "tools": [SEARCH]}]}]}, "tool web_search"),
        ({"tools": [{"type": "namespace", "name": "n", "tools": 5}]}, "tools that are no list"),
        ({"input": [{"type": "additional_tools", "tools": [SEARCH]}]}, "tool web_search"),
        ({"input": [{"type": "tool_search_output", "tools": [{"type": "mcp", "server_url": "x"}]}]}, "tool mcp"),
        ({"input": [{"type": "x", "input": [{"type": "input_image", "image_url": "https://a.example"}]}]}, "media by address"),
        ({"input": [{"type": "x", "args": [{"type": "input_image", "image_url": "https://a.example"}]}]}, "media by address"),
    ],
)
def test_what_lies_deeper_is_looked_at_too(asked, noted, upstream, gateway_of):
    way = WAYS["responses"]
    with gateway_of(way) as gateway:
        assert Client(gateway).ask(way, **asked).status_code == 400
    assert (gateway.tally.refused, upstream.requests) == ({noted: 1}, [])


ADDRESS = "https://a.example/x.png"


@pytest.mark.parametrize(
    ("way", "asked", "noted"),
    [
        ("chat", {"enable_search": True}, "field enable_search"),
        ("chat", {"plugins": [{"id": "web"}]}, "field plugins"),
        ("chat", {"models": ["m-9"], "route": "fallback"}, "field models"),
        ("chat", {"web_search_options": {}}, "field web_search_options"),
        ("chat", {"n": 100}, "field n"),
        ("chat", {"stream": 1}, "field stream"),
        ("chat", {"modalities": ["text", "audio"]}, "field modalities"),
        ("responses", {"type": "tool_use"}, "field type"),
        ("responses", {"previous_response_id": "resp_1"}, "field previous_response_id"),
        ("responses", {"conversation": "conv_1"}, "field conversation"),
        ("responses", {"prompt": {"id": "pmpt_1"}}, "field prompt"),
        ("messages", {"fallbacks": [{"model": "m-9"}]}, "field fallbacks"),
        ("messages", {"container": "container_1"}, "field container"),
        ("generate", {"generationConfig": {"candidateCount": 8}}, "field generationConfig.candidateCount"),
        ("generate", {"generation_config": {"response_modalities": ["IMAGE"]}}, "field generation_config.response_modalities"),
    ],
)
def test_fields_that_ask_for_more_than_an_answer_are_refused(way, asked, noted, upstream, gateway_of):
    way = WAYS[way]
    with gateway_of(way) as gateway:
        assert Client(gateway).ask(way, **asked).status_code == 400
    assert (gateway.tally.refused, gateway.tally.faults, upstream.requests) == ({noted: 1}, {}, [])


@pytest.mark.parametrize(
    ("way", "part", "noted"),
    [
        ("chat", {"image_url": ADDRESS}, "media by address"),
        ("chat", {"type": "text", "text": "x", "uuid": "u", "image_url": {"url": ADDRESS}}, "media by address"),
        ("chat", {"type": "video", "video": [ADDRESS]}, "media by address"),
        ("chat", {"type": "input_audio", "input_audio": {"data": ADDRESS}}, "media by address"),
        ("chat", {"type": "file", "file": {"file_data": ADDRESS}}, "media by address"),
        ("chat", {"type": "file", "file": {"file_id": "file_1"}}, "what lies at the provider"),
        ("responses", {"type": "tool_use", "input": [{"image_url": ADDRESS}]}, "media by address"),
        ("responses", {"type": "input_image", "file_id": "file_1"}, "what lies at the provider"),
        ("responses", {"type": "item_reference", "id": "msg_1"}, "what lies at the provider"),
        ("messages", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}, "what lies at the provider"),
        ("messages", {"type": "image", "source": ADDRESS}, "media by address"),
        ("messages", {"type": "document", "source": {"content": [{"source": {"url": ADDRESS}}]}}, "media by address"),
        ("generate", {"args": {"fileData": {"fileUri": ADDRESS}}}, "media by address"),
    ],
)
def test_what_is_to_be_had_from_elsewhere_is_found_whatever_a_part_calls_itself(way, part, noted, upstream, gateway_of):
    way = WAYS[way]
    name = {"chat": "messages", "responses": "input", "messages": "messages", "generate": "contents"}[
        way.dialect.replace("odels", "generate")
    ]
    said = {"role": "user", "parts": [part]} if name == "contents" else {"role": "user", "content": [part]}
    with gateway_of(way) as gateway:
        assert Client(gateway).ask(way, **{name: [said]}).status_code == 400
    assert (gateway.tally.refused, upstream.requests) == ({noted: 1}, [])


def test_a_field_that_the_entry_lays_over_is_the_entrys_own(upstream, gateway_of):
    way = WAYS["chat"]
    with gateway_of(way, endpoint={"extra": {"provider": {"only": ["p"]}}}) as gateway:
        assert Client(gateway).ask(way, provider={"only": ["q"]}).status_code == 200
    assert upstream.requests[0][2]["provider"] == {"only": ["p"]}


def test_an_agent_cannot_ask_for_more_in_a_field_that_the_entry_adds_to(upstream, gateway_of):
    way = WAYS["generate"]
    with gateway_of(way, endpoint={"extra": {"generationConfig": {"mediaResolution": "low"}}}) as gateway:
        assert Client(gateway).ask(way, generationConfig={"candidateCount": 8}).status_code == 400
        assert Client(gateway).ask(way, generationConfig={"maxOutputTokens": 9}).status_code == 200
    assert upstream.requests[0][2]["generationConfig"] == {"maxOutputTokens": 9, "mediaResolution": "low"}


@pytest.mark.parametrize("where", ["system", "messages", "tools", "all"])
def test_a_cache_that_is_written_at_another_price_is_refused(where, upstream, gateway_of):
    def marked(ttl: str) -> dict:
        mark = {"cache_control": {"type": "ephemeral", "ttl": ttl}}
        text = [{"type": "text", "text": "x"} | mark]
        tools = [{"name": "Bash", "input_schema": {}} | mark]
        return {
            "system": {"system": text},
            "messages": {"messages": [{"role": "user", "content": text}]},
            "tools": {"tools": tools},
        }.get(where, mark)

    way = WAYS["messages"]
    with gateway_of(way) as gateway:
        assert Client(gateway).ask(way, **marked("1h")).status_code == 400
        assert Client(gateway).ask(way, **marked("5m")).status_code == 200
    assert (gateway.tally.refused, len(upstream.requests)) == ({"field cache_control.ttl": 1}, 1)


@pytest.mark.parametrize(
    ("way", "more"),
    [
        (
            "responses",
            {
                "tools": [
                    {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "run"}]},
                    {"type": "tool_search"},
                ],
                "input": [
                    {"type": "tool_search_output", "tools": [{"type": "function", "parameters": {"properties": {"tools": {}}}}]}
                ],
            },
        ),
        ("generate", {"contents": [{"parts": [{"functionCall": {"name": "f", "args": {"fileData": {"fileUri": "u"}}}}]}]}),
        (
            "generate",
            {
                "contents": [
                    {"parts": [{"functionResponse": {"name": "f", "response": {"output": "https://a.example", "url": "s3://x"}}}]}
                ]
            },
        ),
        (
            "responses",
            {
                "input": [
                    {"type": "local_shell_call", "action": {"type": "exec", "command": ["curl", "https://a.example"]}},
                    {"type": "function_call_output", "call_id": "c", "output": "https://a.example"},
                    {
                        "type": "tool_search_output",
                        "tools": [{"type": "function", "parameters": {"$schema": "https://json-schema.org"}}],
                    },
                ]
            },
        ),
        ("chat", {"messages": [{"role": "user", "content": "https://a.example"}], "previous_response_id": None, "n": 1}),
        ("messages", {"inference_geo": "global"}),
        ("responses", {"tools": [{"type": "function", "name": "shell"}, {"type": "custom", "name": "apply_patch"}]}),
        ("messages", {"tools": [{"name": "Bash", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}]}),
        ("generate", {"tools": [{"functionDeclarations": [{"name": "run"}]}]}),
        ("chat", {"tools": [{"type": "function", "function": {"name": "run"}}], "service_tier": "auto"}),
        (
            "messages",
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_use", "input": {"type": "image", "source": {"url": "u"}}}]}
                ]
            },
        ),
    ],
)
def test_an_agents_own_tools_are_passed_on_as_they_are(way, more, upstream, gateway_of):
    way = WAYS[way]
    with gateway_of(way) as gateway:
        assert Client(gateway).ask(way, **more).status_code == 200
    sent = upstream.requests[0][2]
    assert {name: sent[name] for name in more} == more
    assert gateway.tally.refused == {}


def test_names_of_what_is_refused_are_bounded(upstream, gateway_of):
    way = WAYS["chat"]
    with gateway_of(way) as gateway:
        client = Client(gateway)
        for number in range(130):
            client.http.get(f"/{number}/" + "x" * 1000)
    tally = gateway.tally
    assert (len(tally.refused), tally.requests_refused, tally.refused["others"]) == (101, 130, 30)
    assert max(map(len, tally.refused)) < 200


def test_a_body_of_very_many_values_is_refused_before_they_are_made_and_a_long_text_is_not(upstream, gateway_of):
    way = WAYS["chat"]
    many = b'{"model": "m-1", "messages": [' + b'{"a":1},' * 60_000 + b"1]}"
    with gateway_of(way) as gateway:
        assert Client(gateway).http.post(way.path, content=many).status_code == 413
        assert Client(gateway).ask(way, "[1,2],{" * 60_000).status_code == 200
    assert gateway.tally.refused == {"POST /v1/chat/completions: too large": 1}


def test_what_is_sent_is_what_was_checked(upstream, gateway_of):
    """A field that occurs twice is read by some as the first and by others as the last."""
    way = WAYS["chat"]
    raw = b'{"model": "m-9", "messages": [], "model": "m-1"}'
    with gateway_of(way) as gateway:
        assert Client(gateway).http.post(way.path, content=raw).status_code == 200
        assert Client(gateway).http.post(way.path, content=b'{"model": "m-1", "messages": [NaN]}').status_code == 400
        assert Client(gateway).http.post(way.path, content=b"[" * 100_000).status_code == 400
        deep = b'{"model": "m-1", "messages": ' + b"[" * 300 + b"]" * 300 + b"}"
        assert Client(gateway).http.post(way.path, content=deep).status_code == 400
        assert Client(gateway).http.post(way.path, content=b'{"model": "m-1", "messages": ["\\ud800"]}').status_code == 200
    assert upstream.requests[0][2] == {"model": "m-1", "messages": []}
