"""Stretches of frames on which something holds."""

from __future__ import annotations

import numpy as np


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Stretches where a flag, bool `(frames,)`, holds, as (first frame, frame after the last), in order.

    >>> runs(np.array([True, False, True, True]))
    [(0, 1), (2, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(flags).astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
