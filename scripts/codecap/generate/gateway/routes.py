"""Routes beside the model's API: what the host does for an agent when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Response:
    """An answer to a request on an extra route.

    Attributes:
        body: the bytes; a JSON text is encoded by who gives it.
    """

    body: bytes
    content_type: str = "application/json"
    status: int = 200


Route = Callable[[bytes], Response]  # gets the request's body; called by several threads at once
