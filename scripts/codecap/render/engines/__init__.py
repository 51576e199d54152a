"""Engines draw a page at given times. A module has `load(settings: RenderSettings) -> Engine`, a context manager."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np


class Engine(Protocol):
    version: str  # engine, browser and flags: part of the protocol

    def __enter__(self) -> Engine: ...

    def __exit__(self, *why: object) -> None: ...

    def open(self, page: Path, width_px: int, height_px: int) -> Stage:
        """A fresh, isolated browser for a page, which is loaded by the stage's `load`.

        Raises:
            InfraError: the page's file cannot be read, or the browser does not start.
        """
        ...


class Stage(Protocol):
    """One open page. `limit_s` of the settings runs from `open` on."""

    console_errors: list[str]  # bounded in number and length, as is the next
    requests_blocked: list[str]
    flags: list[str]  # what is to be known about how this page was opened: "sandbox_off"

    def load(self) -> None:
        """Load the page and wait for its `window.seek`. Once, before the first frame.

        Raises:
            PageFailure: script error, no `window.seek`, load limit passed, or the browser died of it.
        """
        ...

    def frame(self, index: int) -> np.ndarray:
        """The page after `await window.seek(index / 24)`: uint8 RGB `(height, width, 3)`, not to be written to.

        Raises:
            PageFailure: with the frame; the stage cannot be used any more afterwards.
        """
        ...

    def close(self) -> None:
        """End the browser and all its processes, whatever the page did. May be called twice."""
        ...
