"""Files of the report's folder: videos and page sources by hard link (a copy on another file system, or of a pack), and stills."""

from __future__ import annotations

import errno
import os
import re
import shutil
from hashlib import sha256
from pathlib import Path

from PIL import Image

from codecap import store, video
from codecap.compare.comparison import ComparisonError

STILL_WIDTH_PX = 400


def place(source: Path, target: Path) -> None:
    """Put a file of the store into the folder: the same bytes, linked where the file system can, copied where it cannot.

    Raises:
        ComparisonError: the file that a row speaks of is not there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if store.pack_of(source) is not None and store.copy_to(source, target):
        return
    if not store.there(source):
        raise ComparisonError(
            f"{source}: a row of the comparison speaks of this file, but it is not there; run the stage that makes it again"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    store.open_at(source, lambda file: _link(file, target))


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file.resolve(), target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES):
            raise
        shutil.copyfile(file, target)


def still(mp4: Path, frames: int, jpeg: Path) -> None:
    """A small picture of a clip's middle frame."""
    middle = frames // 2
    for _, rgb in video.read_frames(mp4, middle, middle + 1):
        picture = Image.fromarray(rgb)
        height_px = max(round(picture.height * STILL_WIDTH_PX / picture.width), 1)
        jpeg.parent.mkdir(parents=True, exist_ok=True)
        picture.resize((STILL_WIDTH_PX, height_px), Image.Resampling.LANCZOS).save(jpeg, quality=78, optimize=True)
        return
    raise video.VideoError(f"{mp4}: has no frame {middle}, though its clip says {frames} frames")


def file_stem(name: str) -> str:
    """A name as part of a file name: as it is where that is safe, else cleaned and with a digest that keeps it apart.

    >>> file_stem("vtrace"), file_stem("a/b")
    ('vtrace', 'a_b-c14cddc0')
    """
    cleaned = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if cleaned == name and not name.startswith("."):
        return name
    return f"{cleaned.lstrip('.')}-{sha256(name.encode()).hexdigest()[:8]}"
