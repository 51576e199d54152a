"""OpenAI's chat completions, as many servers speak it (vLLM too, which also takes `video_url`)."""

from __future__ import annotations

from typing import Any

from codecap.config import laid_over
from codecap.exchange.failures import ServerFailed, Unreadable
from codecap.exchange.question import Answer, Endpoint, Part, Picture, Question, Stop, Text
from codecap.exchange.wire import Encode, count, stop_of
from codecap.records import Usage

STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "end",
    "length": "length",
    "content_filter": "refusal",
    "sensitive": "refusal",  # Zhipu's
}
FAILED = ("error", "abort")  # words for an end by which a server says that it failed: OpenRouter, vLLM, SGLang


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.address}/chat/completions"


def headers(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def body(endpoint: Endpoint, question: Question, encode: Encode) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": question.system}] if question.system else []
    messages.append({"role": "user", "content": [_part(part, encode) for part in question.parts]})
    told: dict[str, Any] = {
        "model": endpoint.model,
        "messages": messages,
        endpoint.output_limit: question.most_output_tokens,
    }
    if endpoint.temperature is not None:
        told["temperature"] = endpoint.temperature
    if endpoint.thinking is not None:
        told["reasoning_effort"] = "none" if endpoint.thinking == "off" else endpoint.thinking
    if question.schema is not None and endpoint.structured:
        named = {"name": "answer", "strict": True, "schema": question.schema}
        told["response_format"] = {"type": "json_schema", "json_schema": named}
    return laid_over(told, endpoint.extra)


def _part(part: Part, encode: Encode) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    kind = "image_url" if isinstance(part, Picture) else "video_url"
    return {"type": kind, kind: {"url": f"data:{part.media_type};base64,{encode(part)}"}}


def read(response: dict[str, Any]) -> Answer:
    try:
        choice = response["choices"][0]
        if (failed := failure(choice)) is not None:
            raise ServerFailed(" ".join(filter(None, failed)))
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise Unreadable("the response has no choices[0].message") from error
    if isinstance(content, list):  # some servers give parts
        told = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "".join(text for text in told if isinstance(text, str))
    stop = "refusal" if refusal else stop_of(choice.get("finish_reason"), STOPS)
    return Answer(text=content if isinstance(content, str) else "", stop=stop, usage=usage(response.get("usage")))


def failure(choice: dict[str, Any]) -> tuple[str, str] | None:
    """Code and message where a server says in a choice that it failed; None where it does not."""
    stop = choice.get("finish_reason")
    stop = stop if isinstance(stop, str) else ""
    if stop not in FAILED and (not choice.get("error") or STOPS.get(stop) == "refusal"):
        return None
    code, message = complaint(choice) if choice.get("error") else ("", "")
    return code, message or f"the server ended it by {stop!r}"


def usage(told: Any) -> Usage:
    """`prompt_tokens` includes what was read from the cache or written to it, `completion_tokens` includes reasoning."""
    read_from_cache = count(told, "prompt_tokens_details", "cached_tokens")
    written = count(told, "prompt_tokens_details", "cache_write_tokens")
    return Usage(
        input_uncached=max(count(told, "prompt_tokens") - read_from_cache - written, 0),
        input_cache_read=read_from_cache,
        input_cache_write=written,
        output=count(told, "completion_tokens"),
        reasoning=count(told, "completion_tokens_details", "reasoning_tokens"),
    )


def complaint(response: dict[str, Any]) -> tuple[str, str]:
    told = response.get("error", response)
    if isinstance(told, str):
        return "", told
    if not isinstance(told, dict):
        return "", ""
    return str(told.get("code") or told.get("type") or ""), str(told.get("message") or "")
