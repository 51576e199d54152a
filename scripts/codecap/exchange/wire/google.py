"""Google's generateContent."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from codecap.config import laid_over
from codecap.exchange.failures import ServerFailed, Unreadable
from codecap.exchange.question import Answer, Endpoint, Part, Question, Stop, Text, Video
from codecap.exchange.wire import Encode, count, stop_of
from codecap.records import Usage

STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
}
FAILED = ("MALFORMED_RESPONSE",)  # words for an end by which the server says that it failed
FAILED_WITHOUT_TEXT = ("OTHER", "FINISH_REASON_UNSPECIFIED")  # and these, where no text came
IN_SCHEMAS = {  # all that responseSchema knows; anything else is refused
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "nullable",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
}


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.address}/models/{quote(endpoint.model, safe='')}:generateContent"


def headers(key: str | None) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}  # in the address it would be logged on the way


def body(endpoint: Endpoint, question: Question, encode: Encode) -> dict[str, Any]:
    settings: dict[str, Any] = {"maxOutputTokens": question.most_output_tokens}
    if endpoint.temperature is not None:
        settings["temperature"] = endpoint.temperature
    if endpoint.thinking == "off":
        settings["thinkingConfig"] = {"thinkingBudget": 0}
    elif endpoint.thinking is not None and endpoint.thinking.isdigit():
        settings["thinkingConfig"] = {"thinkingBudget": int(endpoint.thinking)}
    elif endpoint.thinking is not None:
        settings["thinkingConfig"] = {"thinkingLevel": endpoint.thinking}
    if question.schema is not None and endpoint.structured:
        settings["responseMimeType"] = "application/json"
        settings["responseSchema"] = _schema(question.schema)
    told: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [_part(part, encode) for part in question.parts]}],
        "generationConfig": settings,
    }
    if question.system:
        told["systemInstruction"] = {"parts": [{"text": question.system}]}
    return laid_over(told, endpoint.extra)


def _part(part: Part, encode: Encode) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"text": part.text}
    told: dict[str, Any] = {"inlineData": {"mimeType": part.media_type, "data": encode(part)}}
    if isinstance(part, Video) and part.rate_hz is not None:
        told["videoMetadata"] = {"fps": part.rate_hz}
    return told


def _schema(told: dict[str, Any]) -> dict[str, Any]:
    """A JSON Schema in the words of responseSchema: "or null" is `nullable` there."""
    kept: dict[str, Any] = {}
    for key, value in told.items():
        if key not in IN_SCHEMAS:
            continue
        if key == "type" and isinstance(value, list):
            kept["type"] = next(kind for kind in value if kind != "null")
            kept["nullable"] = "null" in value
        elif key == "properties":
            kept[key] = {name: _schema(item) for name, item in value.items()}
        elif key == "items":
            kept[key] = _schema(value)
        elif key == "anyOf":
            kept[key] = [_schema(item) for item in value]
        elif key == "enum":
            if all(isinstance(item, str) for item in value):  # it knows no other
                kept[key] = value
        else:
            kept[key] = value
    return kept


def read(response: dict[str, Any]) -> Answer:
    counted = usage(response.get("usageMetadata"))
    feedback = response.get("promptFeedback")
    candidates = response.get("candidates")
    if not candidates:
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            return Answer(text="", stop="refusal", usage=counted)
        raise Unreadable("the response has no candidates")
    try:
        first = candidates[0]
        parts = (first.get("content") or {}).get("parts") or []
        text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str) and not part.get("thought"))
        told = first.get("finishReason")
    except (AttributeError, KeyError, TypeError) as error:
        raise Unreadable("the response's candidate has no content") from error
    stop = stop_of(told, STOPS)
    if told in FAILED or (told in FAILED_WITHOUT_TEXT and not text):
        raise ServerFailed(f"the server ended it by {told}" + ("" if text else ", without a text"))
    return Answer(text=text, stop=stop, usage=counted)


def usage(told: Any) -> Usage:
    """`promptTokenCount` includes what came from the cache; thinking is counted beside the answer and billed as output."""
    from_cache, thinking = count(told, "cachedContentTokenCount"), count(told, "thoughtsTokenCount")
    return Usage(
        input_uncached=max(count(told, "promptTokenCount") - from_cache, 0),
        input_cache_read=from_cache,
        output=count(told, "candidatesTokenCount") + thinking,
        reasoning=thinking,
    )


def complaint(response: dict[str, Any]) -> tuple[str, str]:
    error = response.get("error")
    if not isinstance(error, dict):
        return "", ""
    return str(error.get("status") or ""), str(error.get("message") or "")
