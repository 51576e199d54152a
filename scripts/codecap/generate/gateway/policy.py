"""What is passed on: requests to the configured model for answers of its own, and nothing else.

An agent's clients ask more than that: lists of models, telemetry, updates, a cheaper model for titles. It is refused in a way that
they do not try again. Refused as well is what a provider would do beside answering: tools that run at the provider (web search,
its own containers, remote MCP servers), pictures by address and what lies at the provider would be a way around the sandbox's
walls; answers that are fetched later, and other price tiers, would not be counted right. Fields that are not known are kept back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from codecap.config import laid_over
from codecap.exchange import Endpoint
from codecap.exchange.bodies import TooDeep, lighten
from codecap.exchange.trying import Passed
from codecap.generate.gateway import contents, efforts, fields, values

_VERSION = re.compile(r"^/v1(?:alpha|beta)?(?=/)")
_GOOGLE = re.compile(r"^/models/([^/:]+):(generateContent|streamGenerateContent)$")
_PATHS = {
    "openai": {"/chat/completions": "chat", "/responses": "responses"},
    "anthropic": {"/messages": "messages", "/messages/count_tokens": "count"},
}
_HEADER = re.compile(r"[\x20-\x7e]{1,2000}")
_HEADERS = {"anthropic": ("anthropic-version", "anthropic-beta")}
_OUTPUT_LIMITS = {
    "chat": ("max_completion_tokens", "max_tokens"),
    "responses": ("max_output_tokens",),
    "messages": ("max_tokens",),
    "count": (),
}
MOST_VALUES = 100_000  # in a body: in memory each takes many times its bytes. A conversation of 1000 rounds has some 20,000
LARGEST_OUTPUT = 1 << 20  # tokens; no model writes more


class Refused(Exception):
    """A request that is not passed on.

    Attributes:
        status, code: as an API says it.
        noted: what it was, for the tally.
    """

    def __init__(self, status: int, code: str, message: str, noted: str) -> None:
        super().__init__(message)
        self.status, self.code, self.noted = status, code, noted


@dataclass(frozen=True)
class Allowed:
    """A request that may be passed on.

    Attributes:
        request: as it is sent.
        effort: how much it asks the model to think; None where there is nothing to think about.
        hides_usage: whether the client did not ask for the chunk of a chat's stream that tells its tokens.
    """

    request: Passed
    effort: str | None
    hides_usage: bool


def allowed(endpoint: Endpoint, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Allowed:
    """What a client's request comes to.

    Args:
        target: path and query.
        headers: by lower-case names.
        raw: the body, decompressed.

    Raises:
        Refused: it is not passed on.
    """
    parts = urlsplit(target)
    path = _VERSION.sub("", parts.path)
    noted = f"{method} {parts.path[:80]}"
    google = _GOOGLE.match(path) if endpoint.api == "google" else None
    dialect = "generate" if google else _PATHS.get(endpoint.api, {}).get(path)
    if method != "POST" or dialect is None:
        raise Refused(404, "not_found", f"{noted}: is not served here; only the model's answers are", noted)
    body = _parsed(raw, noted)
    model = unquote(google[1]) if google else body.get("model")
    if model != endpoint.model:
        told = model[:80] if isinstance(model, str) else "no name"
        raise Refused(404, "model_not_found", f"the model {told!r} is not served here, only {endpoint.model!r}", f"model {told}")
    # of a field that only the entry knows, its value alone counts
    body = {name: value for name, value in body.items() if name not in endpoint.extra or fields.is_known(dialect, name)}
    _check(dialect, body)
    streamed = "stream" in google[2] if google else body.get("stream") is True
    body = laid_over(body, endpoint.extra)
    hides_usage = dialect == "chat" and streamed and "stream_options" not in endpoint.extra and not _asks_for_usage(body)
    if hides_usage:
        options = body.get("stream_options")
        body["stream_options"] = (options if isinstance(options, dict) else {}) | {"include_usage": True}
    if google:
        sse = streamed and "sse" in parse_qs(parts.query).get("alt", [])
        path = f"/models/{quote(endpoint.model, safe='')}:{google[2]}{'?alt=sse' if sse else ''}"
    request = Passed(
        dialect=dialect,
        path=path,
        body=_written(body, noted),
        light=_light(body, noted),
        headers={name: headers[name] for name in _HEADERS.get(endpoint.api, ()) if _HEADER.fullmatch(headers.get(name, ""))},
        streamed=streamed,
        most_output_tokens=_most_output(dialect, body),
    )
    return Allowed(request, None if request.free else efforts.seen(dialect, body), hides_usage)


def _parsed(raw: bytes, noted: str) -> dict[str, Any]:
    def no_number(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    if values.more_than(MOST_VALUES, raw):
        raise Refused(413, "too_large", "the request has too many values", f"{noted}: too large")
    try:
        body = json.loads(raw, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_json", "the request's body is not JSON", f"{noted}: no JSON") from error
    if not isinstance(body, dict):
        raise Refused(400, "invalid_json", "the request's body is no JSON object", f"{noted}: no JSON")
    return body


def _written(body: dict[str, Any], noted: str) -> bytes:
    """The body as it is sent: what was checked, and not what another reader might make of the client's bytes."""
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_json", "the request's body is not JSON", f"{noted}: no JSON") from error


def _light(body: dict[str, Any], noted: str):
    try:
        return lighten(body)
    except TooDeep as error:
        raise Refused(400, "invalid_json", str(error), f"{noted}: no JSON") from error


def _check(dialect: str, body: dict[str, Any]) -> None:
    try:
        contents.check(dialect, body)
    except contents.NotAllowed as error:
        raise Refused(400, "not_allowed", str(error), error.noted) from error


def _asks_for_usage(body: dict[str, Any]) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _most_output(dialect: str, body: dict[str, Any]) -> int | None:
    if dialect == "generate":
        config = body.get("generationConfig")
        told = [config.get("maxOutputTokens")] if isinstance(config, dict) else []
    else:
        told = [body.get(name) for name in _OUTPUT_LIMITS[dialect]]
    return next((min(limit, LARGEST_OUTPUT) for limit in told if isinstance(limit, int) and limit > 0), None)
