"""What a file's name says: the id of its clip, its category, and whether it is a video at all."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from codecap.collect.animated import MAY_BE_ANIMATED, is_animated
from codecap.records import CATEGORIES

VIDEO_SUFFIXES = frozenset(
    [".3gp", ".apng", ".avi", ".flv", ".gif", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg",
     ".mts", ".mxf", ".ogv", ".ts", ".vob", ".webm", ".wmv", ".y4m"]
)  # fmt: skip
LONGEST_ID = 80
LONGEST_CANDIDATE = LONGEST_ID - 8  # of which parts are chosen: `_f` and six digits follow


def clip_id_of(path: Path) -> str:
    """The id that a file's clip gets: the stem of its name, with what an id cannot hold replaced by `-`.

    The same name always gives the same id, whatever lies beside it. Where the stem loses letters that are not Latin, or is too
    long, eight digits of its digest keep different names apart.

    >>> clip_id_of(Path("videos/A_my clip (2).mp4")), clip_id_of(Path("Überblick.webm"))
    ('A_my-clip-2', 'Uberblick')
    """
    stem = Path(path).stem
    latin = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", latin).strip("-").lstrip("_-")
    letters = sum(character.isalpha() for character in unicodedata.normalize("NFC", stem))
    lost = letters > sum(character.isalpha() for character in latin)
    if lost or not slug or len(slug) > LONGEST_ID:
        digest = hashlib.sha256(stem.encode()).hexdigest()[:8]
        return f"{slug[: LONGEST_ID - 9].strip('-') or 'clip'}-{digest}"
    return slug


def candidate_id_of(path: Path, whole: bool) -> str:
    """The id of a file as a candidate: that of its clip; one of which parts are chosen leaves room for where each begins.

    >>> candidate_id_of(Path("A_x.mp4"), whole=False), len(candidate_id_of(Path("x" * 80), whole=False))
    ('A_x', 72)
    """
    name = clip_id_of(path)
    if whole or len(name) <= LONGEST_CANDIDATE:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: LONGEST_CANDIDATE - 9].strip('-')}-{digest}"


def category_of(path: Path) -> str:
    """The letter before the first underscore of a file's name where it is a category, else `U` (not yet assigned).

    >>> category_of(Path("B_2048.mp4")), category_of(Path("B2048.mp4")), category_of(Path("N_noise.mp4"))
    ('B', 'U', 'U')
    """
    letter, underscore, _ = Path(path).stem.partition("_")
    return letter if underscore and letter in CATEGORIES else "U"


def find_videos(places: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Sort files and folders into videos and what is none.

    Args:
        places: files, and folders whose files are taken in the order of their names (their sub-folders are not entered).

    Returns:
        The videos by their names' endings, in order, each once (a WebP or AVIF is one where it is animated); and the files that
        were named but are none. Of a folder's files only the videos are spoken of. A place that does not exist counts as a
        video: opening it gives the message.
    """
    videos: dict[Path, None] = {}
    others: dict[Path, None] = {}
    for place in map(Path, places):
        if place.is_dir():
            inside = sorted(file for file in place.iterdir() if _ends_like_video(file) and file.is_file())
            videos.update(dict.fromkeys(file for file in inside if not file.name.startswith(".")))
        elif _ends_like_video(place) or not place.exists():
            videos[place] = None
        else:
            others[place] = None
    return list(videos), list(others)


def _ends_like_video(path: Path) -> bool:
    suffix = path.suffix.lower()
    return suffix in VIDEO_SUFFIXES or (suffix in MAY_BE_ANIMATED and is_animated(path))
