"""Ingest: any video, or a part of one, brought to the one clock and form that all other stages read (see METRICS, "The clock").

Frame `i` of a canonical clip is what the source has on screen in its frame `i` (`onscreen`); that of a part, in frame `start + i`.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codecap.clips_table import read_clips, write_clips
from codecap.clock import FPS
from codecap.collect.canonical import why_not_canonical
from codecap.collect.naming import category_of, clip_id_of, find_videos
from codecap.collect.onscreen import TOLERANCE_S, on_screen
from codecap.collect.opening import open_video, readable_name
from codecap.collect.picture import ToneCurve
from codecap.config import ConfigError
from codecap.errors import UserError
from codecap.records import CATEGORIES, Clip, Ingested
from codecap.store.leases import lease
from codecap.video import CanonicalWriter, VideoError, VideoInfo, draft_beside, file_sha256, probe, put_in_place, unwritable

TABLE = "clips.tsv"
MARK = " sha256:"


@dataclass(frozen=True)
class IngestSettings:
    """The `ingest` part of the configuration."""

    longest_s: float = 600.0  # a longer clip is refused: cut it first
    tolerance_s: float = TOLERANCE_S  # how much earlier than its header says a video may end before it counts as cut short
    white_nits: float = 203.0  # high dynamic range: diffuse white, and what becomes the brightest white
    peak_nits: float = 1000.0

    def __post_init__(self) -> None:
        if not 0 < self.white_nits < self.peak_nits:
            raise ConfigError(f"ingest: peak_nits ({self.peak_nits}) must be above white_nits ({self.white_nits}), both above 0")
        if not (self.longest_s > 0 and self.tolerance_s >= 0):
            raise ConfigError("ingest: longest_s must be above 0 and tolerance_s not below 0")


@dataclass(frozen=True)
class Facts:
    """What a canonical clip is like."""

    frames: int
    width_px: int
    height_px: int
    sha256: str
    copied: bool  # the source already was canonical


def ingest_file(
    path: Path, out_mp4: Path, *, settings: IngestSettings | None = None, start: int | None = None, stop: int | None = None
) -> Facts:
    """Bring a video, or a part of it, to the canonical form. A whole one that already has it is copied byte for byte.

    Args:
        path: any file that FFmpeg reads, or an animated WebP.
        out_mp4: where the clip goes; it appears whole or not at all.
        start, stop: the part's first frame, and the frame after its last, on the 24 fps clock of the whole video; by default from
            its beginning, to its end. A part has the very pictures that the whole has in these frames.

    Raises:
        VideoError: something is wrong with the source, or it has no such frames; the message says what, where and what to do.
        ValueError: `start` is negative, or `stop` is not after it.
        OSError: the clip cannot be written (disk full, read-only folder).
    """
    settings = settings or IngestSettings()
    path, out_mp4 = Path(path), Path(out_mp4)
    open_video(path).container.close()  # says what is wrong with a file before it is read as a whole
    copied = not start and stop is None and why_not_canonical(path) is None
    if copied:
        info = probe(path)
        _refuse_long(path, info.frames, settings)
        _copy(path, out_mp4)
    else:
        info = _convert(path, out_mp4, settings, start or 0, stop)
    return Facts(info.frames, info.width_px, info.height_px, file_sha256(out_mp4), copied)


def ingest_files(
    places: Iterable[Path],
    out_dir: Path,
    *,
    category: str | None = None,
    settings: IngestSettings | None = None,
    report: Callable[[Ingested], None] | None = None,
) -> list[Ingested]:
    """Ingest videos into a folder: `out_dir/<clip_id>.mp4` each, and `out_dir/clips.tsv`, to which they are added.

    A clip that was made from the same bytes is not made again (`Clip.source` holds their digest). The table is read and written
    anew for each clip, so that a run that was stopped goes on where it was, and several may fill one folder. An id belongs to the
    source that had it first: another file of the same stem, or another version of it, is refused as long as the clip is there, so
    that none silently takes another's place. Nor does a clip take the place of its own source, or of a file that is no clip.

    Args:
        places: files, and folders (one level); files that do not end like a video are passed over, `naming.find_videos` tells them.
        category: of all of them; by default what the table says already, else the letter before the first underscore of the name.
        report: is shown each row as soon as it is there.

    Returns:
        One row a video, in order; what could not be ingested is a row with a reason.

    Raises:
        UserError: unknown category.
        RecordError: the table that is there cannot be read.
        OSError: the folder cannot be written to.
    """
    if category is not None and category not in CATEGORIES:
        raise UserError(f"unknown category {category!r}; known are {', '.join(CATEGORIES)}")
    table = Path(out_dir) / TABLE
    rows = []
    for path in find_videos(places)[0]:
        try:
            row = Ingested(source=readable_name(path), status="ok", clip=_ingest_one(path, table, category, settings))
        except VideoError as error:
            row = Ingested(source=readable_name(path), status="failed", reason=str(error))
        rows.append(row)
        if report is not None:
            report(row)
    return rows


def source_mark(path: Path, sha256: str) -> str:
    """What `Clip.source` says of a file: its name and its digest. It holds no folder, so that the table can be shared."""
    return f"{path.name}{MARK}{sha256}"


def _digest_in(source: str) -> str:
    return source.rpartition(MARK)[2]


def _ingest_one(path: Path, table: Path, category: str | None, settings: IngestSettings | None) -> Clip:
    open_video(path).container.close()  # says what is wrong with a file before it is read as a whole
    clip_id, sha256 = clip_id_of(path), file_sha256(path)
    out_mp4 = table.with_name(f"{clip_id}.mp4")
    with _entries(table) as clips:
        if (there := _made_of(path, sha256, clips.get(clip_id), out_mp4)) is not None:
            clips[clip_id] = there.model_copy(update={"category": category or there.category})
            return clips[clip_id]
    draft = draft_beside(out_mp4)
    try:
        facts = ingest_file(path, draft, settings=settings)
        with _entries(table) as clips:
            old = clips.get(clip_id)
            _made_of(path, sha256, old, out_mp4)  # another process may have taken the id since
            if old is None and out_mp4.exists() and file_sha256(out_mp4) != facts.sha256:
                raise VideoError(
                    f"{path}: its clip would replace {out_mp4}, which is no clip of {table.name}; move that file, or choose "
                    "another folder for the clips"
                )
            put_in_place(draft, out_mp4)
            clips[clip_id] = Clip(
                clip_id=clip_id,
                category=category or (old.category if old else category_of(path)),
                mp4=out_mp4,
                sha256=facts.sha256,
                frames=facts.frames,
                width_px=facts.width_px,
                height_px=facts.height_px,
                source=source_mark(path, sha256),
                licence=old.licence if old and _digest_in(old.source) == sha256 else "",
            )
            return clips[clip_id]
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _entries(table: Path) -> Iterator[dict[str, Clip]]:
    """The clips of a table by id, held against other processes that ingest into its folder; what is changed is written."""
    try:
        table.parent.mkdir(parents=True, exist_ok=True)
        held = contextlib.ExitStack()
        held.enter_context(lease(table))
    except OSError as error:
        raise unwritable(table, error) from error
    with held:
        clips = {clip.clip_id: clip for clip in read_clips(table)} if table.exists() else {}
        before = dict(clips)
        yield clips
        if clips != before:
            try:
                write_clips(table, clips.values())
            except OSError as error:
                raise unwritable(table, error) from error


def _made_of(path: Path, sha256: str, there: Clip | None, out_mp4: Path) -> Clip | None:
    """The clip that a source was brought to before, None where there is none.

    Raises:
        VideoError: the place is another's, or the source's own.
    """
    if not out_mp4.exists():
        return None
    itself = out_mp4.samefile(path)
    if there is not None and not (itself and there.sha256 == sha256):
        if _digest_in(there.source) != sha256:
            name = there.source.rpartition(MARK)[0]
            raise VideoError(
                f"{path}: the clip id {there.clip_id!r} is used already, by the clip made of {name or 'another source'}; "
                f"rename the file, or delete {out_mp4} to replace that clip"
            )
        return there if file_sha256(out_mp4) == there.sha256 else None
    if itself and there is None and (why := why_not_canonical(path)) is not None:
        raise VideoError(f"{path}: would be replaced by its own clip ({why}); choose another folder for the clips")
    return there


def _convert(path: Path, out_mp4: Path, settings: IngestSettings, start: int, stop: int | None) -> VideoInfo:
    """Write the canonical clip of a video, one picture in memory at a time."""
    if stop is not None:
        _refuse_long(path, stop - start, settings)
    tone = ToneCurve(settings.white_nits, settings.peak_nits)
    writer: CanonicalWriter | None = None
    try:
        for picture in on_screen(path, start=start, stop=stop, tone=tone, tolerance_s=settings.tolerance_s):
            _refuse_long(path, picture.stop - start, settings)
            if writer is None:
                writer = CanonicalWriter(out_mp4, picture.width_px, picture.height_px)
            writer.add(picture.rgb())
            while writer.frames < picture.stop - start:
                writer.repeat()
    except BaseException:
        if writer is not None:
            writer.discard()
        raise
    assert writer is not None  # a video without a picture has raised
    writer.close()
    return VideoInfo(writer.frames, writer.width_px, writer.height_px)


def _copy(path: Path, out_mp4: Path) -> None:
    if out_mp4.exists() and out_mp4.samefile(path):
        return
    draft = draft_beside(out_mp4)
    try:
        shutil.copyfile(path, draft)
        put_in_place(draft, out_mp4)
    except OSError as error:
        if error.errno == errno.ENOENT and not path.exists():
            raise VideoError(f"{path}: is gone; give it again") from error
        raise unwritable(out_mp4, error) from error
    finally:
        draft.unlink(missing_ok=True)


def _refuse_long(path: Path, frames: int, settings: IngestSettings) -> None:
    if frames / FPS > settings.longest_s:
        raise VideoError(
            f"{path}: is longer than {settings.longest_s:g} s (ingest.longest_s in the config); cut it, or raise the limit"
        )
