"""From a published folder back to videos: each original is fetched again, its clips are cut again and compared with the published.

What comes may be another file than the one that the clips were cut from: encoded anew, in another size, with another beginning.
Then each clip is looked for in it by its prints (see `alignment`); what lies there is taken only where it looks the same.
"""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from codecap.clips_table import write_clips
from codecap.clock import FPS
from codecap.collect.ingest import IngestSettings, ingest_file, source_mark
from codecap.collect.picture import ToneCurve
from codecap.errors import UserError
from codecap.publish import alignment, folder
from codecap.publish.folder import Published
from codecap.publish.origins import Origin
from codecap.publish.prints import prints_of, prints_on_clock, unpacked
from codecap.publish.scaling import scaled
from codecap.records import Clip, ClipId, Original, RecordError, Row, Words, read_rows, write_record, write_rows
from codecap.store.leases import lease
from codecap.video import VideoError, file_sha256, probe

LOG = logging.getLogger("codecap")
REPORT = "rebuilt.jsonl"
SHAPE = 0.01  # by which the ratio of width to height may differ


class Rebuilt(Row):
    """What became of one clip.

    Attributes:
        state: bit-equal: the very file; equivalent: it shows the same, in other bytes; lost: it cannot be had.
        published_sha256: digest of the published clip: of another version of the data set it says nothing.
        offset_s: how much later (or, below 0, earlier) than in the published original it begins in the one that was found.
        mean_levels, frame_levels, field_levels: how far it differs, see `alignment.Likeness`.
    """

    clip_id: ClipId
    state: Literal["bit-equal", "equivalent", "lost"]
    reason: Words = ""
    published_sha256: str = ""
    sha256: str = ""
    width_px: int = 0
    height_px: int = 0
    source: Words = ""
    start: int = Field(default=0, ge=0)
    offset_s: float = 0.0
    mean_levels: float | None = None
    frame_levels: float | None = None
    field_levels: float | None = None


class Lost(Exception):
    """Why a clip cannot be had."""


Fetch = Callable[[Origin], Original]


@dataclass(frozen=True)
class Found:
    """A file that clips are to be cut from."""

    path: Path
    sha256: str
    settings: IngestSettings

    @cached_property
    def prints(self) -> np.ndarray:
        """Of all its frames; taken only where its bytes are not the published ones."""
        tone = ToneCurve(self.settings.white_nits, self.settings.peak_nits)
        return prints_on_clock(self.path, tone, self.settings.tolerance_s)


def rebuild(published: Published, out: Path, fetch: Fetch, keep_originals: bool = False) -> list[Rebuilt]:
    """Make the videos of a published folder, in `out/clips`, with their table and annotations beside them.

    What an earlier call has made there is not made again; what was lost is tried again.

    Args:
        fetch: brings the original of a clip; what cannot be had is a row with a reason.
        keep_originals: else each is removed when its clips are cut.

    Returns:
        One row a clip, in the table's order; the same as in `out/rebuilt.jsonl`.

    Raises:
        UserError: `out` lies in the published folder, or holds what no earlier call has made.
        RecordError: an annotation of the published folder cannot be read.
        OSError: `out` cannot be written.
    """
    out = Path(out).resolve()
    _must_be_ours(published, out)
    for clip in published.clips:
        published.annotation(clip.clip_id)  # what is wrong with one is told before anything is fetched
    out.mkdir(parents=True, exist_ok=True)
    with lease(out / REPORT):  # another call would remove an original of which this one cuts its clips
        rows = {row.clip_id: row for row in _made_before(published, out)}
        _write(published, rows, out)
        for same_original in _by_original(published, rows):
            for row in _of_one_original(published, same_original, out, fetch, keep_originals):
                rows[row.clip_id] = row
                LOG.info("%s: %s %s", row.clip_id, row.state, row.reason)
            _write(published, rows, out)
        for clip in published.clips:
            _write_annotation(published, clip, rows[clip.clip_id], out)
    return [rows[clip.clip_id] for clip in published.clips]


def _must_be_ours(published: Published, out: Path) -> None:
    if out.is_relative_to(published.folder.resolve()):
        raise UserError(f"{out}: lies in the published folder, which must stay as it is; name another one with --out")
    if out.is_dir() and not (out / REPORT).exists() and any(not path.name.startswith(".") for path in out.iterdir()):
        raise UserError(f"{out}: holds other things already, which would be written over; name an empty or a new folder with --out")


def _made_before(published: Published, out: Path) -> Iterator[Rebuilt]:
    """Rows of an earlier call about these very clips, whose video is still there, whole."""
    known = {clip.clip_id: clip.sha256 for clip in published.clips}
    report = out / REPORT
    for row in read_rows(report, Rebuilt) if report.exists() else []:
        mp4 = out / folder.CLIPS / f"{row.clip_id}.mp4"
        same = known.get(row.clip_id) == row.published_sha256
        if same and row.state != "lost" and mp4.is_file() and file_sha256(mp4) == row.sha256:
            yield row


def _by_original(published: Published, done: Mapping[str, Rebuilt]) -> Iterator[list[Clip]]:
    """The clips that are to be made, those of one original together."""
    groups: dict[tuple[str, ...], list[Clip]] = {}
    for clip in published.clips:
        if clip.clip_id not in done:
            origin = published.origins.get(clip.clip_id)
            which = (origin.plugin, origin.candidate.locator, origin.sha256) if origin else (clip.clip_id,)
            groups.setdefault(which, []).append(clip)
    yield from groups.values()


def _of_one_original(published: Published, clips: Sequence[Clip], out: Path, fetch: Fetch, keep: bool) -> Iterator[Rebuilt]:
    here = [clip for clip in clips if _is_published(clip)]
    for clip in here:
        target = out / folder.CLIPS / f"{clip.clip_id}.mp4"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(clip.mp4, target)
        yield _row(clip, "bit-equal", clip.sha256, clip.width_px, clip.height_px, clip.source, published.origins.get(clip.clip_id))
    missing = [clip for clip in clips if clip not in here]
    if not missing:
        return
    try:
        found, original = _original(published, missing[0], fetch)
    except Lost as lost:
        yield from (_lost(clip, lost) for clip in missing)
        return
    for clip in missing:
        try:
            yield _cut(published, clip, found, out)
        except (Lost, VideoError, RecordError) as error:
            yield _lost(clip, error)
    if not keep and original.fetched and original.path.resolve().is_relative_to(out):
        original.path.unlink(missing_ok=True)


def _lost(clip: Clip, why: Exception) -> Rebuilt:
    return Rebuilt(clip_id=clip.clip_id, state="lost", reason=str(why), published_sha256=clip.sha256)


def _is_published(clip: Clip) -> bool:
    """Whether the folder itself has the clip's video, whole."""
    return clip.mp4.is_file() and not clip.mp4.is_symlink() and file_sha256(clip.mp4) == clip.sha256


def _original(published: Published, clip: Clip, fetch: Fetch) -> tuple[Found, Original]:
    origin = published.origins.get(clip.clip_id)
    if origin is None:
        raise Lost("nobody knows from which file it was cut, and its video is not in the folder")
    original = fetch(origin)
    if original.status != "ok" or original.path is None:
        raise Lost(f"{original.cause or 'failed'}: {original.reason}")
    return Found(original.path, original.sha256, published.ingest), original


def _cut(published: Published, clip: Clip, found: Found, out: Path) -> Rebuilt:
    """Cut one clip, and compare it with the published one.

    Raises:
        Lost: it is not in the file, or what is there looks otherwise.
        VideoError: the file is damaged.
    """
    origin = published.origins[clip.clip_id]
    told = published.prints.get(clip.clip_id)
    prints = None if told is None else unpacked(told)
    start = origin.start if found.sha256 == origin.sha256 else _place(clip, prints, found, origin)
    whole = origin.stop is None and start == 0 and found.sha256 == origin.sha256
    target = out / folder.CLIPS / f"{clip.clip_id}.mp4"
    made = ingest_file(
        found.path,
        target,
        settings=published.ingest,
        start=None if whole else start,
        stop=None if whole else start + clip.frames,
    )
    row = _row(
        clip, "bit-equal", made.sha256, made.width_px, made.height_px, source_mark(found.path, found.sha256), origin, start=start
    )
    if made.sha256 == clip.sha256:
        return row
    try:
        return _compared(clip, prints, target, row)
    except (Lost, VideoError):
        target.unlink(missing_ok=True)
        raise


def _place(clip: Clip, prints: np.ndarray | None, found: Found, origin: Origin) -> int:
    if prints is None:
        raise Lost("the file that came has other bytes, and there are no prints to find the clip in it")
    start = alignment.find(prints, found.prints, origin.start)
    if start is None:
        raise Lost(f"the file that came has other bytes and {len(found.prints) / FPS:.1f} s, fewer than the clip")
    before = alignment.likeness(prints, found.prints[start : start + clip.frames])
    if not before.same:
        raise Lost(f"the file that came has other bytes, and the likeliest part of it, at {start / FPS:.2f} s, {before}")
    return start


def _compared(clip: Clip, prints: np.ndarray | None, mp4: Path, row: Rebuilt) -> Rebuilt:
    """The row of a clip whose bytes are others.

    Raises:
        Lost: it does not look the same.
    """
    info = probe(mp4)
    if info.frames != clip.frames:
        raise Lost(f"it has {info.frames} frames now, {clip.frames} were published")
    shape = (info.width_px / info.height_px) / (clip.width_px / clip.height_px)
    if not math.isclose(shape, 1, abs_tol=SHAPE):
        raise Lost(f"its shape is another: {info.width_px}x{info.height_px} px, {clip.width_px}x{clip.height_px} px were published")
    if prints is None:
        raise Lost("its bytes are others, and there are no prints to compare it by")
    found = alignment.likeness(prints, prints_of(mp4))
    if not found.same:
        raise Lost(f"it {found}")
    return row.model_copy(
        update={
            "state": "equivalent",
            "mean_levels": round(found.mean, 2),
            "frame_levels": round(found.frame, 2),
            "field_levels": round(found.field, 2),
        }
    )


def _row(
    clip: Clip,
    state: Literal["bit-equal", "equivalent"],
    sha256: str,
    width_px: int,
    height_px: int,
    source: str,
    origin: Origin | None,
    start: int | None = None,
) -> Rebuilt:
    was = origin.start if origin is not None else 0
    start = was if start is None else start
    return Rebuilt(
        clip_id=clip.clip_id,
        state=state,
        published_sha256=clip.sha256,
        sha256=sha256,
        width_px=width_px,
        height_px=height_px,
        source=source,
        start=start,
        offset_s=round((start - was) / FPS, 4),
    )


def _write(published: Published, rows: Mapping[str, Rebuilt], out: Path) -> None:
    """The report, and the table of what there is by now."""
    there = [(clip, rows[clip.clip_id]) for clip in published.clips if clip.clip_id in rows]
    write_rows(out / REPORT, Rebuilt, (row for _, row in there))
    write_clips(out / folder.TABLE, [_clip(clip, row, out) for clip, row in there if row.state != "lost"])


def _clip(clip: Clip, row: Rebuilt, out: Path) -> Clip:
    moved: dict[str, Any] = {}
    if row.offset_s:
        moved["source_start_s"] = row.start / FPS
        moved["source_end_s"] = (row.start + clip.frames) / FPS
    told = {"sha256": row.sha256, "width_px": row.width_px, "height_px": row.height_px, "source": row.source}
    if (row.width_px, row.height_px) != (clip.width_px, clip.height_px):
        moved |= {"annotation_sha256": "", "dataset_version": ""}  # its boxes are scaled: that is not what was frozen
    return clip.model_copy(update={"mp4": out / folder.CLIPS / f"{clip.clip_id}.mp4", **told, **moved})


def _write_annotation(published: Published, clip: Clip, row: Rebuilt, out: Path) -> None:
    target = out / folder.ANNOTATIONS / f"{clip.clip_id}.json"
    annotation = published.annotation(clip.clip_id) if row.state != "lost" else None
    if annotation is None:
        target.unlink(missing_ok=True)
    else:
        write_record(target, scaled(annotation, row.width_px / clip.width_px, row.height_px / clip.height_px))


def summary(rows: Sequence[Rebuilt]) -> dict[str, Any]:
    """How many clips there are of each state, and why the lost ones are."""
    return {
        "clips": len(rows),
        **{state: sum(row.state == state for row in rows) for state in ("bit-equal", "equivalent", "lost")},
        "reasons": {row.clip_id: row.reason for row in rows if row.state == "lost"},
    }
