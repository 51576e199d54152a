"""Labelled clips to train and to test the filter on: drawn specimens, and files in folders `keep` and `drop`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from codecap.errors import UserError
from codecap.filtering.features import measure, measure_pictures
from codecap.filtering.specimens import FRAMES, Drawer, pictures, seed_of
from codecap.filtering.training import Labelled

LABELS = ("keep", "drop")


def drawn(drawers: Mapping[str, Mapping[str, Drawer]], variants: int) -> Iterator[Labelled]:
    """Draw specimens, `variants` of each drawer, and measure them; a drawer is a family.

    Args:
        drawers: by label and name, as `codecap.filtering.specimens.drawers` gives them.
    """
    for label in LABELS:
        for name, drawer in drawers[label].items():
            for variant in range(variants):
                features = measure_pictures(pictures(drawer, seed_of(name, variant)), FRAMES)
                yield Labelled(f"{name}_{variant}", name, label == "keep", features)


def read_folder(folder: Path) -> Iterator[Labelled]:
    """Bring the videos in `folder/keep` and `folder/drop` to the canonical clock, and measure them; each is a family.

    Raises:
        UserError: a folder is missing or holds no video, or a video cannot be read.
    """
    for label in LABELS:
        if not (folder / label).is_dir():
            raise UserError(f"{folder / label}: no such folder; labelled videos lie in {folder / 'keep'} and {folder / 'drop'}")
        for name, features in measured([folder / label]):
            yield Labelled(f"{label}/{name}", f"{label}/{name}", label == "keep", features)


def measured(files: list[Path], passed_over: Callable[[Path], None] = lambda _: None) -> Iterator[tuple[str, dict[str, float]]]:
    """Name and features of videos of any kind, or of all in folders.

    Args:
        passed_over: is told the files that do not end like a video.

    Raises:
        UserError: there is none, or one cannot be read.
    """
    from codecap.collect.ingest import ingest_file
    from codecap.collect.naming import find_videos

    videos, others = find_videos(files)
    for path in others:
        passed_over(path)
    if not videos:
        raise UserError(f"no videos in {', '.join(map(str, files))}")
    with tempfile.TemporaryDirectory(prefix="codecap-filter-") as folder:
        for video in videos:
            canonical = Path(folder) / "clip.mp4"
            ingest_file(video, canonical)
            yield video.name, measure(canonical)
            canonical.unlink()
