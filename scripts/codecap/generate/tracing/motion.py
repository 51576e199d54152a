"""Motion as few straight, even pieces: the fewest key positions between which a track is interpolated."""

from __future__ import annotations

import numpy as np

TOLERANCE_PX = 0.6


def key_positions(track: np.ndarray, tolerance_px: float = TOLERANCE_PX) -> list[int]:
    """Indices of a track's key positions: linear interpolation between them stays near every position.

    Douglas and Peucker's line simplification (1973), with the distance measured at equal times, not along the path.

    Args:
        track: float `(frames, 2)`, position at each frame.
        tolerance_px: largest distance in x or y between the track and the interpolation.

    Returns:
        Ascending indices, the first and the last among them; only the first where the track stands still.

    >>> key_positions(np.array([[0, 0], [2, 1], [4, 2], [6, 3], [6, 3], [6, 3]]))
    [0, 3, 5]
    """
    track = np.asarray(track, float)
    if np.abs(track - track[0]).max() <= tolerance_px / 2:
        return [0]
    keys = {0, len(track) - 1}
    open_spans = [(0, len(track) - 1)]
    while open_spans:
        first, last = open_spans.pop()
        if last - first < 2:
            continue
        share = np.linspace(0.0, 1.0, last - first + 1)[:, None]
        line = track[first] + share * (track[last] - track[first])
        apart = np.abs(track[first : last + 1] - line).max(axis=1)
        if apart.max() > tolerance_px:
            worst = first + int(apart.argmax())
            keys.add(worst)
            open_spans += [(first, worst), (worst, last)]
    return sorted(keys)
