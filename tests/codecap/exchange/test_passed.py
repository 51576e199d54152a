"""What passed-through answers say of themselves: responses in the shapes that the providers document."""
# ruff: noqa: E501 (streams as they are sent)

import base64
import io

import pytest
from PIL import Image

from codecap.exchange import Endpoint, tokens
from codecap.exchange.bodies import TooDeep, lighten
from codecap.exchange.failures import Unreadable
from codecap.exchange.wire import events, passed
from codecap.records import Usage

MESSAGES = """event: message_start
data: {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": null, "usage": {"input_tokens": 25, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 40, "output_tokens": 1}}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "message_stop"}}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 15, "input_tokens": null}}

event: message_stop
data: {"type": "message_stop"}

"""
RESPONSES = """event: response.created
data: {"type": "response.created", "response": {"status": "in_progress", "usage": null}}

event: response.output_text.delta
data: {"type": "response.output_text.delta", "delta": "Hi"}

event: response.incomplete
data: {"type": "response.incomplete", "response": {"status": "incomplete", "usage": {"input_tokens": 328, "input_tokens_details": {"cached_tokens": 128}, "output_tokens": 52, "output_tokens_details": {"reasoning_tokens": 12}, "total_tokens": 380}}}

"""
CHAT = """data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}], "usage": null}

data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": null}

data: {"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 19, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}}}

data: [DONE]

"""
GENERATE = """data: {"candidates": [{"content": {"parts": [{"text": "A"}], "role": "model"}}], "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}}

data: {"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 20, "thoughtsTokenCount": 5, "cachedContentTokenCount": 3}}

"""
STREAMS = {
    "messages": (MESSAGES, Usage(input_uncached=25, input_cache_read=300, input_cache_write=40, output=15)),
    "responses": (RESPONSES, Usage(input_uncached=200, input_cache_read=128, output=52, reasoning=12)),
    "chat": (CHAT, Usage(input_uncached=15, input_cache_read=4, output=10, reasoning=2)),
    "generate": (GENERATE, Usage(input_uncached=4, input_cache_read=3, output=25, reasoning=5)),
}


@pytest.mark.parametrize("dialect", STREAMS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_whole_stream_tells_its_tokens(dialect, line_end):
    text, usage = STREAMS[dialect]
    assert passed.heard(dialect, True, text.replace("\n", line_end)).usage == usage


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_stream_that_is_cut_anywhere_before_its_last_event_is_not_whole(dialect):
    text, _ = STREAMS[dialect]
    starts = [position for position in range(len(text)) if text.startswith(("data:", "event:"), position)]
    last = max(position for position in starts if text.startswith("data:", position) and "[DONE]" not in text[position:][:14])
    if dialect == "chat":
        last = text.index('data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}')
    for cut in range(0, last, 7):
        with pytest.raises(Unreadable):
            passed.heard(dialect, True, text[:cut])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_events_are_the_same_however_they_come(size, line_end):
    stream = MESSAGES.encode().replace(b"\n", line_end)
    cutter = events.Cutter()
    found = [event for start in range(0, len(stream), size) for event in cutter.feed(stream[start : start + size])]
    assert (len(found), cutter.rest(), b"".join(found)) == (5, b"", stream)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("messages", 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'),
        ("responses", 'data: {"type": "response.failed", "response": {"error": {"code": "overloaded_error", "message": "m"}}}\n\n'),
        ("responses", 'data: {"type": "error", "code": "overloaded_error", "message": "m"}\n\n'),
        ("chat", 'data: {"error": {"code": "overloaded_error", "message": "m"}}\n\n'),
        ("generate", 'data: {"error": {"code": 503, "status": "overloaded_error", "message": "m"}}\n\n'),
    ],
)
def test_errors_within_streams(dialect, text):
    with pytest.raises(passed.SaidError) as caught:
        passed.heard(dialect, True, text)
    assert caught.value.code == "overloaded_error"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("messages", '{"type": "message_delta", "delta": {"stop_reason": "refusal"}}|{"type": "message_stop"}'),
        ("chat", '{"choices": [{"delta": {}, "finish_reason": "content_filter"}]}'),
        ("chat", '{"choices": [{"delta": {"refusal": "I cannot."}}]}|{"choices": [{"delta": {}, "finish_reason": "stop"}]}'),
        ("responses", '{"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}'),
        (
            "responses",
            '{"type": "response.completed", "response": {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No"}]}]}}',
        ),
        ("responses", '{"type": "response.refusal.delta", "delta": "I"}|{"type": "response.completed", "response": {}}'),
        ("generate", '{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}'),
        ("generate", '{"promptFeedback": {"blockReason": "SAFETY"}}'),
    ],
)
def test_a_refusal_within_an_answer_is_heard(dialect, text):
    stream = "".join(f"data: {event}\n\n" for event in text.split("|"))
    assert passed.heard(dialect, True, stream).refused
    assert not any(passed.heard(name, True, told).refused for name, (told, _) in STREAMS.items())


def test_a_refusal_of_a_whole_answer_is_heard():
    filtered = '{"output": [], "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}'
    assert passed.heard("responses", False, filtered).refused
    assert passed.heard("chat", False, '{"choices": [{"message": {"content": null, "refusal": "No."}}]}').refused
    assert not passed.heard("responses", False, '{"output": [7, {"content": 7}], "incomplete_details": 7}').refused


@pytest.mark.parametrize(
    ("dialect", "chunk", "why"),
    [
        ("chat", '{"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "m"}}]}', "502 m"),
        ("chat", '{"choices": [{"delta": {}, "finish_reason": "abort"}]}', "ended it by 'abort'"),
        ("generate", '{"candidates": [{"finishReason": "MALFORMED_RESPONSE"}]}', "ended it by MALFORMED_RESPONSE"),
    ],
)
def test_streams_that_end_by_a_failure(dialect, chunk, why):
    with pytest.raises(passed.SaidError, match=why):
        passed.heard(dialect, True, f"data: {chunk}\n\ndata: [DONE]\n\n")


def test_an_array_is_a_stream_too():
    text = '[{"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9}}\n]\n'
    assert passed.heard("generate", True, text).usage == Usage(input_uncached=9)
    with pytest.raises(Unreadable):
        passed.heard("generate", True, text[:-3])


def test_odd_values_are_no_tokens():
    text = 'data: {"choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": "many", "completion_tokens": -4}}\n\n'
    assert passed.heard("chat", True, text + "data: null\n\ndata: 7\n\ndata: {\n\n").usage == Usage()


def png(width_px: int, height_px: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width_px, height_px)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("api", ["openai", "anthropic", "google"])
def test_a_light_body_weighs_its_pictures_by_the_providers_rules(api):
    endpoint, data = Endpoint(api=api, model="m"), png(640, 360)
    text = base64.b64encode(data).decode()
    part = {
        "openai": {"image_url": {"url": f"data:image/png;base64,{text}"}},
        "anthropic": {"source": {"type": "base64", "media_type": "image/png", "data": text}},
        "google": {"inlineData": {"mimeType": "image/png", "data": text}},
    }[api]
    light = lighten({"parts": [part, part]})
    assert (light.pictures, list(light.apart.values())) == ([(640, 360)] * 2, [data])
    picture = tokens.of_picture(endpoint, 640, 360)
    assert 2 * picture < light.tokens(endpoint) < 2 * picture + 100
    assert text not in str(light.body)


def test_only_what_can_be_had_back_is_kept_apart():
    odd = "QUJD" * 30 + "QR=="  # its last digit holds bits that no byte has
    light = lighten({"data": odd, "text": "x" * 3000, "short": "y"})
    assert light.body["data"] == odd
    assert light.body["short"] == "y"
    assert list(light.apart.values()) == [b"x" * 3000]
    nested = []
    for _ in range(200):
        nested = [nested]
    with pytest.raises(TooDeep):
        lighten(nested)
