"""What is counted over the frames of a video: digest, distinct frames, blank frames."""

from __future__ import annotations

import hashlib

import numpy as np

SAMPLED_ROW = 32


class FrameTally:
    """Counts frames one after another; holds 32 bytes of each.

    Attributes:
        digests: a digest of each frame, by which frames are told equal.
        blank_frames: frames of one colour.
    """

    def __init__(self) -> None:
        self.digests: list[bytes] = []
        self.blank_frames = 0
        self._blank = False

    def add(self, rgb: np.ndarray) -> None:
        """Count one frame, uint8 RGB `(height, width, 3)`."""
        self.digests.append(frame_digest(rgb))
        self._blank = is_blank(rgb)
        self.blank_frames += self._blank

    def repeat(self) -> None:
        """Count the frame that was added last once more."""
        self.digests.append(self.digests[-1])
        self.blank_frames += self._blank

    @property
    def sha256(self) -> str:
        """SHA-256 over the SHA-256 of each frame's bytes; empty without frames."""
        return hashlib.sha256(b"".join(self.digests)).hexdigest() if self.digests else ""

    @property
    def unique_ratio(self) -> float | None:
        """Distinct frames / frames, in (0, 1]: 1/n for a frozen video of n frames, None without frames."""
        return len(set(self.digests)) / len(self.digests) if self.digests else None

    @property
    def flags(self) -> list[str]:
        return ["blank"] if self.digests and self.blank_frames == len(self.digests) else []


def frame_digest(rgb: np.ndarray) -> bytes:
    """SHA-256 of a frame's bytes."""
    return hashlib.sha256(np.ascontiguousarray(rgb)).digest()


def is_blank(rgb: np.ndarray) -> bool:
    """All pixels have one colour. Most frames are told by a few of their rows."""
    colour = rgb[0, 0]
    return bool((rgb[::SAMPLED_ROW] == colour).all() and (rgb == colour).all())
