"""The review server's process: it listens on this machine alone, says under which address, and ends on Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn

from codecap.errors import UserError
from codecap.review.access import Gate
from codecap.review.app import make_app
from codecap.review.desk import Desk
from codecap.review.frames import Films

HOST = "127.0.0.1"
END_S = 2  # for answers that are under way when it ends
MOST_AT_ONCE = 128  # requests
LOOK_S = 5.0  # between looks at whether anybody is still there


class ReviewServer(uvicorn.Server):
    """A server whose desk is closed first when it ends, so that nobody who waits for something keeps it."""

    def __init__(self, settings: uvicorn.Config, desk: Desk, films: Films) -> None:
        super().__init__(settings)
        self._desk, self._films = desk, films

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._films.close()
        await asyncio.to_thread(self._desk.close)  # not among the threads that may all be waiting for it
        await super().shutdown(sockets)


@dataclass(frozen=True)
class Ready:
    """A server that listens and does not answer yet."""

    server: ReviewServer
    listening: socket.socket
    gate: Gate

    def run(self) -> None:
        """Answer until it is told to end: by a signal in the main thread, by `server.should_exit` in any."""
        try:
            self.server.run(sockets=[self.listening])
        finally:
            self.listening.close()


def make_ready(desk: Desk, port: int, say: Callable[[str], None]) -> Ready:
    """
    Args:
        port: 0 for any free one.
        say: takes each address that lets a browser in.

    Raises:
        UserError: the port is taken.
    """
    listening = _listen(port)
    port = listening.getsockname()[1]
    gate = Gate(port, lambda token: say(f"http://{HOST}:{port}/?token={token}"))
    films = Films()
    settings = uvicorn.Config(
        make_app(desk, films, gate),
        access_log=False,  # it would show tokens
        log_level=logging.WARNING,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        limit_concurrency=MOST_AT_ONCE,
        timeout_graceful_shutdown=END_S,
    )
    return Ready(ReviewServer(settings, desk, films), listening, gate)


def serve(desk: Desk, port: int, say: Callable[[str], None], idle_s: float) -> None:
    """Answer until Ctrl-C, SIGTERM, or until nobody has asked anything for `idle_s`. The rest as `make_ready`."""
    ready = make_ready(desk, port, say)
    threading.Thread(target=_end_when_alone, args=(ready, idle_s, say), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        ready.run()


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # whoever opens the address as soon as it is printed waits, and is not refused
    except OSError as error:
        listening.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise UserError(
                f"--port {port}: cannot be used ({error.strerror}); choose another one, or 0 for any free one"
            ) from error
        raise
    return listening


def _end_when_alone(ready: Ready, idle_s: float, say: Callable[[str], None]) -> None:
    while not ready.server.should_exit:
        time.sleep(min(LOOK_S, idle_s))
        if time.monotonic() - ready.gate.asked > idle_s:
            say(f"nobody has asked anything for {idle_s / 60:g} minutes: the server ends")
            ready.server.should_exit = True
