"""What every job and command shares: a log, progress in it, and errors told in words."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from codecap import weights
from codecap.errors import UserError
from codecap.store import StoreError, explained

LOG = logging.getLogger("codecap")
EVERY_S = 10.0

T = TypeVar("T")


@contextlib.contextmanager
def running(log: str | Path | None = None, network: bool = False) -> Iterator[None]:
    """Run a job's or a command's work: log to a file, end on an error that the user can cure with one message and status 1.

    A programming error goes through with its traceback. Where the scheduler or a terminal ends it, what it has begun is cleaned up.

    Args:
        network: whether libraries of models may download; only what fetches weights says so.
    """
    if not network:
        weights.work_offline()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if threading.current_thread() is threading.main_thread():
            signal.signal(number, _end)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
        filename=None if log is None else str(log),
        filemode="w",
        force=True,
    )
    try:
        yield
    except Exception as error:
        message = in_words(error)
        if message is None:
            LOG.exception("stopped by a programming error")
            raise
        if log is not None:
            LOG.error(message)
        print(f"codecap: {message}", file=sys.stderr)
        raise SystemExit(1) from None


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def in_words(error: BaseException) -> str | None:
    """One message for an error that a user can cure; None for any other."""
    if isinstance(error, UserError):
        return str(error.args[-1]) if error.args else str(error)
    if isinstance(error, OSError):
        cured = explained(error, Path(os.fsdecode(error.filename)) if error.filename else Path.cwd())
        if isinstance(cured, StoreError):
            return in_words(cured)
        return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else None
    return None


def tell_unfinished(what: str, reasons: Sequence[str]) -> bool:
    """Say on the terminal what failed by our fault and is tried again at the next run; true if anything did."""
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        message = f"{what}: tried again at the next run: {reasons[0]}{more}"
        LOG.error(message)
        print(f"codecap: {message}", file=sys.stderr)
    return bool(reasons)


def counted(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Pass items on and log how many are done, at which rate, and the time left: now and then, and at the end."""
    started = told = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - told >= EVERY_S or done == total:
            rate = done / max(now - started, 1e-9)
            left_s = (total - done) / rate
            LOG.info("%s: %d of %d, %.2f a second, %d s left", what, done, total, rate, left_s)
            told = now
