"""A label at the end of an MP4 file: whose it is. It makes files of the same frames different, and players skip it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

MARK = b"stand-in "
LONGEST = 400  # bytes of a label


def labelled(mp4: bytes, label: str) -> bytes:
    """The file with a label in a box of the type `free` at its end (ISO/IEC 14496-12, 8.1.2)."""
    told = MARK + label.encode()
    return mp4 + struct.pack(">I4s", 8 + len(told), b"free") + told


def label_of(mp4: Path) -> str:
    """The label that was put last.

    Raises:
        ValueError: the file has none.
    """
    with Path(mp4).open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - LONGEST, 0))
        _, mark, told = file.read().rpartition(MARK)
    if not mark:
        raise ValueError(f"{mp4}: no video of a stand-in")
    return told.decode()
