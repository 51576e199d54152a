"""Engines draw a page at given times. A module has `load(settings: RenderSettings) -> Engine`, a context manager.

A page is served to its browser from a made-up origin: a `file:` address is foreign to it, and nothing else is served.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

from codecap import store
from codecap.render.failures import InfraError


@dataclass(frozen=True, eq=False)
class Picture:
    """A frame as the browser gave it, not decoded yet. The same object again means: nothing has changed."""

    png_base64: str
    width_px: int
    height_px: int

    def rgb(self) -> np.ndarray:
        """uint8 RGB `(height, width, 3)`, not to be written to.

        Raises:
            InfraError: the browser gave no picture of this size.
        """
        import av
        import numpy as np

        decoder = av.CodecContext.create("png", "r")  # a quarter faster than the usual image libraries
        try:
            (frame,) = [*decoder.decode(av.Packet(base64.b64decode(self.png_base64))), *decoder.decode(None)]
        except (av.FFmpegError, ValueError) as error:
            raise InfraError(f"the browser gave what is no PNG: {error}") from error
        if (frame.width, frame.height) != (self.width_px, self.height_px):
            raise InfraError(f"the browser gave {frame.width}x{frame.height} px, asked for {self.width_px}x{self.height_px}")
        plane = frame.planes[0]
        rows = np.frombuffer(plane, np.uint8).reshape(self.height_px, plane.line_size)  # no copy where rows are not padded
        return rows[:, : 3 * self.width_px].reshape(self.height_px, self.width_px, 3)


class Engine(Protocol):
    version: str  # engine, browser and flags: part of the protocol

    def __enter__(self) -> Engine: ...

    def __exit__(self, *why: object) -> None: ...

    def open(self, page: Path, width_px: int, height_px: int) -> Stage:
        """A fresh, isolated browser for a page, which may still be starting when this returns; the stage's `load` loads the page.

        Raises:
            InfraError: the page's file cannot be read, or the browser cannot be started.
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
            InfraError: the browser does not start.
        """
        ...

    def frame(self, index: int) -> Picture:
        """The page after `await window.seek(index / 24)`; the object that was given last where nothing has changed since.

        Raises:
            PageFailure: with the frame; the stage cannot be used any more afterwards.
        """
        ...

    def observed(self) -> list[str]:
        """What the page did so far that pure code does not, as `purity.observed` tells it. Also after a failure.

        Raises:
            PageFailure: a part of the browser has died since the last frame.
        """
        ...

    def close(self) -> None:
        """End the browser and all its processes, whatever the page did. May be called twice."""
        ...


def read_page(page: Path) -> bytes:
    """Bytes of a page's file.

    Raises:
        InfraError: it cannot be read.
    """
    try:
        return store.open_at(Path(page), Path.read_bytes)
    except OSError as error:
        raise InfraError(f"{page}: cannot be read: {error.strerror}") from error
