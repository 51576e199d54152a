"""The report's folder: `index.html`, a page a clip, and all they show, to be opened from disk or published as it is."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from jinja2 import Environment

from codecap import store
from codecap.compare.comparison import ClipEntry, Comparison, ComparisonError, TaskEntry
from codecap.records import Annotation, ObjectTracks
from codecap.report import clip_page, dataset_figure, index_page, media
from codecap.report.mask_files import place_masks
from codecap.report.pages import RESOURCES, environment, write_page
from codecap.report.track_files import TrackFiles
from codecap.video import VideoError

ASSETS = ("report.css", "theme.js", "index.js", "clip.js")


def build_report(
    comparison: Comparison,
    *,
    annotations: Iterable[Annotation],
    tracks: Iterable[Path],
    out_dir: Path,
    tables: Path | None = None,
    resources: Path = RESOURCES,
) -> Path:
    """Build the whole folder and put it in its place when it is done.

    Args:
        comparison: what `compare.tables.tabulate` made.
        annotations: of the clips: reference boxes and focal points.
        tracks: shards (JSON Lines) of the candidates' object tracks; read clip by clip.
        out_dir: made anew; an earlier report there is replaced, anything else refused.
        tables: folder of CSV files to publish with it.
        resources: templates, style sheet and scripts.

    Returns:
        Path of `index.html`.

    Raises:
        ComparisonError: `out_dir` holds something that is not a report, or a video or page that the comparison speaks of is gone.
    """
    out_dir = Path(out_dir)
    _refuse_foreign(out_dir)
    draft = out_dir.with_name(f".{out_dir.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    made = environment(resources)
    for name in ASSETS:
        (draft / "assets").mkdir(exist_ok=True)
        shutil.copyfile(resources / name, draft / "assets" / name)
    if tables is not None:
        shutil.copytree(tables, draft / "tables")
    told = {row.clip_id: row for row in annotations}
    unreadable = _clip_pages(draft, made, comparison, told, TrackFiles(tracks))
    first = index_page.context(comparison) | dataset_figure.context(comparison.clips, told)
    first |= _tables_of(draft) | {"unreadable": unreadable}
    write_page(draft / "index.html", made, "index.html.j2", first)
    if out_dir.exists():
        shutil.rmtree(out_dir)
    draft.rename(out_dir)
    return out_dir / "index.html"


def _refuse_foreign(out_dir: Path) -> None:
    if out_dir.is_dir() and any(out_dir.iterdir()) and not (out_dir / "assets" / "report.css").is_file():
        raise ComparisonError(f"{out_dir} holds files that no report made; give the report an empty folder, or remove them")
    if out_dir.exists() and not out_dir.is_dir():
        raise ComparisonError(f"{out_dir} is a file; the report is a folder")


def _tables_of(draft: Path) -> dict[str, list[str]]:
    folder = draft / "tables"
    return {"tables": sorted(path.name for path in folder.glob("*.csv")) if folder.is_dir() else []}


def _clip_pages(
    draft: Path, made: Environment, comparison: Comparison, annotations: Mapping[str, Annotation], tracks: TrackFiles
) -> dict[str, str]:
    """Write a page a clip; returns why there is no still of a clip, for those without: a broken clip stops no report."""
    entries: dict[str, list[TaskEntry]] = defaultdict(list)
    for entry in comparison.tasks:
        entries[entry.clip_id].append(entry)
    ids = [clip.clip_id for clip in comparison.clips]
    unreadable = {}
    for place, clip in enumerate(comparison.clips):
        found = tracks.of_clip(clip.clip_id)
        sources, pages = _place_media(draft, clip, entries[clip.clip_id])
        masks = _place_masks(draft, clip, found)
        try:
            media.still(clip.mp4, clip.frames, draft / "assets" / "stills" / f"{clip.clip_id}.jpg")
        except VideoError as error:
            unreadable[clip.clip_id] = str(error)
        context = clip_page.context(
            comparison,
            clip,
            annotations.get(clip.clip_id),
            entries[clip.clip_id],
            found,
            sources,
            pages,
            masks,
            (ids[place - 1] if place else None, ids[place + 1] if place + 1 < len(ids) else None),
        )
        write_page(draft / "clips" / f"{clip.clip_id}.html", made, "clip.html.j2", context)
    return unreadable


def _place_masks(draft: Path, clip: ClipEntry, tracks: Mapping[str, ObjectTracks]) -> dict[str, str]:
    """Scripts of masks of a clip; paths from `clips/`, by system, for those that have masks."""
    scripts = {}
    for system, found in tracks.items():
        name = f"system-{media.file_stem(system)}.masks.js"
        if place_masks(found, draft / "media" / clip.clip_id / name):
            scripts[system] = f"../media/{clip.clip_id}/{name}"
    return scripts


def _place_media(draft: Path, clip: ClipEntry, entries: list[TaskEntry]) -> tuple[dict[str, str], dict[str, str]]:
    """Videos and page sources (as text files, so that no browser runs them) of a clip; paths from `clips/`, by system."""
    folder = draft / "media" / clip.clip_id
    if store.there(clip.mp4):  # else its page has no reference; the index says why, as of any clip that cannot be read
        media.place(clip.mp4, folder / "reference.mp4")
    sources, pages = {}, {}
    for entry in entries:
        stem = f"system-{media.file_stem(entry.system)}"
        if entry.mp4 is not None:
            media.place(entry.mp4, folder / f"{stem}.mp4")
            sources[entry.system] = f"../media/{clip.clip_id}/{stem}.mp4"
        if entry.html is not None:
            media.place(entry.html, folder / f"{stem}.html.txt")
            pages[entry.system] = f"../media/{clip.clip_id}/{stem}.html.txt"
    return sources, pages
