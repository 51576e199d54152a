"""Source `local`: videos that already lie on this machine, named by files, folders and patterns."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.collect.naming import candidate_id_of, category_of, find_videos
from codecap.collect.sources import NotToBeHad, Query
from codecap.config import find
from codecap.records import CATEGORIES, Candidate, Original

KEYS = {"paths", "category", "licence", "whole"}


def load(settings: Mapping[str, Any]) -> Local:
    """Make the source.

    Args:
        settings: `paths`, a list of files, folders (their videos, one level) and patterns (`clips/**/*.mp4`; `~` is the home
            folder), relative to the folder of the run; `category` of all of them (default: by the letter before the first
            underscore of each name); `licence` of all of them; `whole`: whether each becomes one clip as it is (the default), or
            parts of it are chosen.

    Raises:
        ValueError: an unknown key, no paths, or an unknown category.
    """
    unknown = sorted(set(settings) - KEYS)
    if unknown:
        raise ValueError(f"source local: unknown key {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    paths = settings.get("paths") or []
    if isinstance(paths, str) or not paths:
        raise ValueError("source local: `paths` is a list of files, folders and patterns with at least one entry")
    category = settings.get("category")
    if category is not None and category not in CATEGORIES:
        raise ValueError(f"source local: unknown category {category!r}; known are {', '.join(CATEGORIES)}")
    return Local([str(path) for path in paths], category, settings.get("licence") or "", settings.get("whole", True))


class Local:
    site = ""
    per_minute = None

    def __init__(self, paths: list[str], category: str | None, licence: str, whole: bool = True) -> None:
        self._paths = paths
        self._category = category
        self._licence = licence
        self._whole = whole

    def queries(self) -> list[Query]:
        return [Query(asks=False)]

    def video_of(self, candidate: Candidate) -> str:
        return candidate.locator

    def determines(self, candidate: Candidate) -> None:
        """Nothing is kept of what lies here."""

    def discover(self, query: Query = Query()) -> Iterator[Candidate]:  # noqa: ARG002, B008
        """The videos, in the order of the paths and of the names under each; the id is the clip id that the name gives.

        Raises:
            FileNotFoundError: an entry of `paths` fits nothing.
        """
        lying: list[Path] = []
        for entry in self._paths:
            found = places(entry)
            if not found:
                raise FileNotFoundError(f"source local: {entry} is not there, or fits no file; correct `paths` in the config")
            lying += found
        for path in find_videos(lying)[0]:
            yield Candidate(
                candidate_id=candidate_id_of(path, self._whole),
                source="local",
                locator=str(path),
                category=self._category or category_of(path),
                licence=self._licence,
                title=path.stem,
                whole=self._whole,
            )

    def look(self, candidate: Candidate) -> None:
        look_at_file(candidate)

    def fetch(self, candidate: Candidate, folder: Path) -> Original:  # noqa: ARG002
        """Name the file where it lies: nothing is copied into `folder`."""
        from codecap.collect.opening import open_video  # here, so that a plan of the workflow need not load FFmpeg
        from codecap.video import VideoError, file_sha256

        path = Path(candidate.locator)
        try:
            open_video(path).container.close()
        except VideoError as error:
            return Original(candidate=candidate, status="failed", reason=str(error))
        return Original(candidate=candidate, status="ok", path=path, sha256=file_sha256(path), size_bytes=path.stat().st_size)


def look_at_file(candidate: Candidate) -> None:
    """See whether a file of this machine is there still.

    Raises:
        NotToBeHad: it is not.
    """
    if not Path(candidate.locator).is_file():
        raise NotToBeHad("gone", f"{candidate.locator}: no such file")


def places(entry: str) -> list[Path]:
    """A file or folder of exactly this name, else what the pattern fits, by name."""
    path = find(Path(entry).expanduser())
    if path.exists():
        return [path]
    return [Path(found) for found in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207 (it takes absolute patterns)
