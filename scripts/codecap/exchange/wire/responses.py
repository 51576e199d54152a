"""OpenAI's responses, which some agents speak. It is passed through; of our own there is only the question of a check."""

from __future__ import annotations

from typing import Any

from codecap.config import laid_over
from codecap.exchange.failures import Unreadable
from codecap.exchange.question import Answer, Endpoint, Part, Question, Text, Video
from codecap.exchange.wire import Encode, count
from codecap.exchange.wire.openai import complaint, headers
from codecap.records import Usage

__all__ = ["body", "complaint", "headers", "objects", "read", "refused", "url", "usage"]


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.address}/responses"


def body(endpoint: Endpoint, question: Question, encode: Encode) -> dict[str, Any]:
    content = [_part(part, encode) for part in question.parts]
    told: dict[str, Any] = {
        "model": endpoint.model,
        "input": [{"type": "message", "role": "user", "content": content}],
        "max_output_tokens": question.most_output_tokens,
        "store": False,
    }
    if question.system:
        told["instructions"] = question.system
    if endpoint.thinking is not None:
        told["reasoning"] = {"effort": "none" if endpoint.thinking == "off" else endpoint.thinking}
    return laid_over(told, endpoint.extra)


def _part(part: Part, encode: Encode) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    if isinstance(part, Video):
        raise ValueError("OpenAI's responses take no videos")
    return {"type": "input_image", "image_url": f"data:{part.media_type};base64,{encode(part)}"}


def read(response: dict[str, Any]) -> Answer:
    if not isinstance(response.get("output"), list):
        raise Unreadable("the response has no output")
    parts = [part for item in objects(response["output"]) for part in objects(item.get("content")) if item.get("type") == "message"]
    text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    cut = response.get("status") == "incomplete"
    stop = "refusal" if refused(response) else "length" if cut else "end"
    return Answer(text=text, stop=stop, usage=usage(response.get("usage")))


def refused(response: dict[str, Any]) -> bool:
    """Whether a whole response says that the model, or a filter over its answer, refused."""
    incomplete = response.get("incomplete_details")
    if isinstance(incomplete, dict) and incomplete.get("reason") == "content_filter":
        return True
    return any(part.get("type") == "refusal" for item in objects(response.get("output")) for part in objects(item.get("content")))


def objects(told: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []


def usage(told: Any) -> Usage:
    """`input_tokens` includes what was read from the cache or written to it, `output_tokens` includes reasoning."""
    read_from_cache = count(told, "input_tokens_details", "cached_tokens")
    written = count(told, "input_tokens_details", "cache_write_tokens")
    return Usage(
        input_uncached=max(count(told, "input_tokens") - read_from_cache - written, 0),
        input_cache_read=read_from_cache,
        input_cache_write=written,
        output=count(told, "output_tokens"),
        reasoning=count(told, "output_tokens_details", "reasoning_tokens"),
    )
