"""Vectors of length 1."""

from __future__ import annotations

import numpy as np
import torch


def of_length_one(vectors: torch.Tensor | np.ndarray) -> np.ndarray:
    """Rows `(n, dimensions)` scaled to length 1 in float64, returned as float32; a row of zeros becomes the diagonal.

    >>> of_length_one(np.array([[3.0, 4.0], [0.0, 0.0]])).round(4)
    array([[0.6   , 0.8   ],
           [0.7071, 0.7071]], dtype=float32)
    """
    rows = vectors.double().cpu().numpy() if isinstance(vectors, torch.Tensor) else vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    safe = np.where(lengths > 0, rows, 1.0)
    return (safe / np.linalg.norm(safe, axis=1, keepdims=True)).astype(np.float32)


def mean_of(frames: np.ndarray) -> np.ndarray:
    """One vector of length 1 for a video, from its frames' `(frames, dimensions)`: their mean."""
    return of_length_one(frames.astype(np.float64).mean(axis=0, keepdims=True))[0]
