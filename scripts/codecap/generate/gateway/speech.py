"""Errors as each API says them, so that an agent's client understands them as it would the provider's own."""

from __future__ import annotations

import json

_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_GOOGLE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def error(api: str, status: int, code: str, message: str) -> bytes:
    """The body of an error.

    Args:
        code: ours, where the API has room for one.
    """
    if api == "anthropic":
        told = {"type": "error", "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": message}}
    elif api == "google":
        told = {"error": {"code": status, "message": message, "status": _GOOGLE.get(status, "INTERNAL")}}
    else:
        kind = "invalid_request_error" if status < 500 else "server_error"
        told = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return json.dumps(told).encode()
