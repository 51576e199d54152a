"""What an original shows, in one pass over its pictures on the 24 fps clock: shots, hashes, activity, the filter's features.

A shot is known when it is over, and so is where the filter's measurement of it begins: small copies of the pictures that the filter
looks at are kept until then, packed without loss, in a temporary file where they are many.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import cv2
import numpy as np

from codecap import shots as shot_detection
from codecap.clock import FPS
from codecap.collect.hashes import STEP, Hasher
from codecap.collect.ingest import IngestSettings
from codecap.collect.onscreen import on_screen
from codecap.collect.picture import ToneCurve
from codecap.filtering.appearance import WIDTH_PX, small_copy
from codecap.filtering.features import Measurement, changed_blocks, wants, width_before
from codecap.records import Candidate, Original, Survey
from codecap.store import Draft, ItemStore
from codecap.video import VideoError

IN_MEMORY_BYTES = 64 << 20  # of kept copies; more are in a temporary file
PACKING = [cv2.IMWRITE_PNG_COMPRESSION, 1]
LONGEST_S = 4 * 3600  # of an original: a file of some hundred bytes may say that its pictures stay for days


def survey_shard(
    originals: Iterable[Original], shots: Mapping[str, Any], ingest: Mapping[str, Any], code: Sequence[str], durable: Path
) -> Iterator[Survey]:
    """One row an original that is there. What is in the store is not measured again.

    Args:
        shots: settings of the shot detector.
        ingest: settings of ingest: what is surveyed are the pictures that a clip will have.
        code: digests of the code.
        durable: the store's root for records.
    """
    settings = IngestSettings(**ingest)
    store = ItemStore(durable, stage="survey_originals", salt=[dict(shots), dict(ingest), list(code)])
    for original in originals:
        candidate, path = original.candidate, original.path
        if original.status != "ok" or path is None:
            continue

        def make(_: Draft, path: Path = path, candidate: Candidate = candidate) -> dict[str, Any]:
            return survey(path, shots, settings, settings.longest_s if candidate.whole else None)

        key = store.key(original.sha256, "whole" if candidate.whole else "")
        try:
            value = store.get_or_make(candidate.source, candidate.candidate_id, key, make).value
        except VideoError as error:
            yield Survey(candidate_id=candidate.candidate_id, sha256=original.sha256, status="failed", reason=str(error))
        else:
            yield Survey(candidate_id=candidate.candidate_id, sha256=original.sha256, status="ok", **value)


def survey(path: Path, shots: Mapping[str, Any], settings: IngestSettings, longest_s: float | None = None) -> dict[str, Any]:
    """Measure a video.

    Args:
        path: any file that FFmpeg reads.
        shots: settings of the shot detector.
        longest_s: a longer one is refused, where it is to be one clip.

    Returns:
        What `records.Survey` has beside the candidate and the file's digest, as JSON values.

    Raises:
        VideoError: the file cannot be read to its end, or is too long; none may be longer than `LONGEST_S`.
    """
    tone = ToneCurve(settings.white_nits, settings.peak_nits)
    detector, hasher = shot_detection.watcher(shots), Hasher()
    frames = width_px = height_px = 0
    with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as file:
        copies = _Copies(file)
        for picture in on_screen(path, tone=tone, tolerance_s=settings.tolerance_s):
            if picture.stop > LONGEST_S * FPS:
                raise VideoError(f"{path}: is longer than {LONGEST_S / 3600:g} hours; cut it")
            if longest_s is not None and picture.stop > longest_s * FPS:
                raise VideoError(
                    f"{path}: is longer than {longest_s:g} s (ingest.longest_s in the config); cut it, or raise the limit"
                )
            looked_at = [frame for frame in range(picture.start, picture.stop) if wants(frame)]
            rgb = small_copy(picture.small_rgb(width_before(picture.width_px) if looked_at else WIDTH_PX))
            width_px, height_px, frames = picture.width_px, picture.height_px, picture.stop
            hasher.add(rgb, picture.start, picture.stop)
            copies.add(rgb, looked_at)
            for _ in range(picture.start, picture.stop):
                detector.see(rgb)
        cut = shot_detection.between(detector.cuts(), frames)
        looks, activity = _looks(cut, copies)
    return {
        "frames": frames,
        "width_px": width_px,
        "height_px": height_px,
        "shots": cut,
        "hashes": hasher.hashes(),
        "activity": activity,
        "looks": looks,
    }


def _looks(cut: list[tuple[int, int]], copies: _Copies) -> tuple[list[dict[str, float]], list[float]]:
    """The filter's features of each shot, none for one in which no frame is looked at; and the activity of each half second.

    The first looked-at frame of a shot is its start for the filter, so a shot is measured from at most half a second after its cut.
    """
    shot = 0
    measured: list[Measurement | None] = [None] * len(cut)
    origin = before = 0
    seen: np.ndarray | None = None
    changes: list[list[np.ndarray]] = [[] for _ in range(-(-cut[-1][1] // STEP))]
    for frame, rgb in copies:
        while frame >= cut[shot][1]:
            shot, seen = shot + 1, None
        measurement = measured[shot]
        if measurement is None and frame % STEP == 0:
            measurement = measured[shot] = Measurement()
            origin = frame
        if measurement is not None:
            measurement.add(frame - origin, rgb)
        if seen is not None:
            changes[before // STEP].append(changed_blocks(seen, rgb))
        seen, before = rgb, frame
    looks = [one.features(stop - start) if one else {} for one, (start, stop) in zip(measured, cut, strict=True)]
    return looks, _activity(changes)


def _activity(changes: list[list[np.ndarray]]) -> list[float]:
    """Share of the blocks that change in each half second; where nothing is known, as at the end, that of the one before."""
    found: list[float] = []
    for steps in changes:
        known = found[-1] if found else 0.0
        found.append(round(float(np.logical_or.reduce(steps).mean()), 4) if steps else known)
    return found


class _Copies:
    """Small copies of pictures by the frames that show them, packed without loss."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: list[tuple[int, int, int]] = []  # frame, place in the file, bytes

    def add(self, rgb: np.ndarray, frames: list[int]) -> None:
        """Keep a picture, uint8 RGB, where there are frames to keep it for."""
        if frames:
            packed = cv2.imencode(".png", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), PACKING)[1].tobytes()
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(packed)
            self._places += [(frame, place, len(packed)) for frame in frames]

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        """Frames in order, and the pictures that they show."""
        last, rgb = -1, np.empty((0, 0, 3), np.uint8)
        for frame, place, size in self._places:
            if place != last:
                self._file.seek(place)
                packed = np.frombuffer(self._file.read(size), np.uint8)
                last, rgb = place, cv2.cvtColor(cv2.imdecode(packed, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
            yield frame, rgb
