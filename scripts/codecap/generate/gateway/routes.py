"""Routes beside the model's API: what the host does for an agent when it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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


class Abandoned(Exception):
    """Raised by a route: nobody waits for its answer any more, so it gives none."""


Gone = Callable[[], bool]  # whether the client is there no more, or the run is over; cheap, to be asked again and again

# gets the request's body, and `gone`, which it asks while it waits and before it begins what takes long; called by several threads
# at once
Route = Callable[[bytes, Gone], Response]


class Routes:
    """The routes of one run, and how many requests on them are under way.

    Args:
        routes: path -> what answers there.
    """

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = dict(routes)
        self._under_way = 0
        self._closed = False
        self._changed = threading.Condition()

    def __contains__(self, path: str) -> bool:
        return path in self._routes

    def answer(self, path: str, body: bytes, gone: Gone) -> Response:
        """What a route answers.

        Raises:
            Abandoned: the client is gone, or the run is over.
        """
        with self._changed:
            if self._closed or gone():
                raise Abandoned
            self._under_way += 1
        try:
            return self._routes[path](body, lambda: self._closed or gone())
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Begin nothing more, and let what waits know it."""
        self._closed = True

    def wait_over(self, seconds: float) -> bool:
        """Whether all that were under way have come to their end within this time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._under_way == 0, timeout=max(seconds, 0.0))
