"""Wire formats: how a question becomes a request's body and a response an answer. Pure functions, no network.

A module has:
    url(endpoint)                       where requests go
    headers(key)                        what carries the key; none without a key
    body(endpoint, question, encode)    the JSON body; `encode(medium)` gives the text that stands for a picture or a video: its
                                        base64 for sending, its digest for the record
    read(response)                      the `Answer` in a response's JSON; raises Unreadable, ServerFailed
    usage(told)                         the tokens in a response's count of them
    complaint(response)                 (code, message) of an error's JSON; ("", "") when there is none
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from codecap.exchange.failures import Unreadable
from codecap.exchange.question import Endpoint, Picture, Stop, Video
from codecap.records import writable

Encode = Callable[[Picture | Video], str]

LONGEST_STOP = 60  # characters of a server's own word
OUTPUT_COUNTS = (  # where the APIs say how many tokens a model has written
    ("usage", "completion_tokens"),
    ("usage", "output_tokens"),
    ("usageMetadata", "candidatesTokenCount"),
    ("usageMetadata", "thoughtsTokenCount"),
)
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # or one of two that make a whole one
_STREAM = re.compile(r"\s*(data|event):")


def speaking(api: str) -> ModuleType:
    """The module that speaks an API."""
    from codecap.exchange.wire import anthropic, google, openai  # here: they need this module

    return {"openai": openai, "anthropic": anthropic, "google": google}[api]


def in_base64(medium: Picture | Video) -> str:
    return base64.b64encode(medium.data).decode("ascii")


def by_digest(medium: Picture | Video) -> str:
    return f"sha256:{medium.sha256}"


def request_digest(endpoint: Endpoint, recorded: dict[str, Any], nonce: int) -> str:
    """Digest of a request: API, model, how we serve it where we do, the body with media by their digests, and the nonce. Host,
    key and timeouts are no part.

    Returns:
        64 hexadecimal digits.
    """
    told = {"api": endpoint.api, "model": endpoint.model, "body": recorded, "nonce": nonce}
    if endpoint.served is not None:
        told["served"] = endpoint.served
    canonical = json.dumps(told, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def parsed(text: str) -> dict[str, Any]:
    """A response's JSON object, as it can be written: halves of characters replaced, and null for what is no finite number.

    Raises:
        Unreadable: it is none.
    """
    try:
        told = json.loads(text, parse_float=_finite, parse_constant=lambda _: None)
        if _HALF_CHARACTER.search(text):
            told = json.loads(json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise Unreadable("the response is not JSON") from error
    if not isinstance(told, dict):
        raise Unreadable("the response is not a JSON object")
    return told


def _finite(told: str) -> float | None:
    value = float(told)
    return value if math.isfinite(value) else None


def was_bought(text: str) -> bool:
    """Whether a response with status 200 that is no answer is one all the same, in another form: it counts tokens that a model
    has written, or is a stream."""
    if _STREAM.match(text):
        return True
    try:
        told = parsed(text)
    except Unreadable:
        return False
    return any(count(told, *names) for names in OUTPUT_COUNTS)


def stop_of(told: Any, known: Mapping[str, Stop]) -> Stop | str:
    """How an answer has ended, by what the server says; anything may stand there.

    >>> stop_of("stop", {"stop": "end"}), stop_of("eos", {}), stop_of(None, {}), stop_of(["stop"], {"stop": "end"})
    ('end', 'other: eos', 'other', 'other')
    """
    if not isinstance(told, str) or not told.strip():
        return "other"
    return known.get(told) or f"other: {writable(' '.join(told.split())[:LONGEST_STOP])}"


def count(told: Any, *names: str) -> int:
    """A number of tokens at a path of a response; 0 where it is missing, null or no number."""
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    return max(told, 0) if isinstance(told, int) and not isinstance(told, bool) else 0
