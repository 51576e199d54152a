"""A process beside the server that computes one thing after another, so that the server goes on answering."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from codecap.errors import UserError

END_S = 2.0  # for a process to end when it is asked to

T = TypeVar("T")


class WorkError(UserError):
    """What cannot be computed; the message says why."""


class Worker:
    """A process that is started when it is first needed, and ends with this one, however that ends.

    Args:
        name: of what it does, for messages.
        nice: how much it stands back for others, as nice(2).
    """

    def __init__(self, name: str, nice: int = 0) -> None:
        self._name, self._nice = name, nice
        self._lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._closed = False

    def ask(self, function: Callable[..., T], *arguments: Any, patience_s: float) -> T:
        """Have a function of a module computed; what is asked meanwhile waits.

        Raises:
            WorkError: it takes longer than `patience_s`, its process ended, or it raised a UserError, whose message this is.
            RuntimeError: it raised any other error.
        """
        with self._lock:
            pipe = self._started()
            try:
                pipe.send((function, arguments))
                if not pipe.poll(patience_s):
                    self._end()
                    raise WorkError(f"{self._name}: not done in {patience_s:g} s, and given up")
                kind, told = pipe.recv()
            except (EOFError, OSError) as error:
                self._end()
                raise WorkError(f"{self._name}: its process ended in the middle; there may be too little memory") from error
        if kind == "done":
            return told
        if kind == "user":
            raise WorkError(told)
        raise RuntimeError(f"{self._name} failed:\n{told}")

    def close(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        self._end()

    def _started(self) -> Connection:
        if self._closed:
            raise WorkError(f"{self._name}: the server is ending")
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            context = multiprocessing.get_context("spawn")  # threads run here: a fork could inherit a lock that is held
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._nice), name=self._name, daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.is_alive():
            process.terminate()
            process.join(END_S)
            if process.is_alive():
                process.kill()


def _serve(pipe: Connection, nice: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches it too; the server ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(nice)
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments = pipe.recv()
            pipe.send(_answer(function, arguments))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", function(*arguments)
    except UserError as error:
        return "user", str(error)
    except Exception:
        return "error", traceback.format_exc()
