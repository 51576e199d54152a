"""Requests and responses in the providers' own words; the examples follow their API references."""

import base64

import pytest

from codecap.exchange import Endpoint, Picture, Question, Text, Video
from codecap.exchange.failures import ServerFailed, Unreadable
from codecap.exchange.question import Answer
from codecap.exchange.wire import anthropic, google, in_base64, openai, was_bought
from codecap.records import Usage
from codecap.store import ItemStore, packing

SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": ["integer", "null"], "minimum": 0, "maximum": 5},
        "minimum": {"type": "string", "enum": ["a", "b"]},
        "marks": {"type": "array", "items": {"type": "number", "enum": [1, 2]}, "minItems": 2},
    },
    "required": ["score"],
    "additionalProperties": False,
}
ASKED = Question(
    (Text("Look:"), Picture(b"jpeg", "image/jpeg"), Text("Well?")), system="Be brief.", schema=SCHEMA, most_output_tokens=77
)
JPEG = base64.b64encode(b"jpeg").decode()


def endpoint(api: str, **told) -> Endpoint:
    return Endpoint(api=api, model="m", **told)


@pytest.mark.parametrize(
    ("api", "speaker", "extra", "kept"),
    [
        (
            "google",
            google,
            {"generationConfig": {"mediaResolution": "low"}},
            {"mediaResolution", "maxOutputTokens", "thinkingConfig"},
        ),
        ("anthropic", anthropic, {"output_config": {"style": "plain"}}, {"style", "effort"}),
    ],
)
def test_a_providers_own_fields_take_none_of_ours_away(api, speaker, extra, kept):
    body = speaker.body(endpoint(api, thinking="low", extra=extra), ASKED, in_base64)
    assert kept <= set(body[next(iter(extra))])


@pytest.mark.parametrize(("told", "meant"), [("off", "off"), (False, "off"), (4096, "4096"), (None, None)])
def test_thinking_is_as_yaml_reads_it(told, meant):
    assert endpoint("anthropic", thinking=told).thinking == meant


def test_openai_request():
    body = openai.body(endpoint("openai", temperature=0.5, thinking="low", extra={"seed": 3}), ASKED, in_base64)
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look:"},
                    {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{JPEG}"}},
                    {"type": "text", "text": "Well?"},
                ],
            },
        ],
        "max_completion_tokens": 77,
        "temperature": 0.5,
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
        "seed": 3,
    }
    assert openai.url(endpoint("openai")) == "https://api.openai.com/v1/chat/completions"
    assert openai.headers("k") == {"Authorization": "Bearer k"}
    assert openai.headers(None) == {}


def test_openai_servers_of_open_models():
    plain = endpoint("openai", output_limit="max_tokens", structured=False, thinking="off", base_url="http://node:8000/v1/")
    body = openai.body(plain, Question((Video(b"mp4"),), schema=SCHEMA), in_base64)
    assert body["messages"] == [
        {
            "role": "user",
            "content": [{"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{base64.b64encode(b'mp4').decode()}"}}],
        }
    ]
    assert body["max_tokens"] == 2048
    assert body["reasoning_effort"] == "none"
    assert "response_format" not in body and "max_completion_tokens" not in body and "temperature" not in body
    assert openai.url(plain) == "http://node:8000/v1/chat/completions"


def test_openai_response():
    response = {
        "choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 300,
            "prompt_tokens_details": {"cached_tokens": 640, "cache_write_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 256},
        },
    }
    usage = Usage(input_uncached=300, input_cache_read=640, input_cache_write=60, output=300, reasoning=256)
    assert openai.read(response) == Answer("4", "end", usage)


@pytest.mark.parametrize(
    ("message", "reason", "text", "stop"),
    [
        ({"content": None, "refusal": "No."}, "stop", "", "refusal"),
        ({"content": ""}, "content_filter", "", "refusal"),
        ({"content": "half"}, "length", "half", "length"),
        ({"content": None, "reasoning_content": "hm"}, "stop", "", "end"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "stop", "ab", "end"),
        ({"content": "a"}, None, "a", "other"),
        ({"content": "a"}, ["stop"], "a", "other"),
        ({"content": "a"}, {"stop": 1}, "a", "other"),
        ({"content": "a"}, "end of\nsequence " + "x" * 99, "a", "other: end of sequence " + "x" * 44),
        ({"content": [{"type": "text", "text": 7}, {"type": "text", "text": "b"}]}, "stop", "b", "end"),
    ],
)
def test_openai_stops(message, reason, text, stop):
    answer = openai.read({"choices": [{"message": message, "finish_reason": reason}], "usage": None})
    assert (answer.text, answer.stop, answer.usage) == (text, stop, Usage())


def test_anthropic_request():
    body = anthropic.body(endpoint("anthropic", thinking="medium"), ASKED, in_base64)
    assert body["messages"][0]["content"][1] == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/jpeg", "data": JPEG},
    }
    assert (body["system"], body["max_tokens"]) == ("Be brief.", 77)
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"]["effort"] == "medium"
    assert body["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {
                "score": {"type": ["integer", "null"]},
                "minimum": {"type": "string", "enum": ["a", "b"]},  # a property may have the name of a keyword
                "marks": {"type": "array", "items": {"type": "number", "enum": [1, 2]}},
            },
            "required": ["score"],
            "additionalProperties": False,
        },
    }
    assert anthropic.headers("k") == {"anthropic-version": "2023-06-01", "x-api-key": "k"}
    budget = anthropic.body(endpoint("anthropic", thinking="4096"), ASKED, in_base64)["thinking"]
    assert budget == {"type": "enabled", "budget_tokens": 4096}
    with pytest.raises(TypeError, match="no videos"):
        anthropic.body(endpoint("anthropic"), Question((Video(b""),)), in_base64)


def test_anthropic_response():
    response = {
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "4"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 50, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 30, "output_tokens": 90},
    }
    usage = Usage(input_uncached=50, input_cache_read=400, input_cache_write=30, output=90)
    assert anthropic.read(response) == Answer("4", "end", usage)
    assert anthropic.read(response | {"stop_reason": "refusal", "content": []}).stop == "refusal"
    assert anthropic.read(response | {"stop_reason": "max_tokens"}).stop == "length"


def test_google_request():
    asked = Question((*ASKED.parts, Video(b"mp4", rate_hz=2.0)), system="Be brief.", schema=SCHEMA)
    body = google.body(endpoint("google", thinking="low", temperature=0), asked, in_base64)
    assert body["contents"] == [
        {
            "role": "user",
            "parts": [
                {"text": "Look:"},
                {"inlineData": {"mimeType": "image/jpeg", "data": JPEG}},
                {"text": "Well?"},
                {
                    "inlineData": {"mimeType": "video/mp4", "data": base64.b64encode(b"mp4").decode()},
                    "videoMetadata": {"fps": 2.0},
                },
            ],
        }
    ]
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["generationConfig"] == {
        "maxOutputTokens": 2048,
        "temperature": 0,
        "thinkingConfig": {"thinkingLevel": "low"},
        "responseMimeType": "application/json",
        "responseSchema": {
            "type": "object",
            "properties": {
                "score": {"type": "integer", "nullable": True, "minimum": 0, "maximum": 5},
                "minimum": {"type": "string", "enum": ["a", "b"]},
                "marks": {"type": "array", "items": {"type": "number"}, "minItems": 2},
            },
            "required": ["score"],
        },
    }
    place = google.url(Endpoint(api="google", model="gemini-4-argon", key_env="K"))
    assert place == "https://generativelanguage.googleapis.com/v1beta/models/gemini-4-argon:generateContent"
    assert google.headers("k") == {"x-goog-api-key": "k"}


def test_google_response():
    response = {
        "candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "4"}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 1000,
            "cachedContentTokenCount": 400,
            "candidatesTokenCount": 30,
            "thoughtsTokenCount": 70,
            "totalTokenCount": 1100,
        },
    }
    usage = Usage(input_uncached=600, input_cache_read=400, output=100, reasoning=70)
    assert google.read(response) == Answer("4", "end", usage)
    assert google.read({"candidates": [{"finishReason": "SAFETY"}]}).stop == "refusal"
    assert google.read({"promptFeedback": {"blockReason": "OTHER"}}).stop == "refusal"
    assert google.read({"candidates": [{"content": {"parts": []}, "finishReason": "MAX_TOKENS"}]}).stop == "length"


@pytest.mark.parametrize("reason", [["end_turn"], {"a": 1}, None, 3])
def test_odd_stops_are_others(reason):
    assert anthropic.read({"content": [{"type": "text", "text": "a"}], "stop_reason": reason}).stop == "other"
    assert google.read({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": reason}]}).stop == "other"


@pytest.mark.parametrize(
    ("wire", "response", "why"),
    [
        (openai, {"choices": [{"message": {"content": ""}, "finish_reason": "error"}]}, "ended it by 'error'"),
        (openai, {"choices": [{"message": {"content": "half"}, "finish_reason": "abort"}]}, "ended it by 'abort'"),
        (openai, {"choices": [{"error": {"code": 502, "message": "Upstream died"}}]}, "502 Upstream died"),
        (google, {"candidates": [{"finishReason": "OTHER"}]}, "OTHER, without a text"),
        (google, {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "MALFORMED_RESPONSE"}]}, "MALFORMED"),
    ],
)
def test_servers_that_say_within_an_answer_that_they_failed(wire, response, why):
    with pytest.raises(ServerFailed, match=why):
        wire.read(response)


def test_what_only_looks_like_a_failure_is_an_answer():
    filtered = {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter", "error": {"message": "m"}}]}
    assert openai.read(filtered).stop == "refusal"
    whole = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "OTHER"}]}
    assert (google.read(whole).text, google.read(whole).stop) == ("a", "other: OTHER")


@pytest.mark.parametrize(
    ("text", "bought"),
    [
        ('{"usage": {"completion_tokens": 5}}', True),
        ('{"usage": {"output_tokens": 5}}', True),
        ('{"usageMetadata": {"thoughtsTokenCount": 5}}', True),
        ('data: {"choices": []}\n\n', True),
        ('{"usage": {"prompt_tokens": 5, "completion_tokens": 0}}', False),
        ('{"usage": [5]}', False),
        ("<html>data: 5</html>", False),
        ("", False),
    ],
)
def test_what_was_bought_in_vain(text, bought):
    assert was_bought(text) is bought


@pytest.mark.parametrize("wire", [openai, anthropic, google])
@pytest.mark.parametrize("response", [{}, {"error": {"message": "x"}}, {"choices": []}, {"choices": [None]}, {"candidates": [3]}])
def test_what_is_no_answer_is_not_read_as_one(wire, response):
    with pytest.raises(Unreadable):
        wire.read(response)


def test_complaints():
    assert openai.complaint({"error": {"message": "m", "type": "t", "code": None}}) == ("t", "m")
    assert openai.complaint({"object": "error", "message": "m", "code": 400}) == ("400", "m")  # vLLM
    assert openai.complaint({"error": "m"}) == ("", "m")
    assert anthropic.complaint({"type": "error", "error": {"type": "t", "message": "m"}}) == ("t", "m")
    assert google.complaint({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "m"}}) == ("INVALID_ARGUMENT", "m")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"base_url": "https://name:secretword@host/v1"}, "no name, password"),
        ({"base_url": "https://host/v1?key=secretword"}, "no name, password"),
        ({"base_url": "host:8000"}, "address"),
        ({"key_env": "sk-secretword"}, "not a key"),
    ],
)
def test_an_endpoint_holds_no_key(told, why):
    with pytest.raises(ValueError, match=why):
        endpoint("openai", **told)


def test_a_video_is_read_where_the_store_has_it(tmp_path):
    """A collected clip may lie in a pack when a model is shown it."""
    made = ItemStore(tmp_path, stage="ingest", salt="s").get_or_make(
        "a", "A_001", "k", lambda draft: draft.file("mp4").write_bytes(b"pictures") and "value"
    )
    assert sum(done.items for _, done in packing.pack(tmp_path, lambda clip_id: "00")) == 1
    assert not made.files["mp4"].exists()
    assert Video.of(made.files["mp4"]).data == b"pictures"
