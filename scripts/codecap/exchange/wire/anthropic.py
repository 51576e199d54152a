"""Anthropic's messages. A structured answer is asked for by `output_config.format`; present models refuse a forced tool."""

from __future__ import annotations

from typing import Any

from codecap.config import laid_over
from codecap.exchange.failures import Unreadable
from codecap.exchange.question import Answer, Endpoint, Part, Question, Stop, Text, Video
from codecap.exchange.wire import Encode, count, stop_of
from codecap.records import Usage

VERSION = "2023-06-01"
STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "sensitive": "refusal",  # Zhipu's
}
NOT_IN_SCHEMAS = {  # keywords that the API refuses; the answer is checked by who asked
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
}


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.address}/messages"


def headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


def body(endpoint: Endpoint, question: Question, encode: Encode) -> dict[str, Any]:
    told: dict[str, Any] = {
        "model": endpoint.model,
        "max_tokens": question.most_output_tokens,
        "messages": [{"role": "user", "content": [_part(part, encode) for part in question.parts]}],
    }
    if question.system:
        told["system"] = question.system
    if endpoint.temperature is not None:
        told["temperature"] = endpoint.temperature
    output: dict[str, Any] = {}
    if endpoint.thinking == "off":
        told["thinking"] = {"type": "disabled"}
    elif endpoint.thinking is not None and endpoint.thinking.isdigit():
        told["thinking"] = {"type": "enabled", "budget_tokens": int(endpoint.thinking)}
    elif endpoint.thinking is not None:
        told["thinking"] = {"type": "adaptive"}
        output["effort"] = endpoint.thinking
    if question.schema is not None and endpoint.structured:
        output["format"] = {"type": "json_schema", "schema": _schema(question.schema)}
    if output:
        told["output_config"] = output
    return laid_over(told, endpoint.extra)


def _part(part: Part, encode: Encode) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Video):
        raise TypeError("Anthropic's API takes no videos: give it pictures")
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": encode(part)}}


def _schema(told: Any) -> Any:
    """A schema without the keywords that the API refuses. Names of properties are names, whatever they are."""
    if isinstance(told, list):
        return [_schema(item) for item in told]
    if not isinstance(told, dict):
        return told
    return {
        key: {name: _schema(value) for name, value in item.items()} if key in ("properties", "$defs") else _schema(item)
        for key, item in told.items()
        if key not in NOT_IN_SCHEMAS
    }


def read(response: dict[str, Any]) -> Answer:
    blocks = response.get("content")
    if not isinstance(blocks, list) or "stop_reason" not in response:
        raise Unreadable("the response has no content and stop_reason")
    told = [block for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    text = "".join(block["text"] for block in told if isinstance(block.get("text"), str))
    return Answer(text=text, stop=stop_of(response["stop_reason"], STOPS), usage=usage(response.get("usage")))


def usage(told: Any) -> Usage:
    """What the cache gave or took is not among `input_tokens`."""
    return Usage(
        input_uncached=count(told, "input_tokens"),
        input_cache_read=count(told, "cache_read_input_tokens"),
        input_cache_write=count(told, "cache_creation_input_tokens"),
        output=count(told, "output_tokens"),
        reasoning=count(told, "output_tokens_details", "thinking_tokens"),
    )


def complaint(response: dict[str, Any]) -> tuple[str, str]:
    error = response.get("error")
    if not isinstance(error, dict):
        return "", ""
    return str(error.get("type") or ""), str(error.get("message") or "")
