"""Source `local`: videos that already lie on this machine, named by files, folders and patterns."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap.collect.naming import category_of, clip_id_of, find_videos
from codecap.config import find
from codecap.records import CATEGORIES, Candidate, Original

KEYS = {"paths", "category", "licence"}


def load(settings: Mapping[str, Any]) -> Local:
    """Make the source.

    Args:
        settings: `paths`, a list of files, folders (their videos, one level) and patterns (`clips/**/*.mp4`; `~` is the home
            folder), relative to the folder of the run; `category` of all of them (default: by the letter before the first
            underscore of each name); `licence` of all of them.

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
    return Local([str(path) for path in paths], category, settings.get("licence") or "")


class Local:
    def __init__(self, paths: list[str], category: str | None, licence: str) -> None:
        self._paths = paths
        self._category = category
        self._licence = licence

    def discover(self) -> Iterator[Candidate]:
        """The videos, in the order of the paths and of the names under each; the id is the clip id that the name gives.

        Raises:
            FileNotFoundError: an entry of `paths` fits nothing.
        """
        places: list[Path] = []
        for entry in self._paths:
            found = _places(entry)
            if not found:
                raise FileNotFoundError(f"source local: {entry} is not there, or fits no file; correct `paths` in the config")
            places += found
        for path in find_videos(places)[0]:
            yield Candidate(
                candidate_id=clip_id_of(path),
                source="local",
                locator=str(path),
                category=self._category or category_of(path),
                licence=self._licence,
                title=path.stem,
            )

    def fetch(self, candidate: Candidate, folder: Path) -> Original:  # noqa: ARG002
        """Name the file where it lies: nothing is copied into `folder`."""
        from codecap.collect.shown import open_video  # here, so that a plan of the workflow need not load FFmpeg
        from codecap.video import VideoError, file_sha256

        path = Path(candidate.locator)
        try:
            open_video(path).container.close()
        except VideoError as error:
            return Original(candidate=candidate, status="failed", reason=str(error))
        return Original(candidate=candidate, status="ok", path=path, sha256=file_sha256(path))


def _places(entry: str) -> list[Path]:
    """A file or folder of exactly this name, else what the pattern fits, by name."""
    path = find(Path(entry).expanduser())
    if path.exists():
        return [path]
    return [Path(found) for found in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207 (it takes absolute patterns)
