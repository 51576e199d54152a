"""Labelled clips to train and to test the filter on: drawn specimens, and files in folders `keep` and `drop`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codecap.errors import UserError
from codecap.filtering.features import measure, measure_pictures
from codecap.filtering.specimens import FRAMES, Drawer, pictures, seed_of
from codecap.filtering.training import Labelled

if TYPE_CHECKING:
    from codecap.collect.ingest import IngestSettings

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


def read_folder(folder: Path, settings: IngestSettings | None = None) -> Iterator[Labelled]:
    """Bring the videos in `folder/keep` and `folder/drop` to the canonical clock, and measure them; each is a family.

    Raises:
        UserError: a folder is missing or holds no video, or a video cannot be read.
    """
    from codecap.collect.ingest import ingest_file
    from codecap.collect.naming import find_videos

    for label in LABELS:
        if not (folder / label).is_dir():
            raise UserError(f"{folder / label}: no such folder; labelled videos lie in {folder / 'keep'} and {folder / 'drop'}")
        videos, _ = find_videos([folder / label])
        if not videos:
            raise UserError(f"{folder / label}: no videos in it")
        with tempfile.TemporaryDirectory(prefix="codecap-filter-") as scratch:
            for video in videos:
                canonical = Path(scratch) / "clip.mp4"
                ingest_file(video, canonical, settings=settings)
                yield Labelled(f"{label}/{video.name}", f"{label}/{video.name}", label == "keep", measure(canonical))
