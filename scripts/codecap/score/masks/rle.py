"""Masks as text: COCO's compressed run-length encoding, as pycocotools reads and writes it, and the box of a mask.

A mask is read down its columns, the leftmost first; `counts` are lengths of runs of 0, 1, 0, ... in turn (the first may be 0).
As text each count is a variable-length integer in groups of five bits, the low ones first: bit 5 of a character says that another
group follows, bit 4 of the last group is the sign, and 48 is added. From the fourth count on the difference to the count two
before is written instead. Source: `rleToString` in cocoapi's common/maskApi.c.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from codecap.records import Box


def box_of(mask: np.ndarray) -> Box | None:
    """The smallest box that holds all of a mask, bool `(height, width)`: xyxy, x1 and y1 exclusive; None for an empty mask.

    >>> box_of(np.array([[0, 0, 0], [0, 1, 1]], bool))
    (1.0, 1.0, 3.0, 2.0)
    """
    columns = np.flatnonzero(mask.any(axis=0))
    if not columns.size:
        return None
    rows = np.flatnonzero(mask.any(axis=1))
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def counts_of(mask: np.ndarray) -> list[int]:
    """Lengths of the runs of a mask, bool `(height, width)`, of 0 and 1 in turn.

    >>> counts_of(np.array([[0, 1], [1, 1]], bool))
    [1, 3]
    """
    height, width = mask.shape
    columns = np.flatnonzero(mask.any(axis=0))
    if not columns.size:
        return [height * width]
    first, stop = int(columns[0]), int(columns[-1]) + 1  # only the columns that hold something are copied
    flat = np.zeros(height * (stop - first) + 2, bool)
    flat[1:-1] = mask[:, first:stop].T.ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + height * first
    edges = [0, *edges.tolist(), height * width]
    counts = [end - start for start, end in pairwise(edges)]
    return counts if counts[-1] else counts[:-1]


def encode(mask: np.ndarray) -> str:
    """A mask, bool `(height, width)`, as COCO's compressed text (the `counts` of a pycocotools RLE).

    >>> encode(np.array([[0, 1], [1, 1]], bool))
    '13'
    """
    counts = counts_of(mask)
    signs: list[str] = []
    for place, count in enumerate(counts):
        left = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            group = left & 0x1F
            left >>= 5
            more = left != (-1 if group & 0x10 else 0)
            signs.append(chr(group + (0x20 if more else 0) + 48))
    return "".join(signs)


def decode(text: str, height_px: int, width_px: int) -> np.ndarray:
    """The mask that `encode` was given, bool `(height, width)`.

    Raises:
        ValueError: the text is no mask of this size.

    >>> decode("13", 2, 2).astype(int).tolist()
    [[0, 1], [1, 1]]
    """
    counts: list[int] = []
    value = shift = 0
    for sign in text:
        group = ord(sign) - 48
        if not 0 <= group < 64:
            raise ValueError(f"no run-length text: {sign!r} in it")
        value |= (group & 0x1F) << shift
        shift += 5
        if not group & 0x20:
            if group & 0x10:
                value -= 1 << shift
            counts.append(value + counts[-2] if len(counts) > 2 else value)
            value = shift = 0
    if shift or min(counts, default=0) < 0 or sum(counts) != height_px * width_px:
        raise ValueError(f"no run-length text of a mask of {width_px}x{height_px}")
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    return flat.reshape(width_px, height_px).T
