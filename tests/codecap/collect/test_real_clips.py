"""Ingest on clips of other people: each frame is compared with what OpenCV and Pillow, which share no code with the reader,
find on screen at its time. The folder is named by CODECAP_EXTRA_CLIPS and holds `manifest.tsv` beside the clips."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from codecap.collect.ingest import ingest_file
from codecap.video import read_frames

FOLDER = os.environ.get("CODECAP_EXTRA_CLIPS")
NEAR = 2  # pictures before and after the expected one that it is compared with


def manifest() -> list[dict[str, str]]:
    if not FOLDER:
        return []
    with (Path(FOLDER) / "manifest.tsv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def luma(rgb: np.ndarray, height_px: int) -> np.ndarray:
    """The Y of an RGB picture, uint8, by the matrix that players assume for its size: the same whichever way YUV became RGB."""
    step = 2 if rgb.shape[0] * rgb.shape[1] > 1e6 else 1  # every other pixel is enough of a large picture
    weights = (0.2126, 0.7152, 0.0722) if height_px > 576 else (0.299, 0.587, 0.114)
    return cv2.transform(np.ascontiguousarray(rgb[::step, ::step]), np.array([weights]))


def source_pictures(path: Path) -> Iterator[np.ndarray]:
    """Luma of all pictures of a source."""
    if path.suffix == ".gif":
        with Image.open(path) as gif:
            for number in range(gif.n_frames):
                gif.seek(number)
                shown = gif.convert("RGBA")
                white = Image.new("RGBA", shown.size, "white")
                yield luma(np.asarray(Image.alpha_composite(white, shown).convert("RGB")), 0)
        return
    capture = cv2.VideoCapture(str(path))
    while True:
        there, bgr = capture.read()
        if not there:
            return
        yield luma(bgr[..., ::-1], 0)  # OpenCV takes BT.601 for what has no tag


def source_starts(path: Path, row: dict[str, str]) -> tuple[list[Fraction], Fraction]:
    """When each picture comes on screen, and when the last one goes: Pillow's delays, or the rate that the manifest says."""
    if path.suffix == ".gif":
        with Image.open(path) as gif:
            delays = []
            for number in range(gif.n_frames):
                gif.seek(number)
                delays.append(Fraction(int(gif.info["duration"]), 1000))
        return [sum(delays[:number], Fraction(0)) for number in range(len(delays))], sum(delays, Fraction(0))
    step = 1 / Fraction(row["fps_avg"])
    return [number * step for number in range(int(row["frames"]))], int(row["frames"]) * step


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER, reason="CODECAP_EXTRA_CLIPS names no folder of clips")
@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["file"])
def test_each_frame_shows_what_the_source_shows_at_its_time(row, tmp_path):
    path = Path(FOLDER) / row["file"]
    facts = ingest_file(path, tmp_path / "clip.mp4")
    width_px, height_px = int(row["width"]), int(row["height"])
    assert (facts.width_px, facts.height_px) == (width_px + width_px % 2, height_px + height_px % 2)
    starts, end_s = source_starts(path, row)
    assert facts.frames == math.ceil(end_s * 24)

    pictures = source_pictures(path)
    near: dict[int, np.ndarray] = {}
    errors, told_apart = [], 0
    for index, rgb in read_frames(tmp_path / "clip.mp4"):
        expected = max(number for number, start in enumerate(starts) if start <= Fraction(index, 24))
        while max(near, default=-1) < min(expected + NEAR, len(starts) - 1):
            near[max(near, default=-1) + 1] = next(pictures)
        near = {number: picture for number, picture in near.items() if number >= expected - NEAR}
        shown = luma(rgb[:height_px, :width_px], 0 if path.suffix == ".gif" else height_px)
        wrong_by = {number: cv2.absdiff(shown, picture) for number, picture in near.items()}
        errors.append(wrong_by[expected].mean())
        for other in near.keys() - {expected}:
            differs = cv2.absdiff(near[other], near[expected]) > 32
            if np.count_nonzero(differs) < max(40, differs.size / 2000):
                continue  # what codecs do to edges of a still picture
            told_apart += 1
            right, wrong = wrong_by[expected][differs].mean(), wrong_by[other][differs].mean()
            assert right < wrong / 2, f"frame {index} shows picture {other} rather than {expected}"
    assert next(pictures, None) is None or len(starts) > expected + NEAR
    assert max(errors) < 4
    assert told_apart > 10
