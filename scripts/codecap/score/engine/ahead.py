"""The next item is prepared while the present one is worked on: decoding needs a CPU core when computing needs the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ahead(items: Iterable[T], prepare: Callable[[T], R]) -> Iterator[R]:
    """`prepare(item)` of each item, in order, run in one thread that is one item ahead of the caller, and never more.

    An exception of `prepare` is raised when its item's turn has come: what comes before it is not lost.

    >>> list(ahead([1, 2, 3], lambda number: number * number))
    [1, 4, 9]
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as thread:
        present: Future[R] | None = None
        for item in items:
            coming = thread.submit(prepare, item)
            if present is not None:
                yield present.result()
            present = coming
        if present is not None:
            yield present.result()
