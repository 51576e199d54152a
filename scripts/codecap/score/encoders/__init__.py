"""Encoders turn frames into embeddings. A module has `load(settings) -> Encoder`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Encoder(Protocol):
    protocol: str  # name, weights revision, preprocessing
    proxy: bool

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """Preprocess one frame, uint8 RGB `(height, width, 3)`, to the small array that is kept until it is embedded.

        Called while other frames are embedded, in another thread.
        """
        ...

    def embed_frames(self, prepared: list[np.ndarray]) -> np.ndarray:
        """Embed pictures, one by one: float32 `(frames, dimensions)`, rows of length 1."""
        ...

    def embed_video(self, prepared: list[np.ndarray]) -> np.ndarray:
        """Embed the frames as one video: float32 `(dimensions,)`, of length 1."""
        ...
