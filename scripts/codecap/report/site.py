"""The report's folder: `index.html`, a page a clip and a system, one that compares two systems, and all they show.

It is opened from disk or published as it is. What a page may not need (videos, masks, code, a system's numbers) it takes in when
it shows it.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from jinja2 import Environment

from codecap import store
from codecap.compare.comparison import ClipEntry, Comparison, ComparisonError, TaskEntry
from codecap.records import Annotation, ObjectTracks
from codecap.report import (
    clip_page,
    compare_page,
    dataset_figure,
    index_page,
    links,
    media,
    paper_section,
    statistics_section,
    system_page,
)
from codecap.report.code_files import CodeFiles
from codecap.report.figures import drawn_in
from codecap.report.mask_files import place_masks
from codecap.report.pages import RESOURCES, environment, write_page
from codecap.report.track_files import TrackFiles
from codecap.validity import placing
from codecap.video import VideoError

ASSETS = (
    *("report.css", "clip.css", "system.css", "compare.css", "figures.css"),
    *("theme.js", "sorting.js", "index.js", "boxes.js", "clip.js", "code.js", "system.js", "compare.js"),
)

TABLE_ENDINGS = ("csv", "tex", "md")


def build_report(
    comparison: Comparison,
    *,
    annotations: Iterable[Annotation],
    tracks: Iterable[Path],
    out_dir: Path,
    tables: Path | None = None,
    figures: Path | None = None,
    validity: Path | None = None,
    resources: Path = RESOURCES,
) -> Path:
    """Build the whole folder and put it in its place when it is done.

    Args:
        comparison: what `compare.tables.tabulate` made.
        annotations: of the clips: reference boxes and focal points.
        tracks: shards (JSON Lines) of the candidates' object tracks; read clip by clip.
        out_dir: made anew; an earlier report there is replaced, anything else refused.
        tables: folder of tables to publish with it, as CSV, LaTeX and Markdown.
        figures: folder of figures on paper to publish with it.
        validity: folder of the perturbation study, which is published with it where it was made.
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
    (draft / "assets").mkdir(parents=True)
    made = environment(resources)
    for name in ASSETS:
        shutil.copyfile(resources / name, draft / "assets" / name)
    if tables is not None:
        shutil.copytree(tables, draft / "tables")
    if figures is not None:
        shutil.copytree(figures, draft / "figures", ignore=shutil.ignore_patterns("*.txt"))
    told = {row.clip_id: row for row in annotations}
    with CodeFiles(sum(task.html is not None for task in comparison.tasks)) as codes:
        unreadable = _clip_pages(draft, made, comparison, told, TrackFiles(tracks), codes)
    _system_pages(draft, made, comparison, told, unreadable)
    first = index_page.context(comparison) | dataset_figure.context(comparison.clips, told)
    first |= statistics_section.context(comparison) | paper_section.context(comparison)
    first |= {"tables": _tables_of(draft), "figures": drawn_in(figures) if figures else [], "unreadable": unreadable}
    first["validity"] = validity is not None and placing.place(validity, draft)
    first["validity_otherwise"] = placing.made_otherwise(validity, comparison.columns) if first["validity"] else []
    write_page(draft / "index.html", made, "index.html.j2", first)
    _put_in_place(draft, out_dir)
    return out_dir / "index.html"


def _put_in_place(draft: Path, out_dir: Path) -> None:
    """Exchange whole folders: who is killed while the old report is removed leaves a whole one, not a part that nobody knows."""
    old = out_dir.with_name(f".{out_dir.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out_dir.exists():
        out_dir.rename(old)
    draft.rename(out_dir)
    shutil.rmtree(old, ignore_errors=True)


def _refuse_foreign(out_dir: Path) -> None:
    if out_dir.is_dir() and any(out_dir.iterdir()) and not (out_dir / "assets" / "report.css").is_file():
        raise ComparisonError(f"{out_dir} holds files that no report made; give the report an empty folder, or remove them")
    if out_dir.exists() and not out_dir.is_dir():
        raise ComparisonError(f"{out_dir} is a file; the report is a folder")


def _tables_of(draft: Path) -> list[tuple[str, list[str]]]:
    """Names of the tables that are there, each with the endings of its files."""
    names = sorted(path.stem for path in (draft / "tables").glob("*.csv"))
    names += sorted({path.stem for path in (draft / "tables").glob("*.md")} - set(names))
    return [(name, [end for end in TABLE_ENDINGS if (draft / "tables" / f"{name}.{end}").is_file()]) for name in names]


def _clip_pages(
    draft: Path,
    made: Environment,
    comparison: Comparison,
    annotations: Mapping[str, Annotation],
    tracks: TrackFiles,
    codes: CodeFiles,
) -> dict[str, str]:
    """Write a page a clip; returns why there is no still of a clip, for those without: a broken clip stops no report."""
    entries: dict[str, list[TaskEntry]] = defaultdict(list)
    for entry in comparison.tasks:
        entries[entry.clip_id].append(entry)
    ids = [clip.clip_id for clip in comparison.clips]
    unreadable = {}
    for place, clip in enumerate(comparison.clips):
        found = tracks.of_clip(clip.clip_id)
        files = _place_files(draft, clip, entries[clip.clip_id], found, codes)
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
            files,
            (ids[place - 1] if place else None, ids[place + 1] if place + 1 < len(ids) else None),
        )
        write_page(draft / "clips" / f"{clip.clip_id}.html", made, "clip.html.j2", context)
    return unreadable


def _system_pages(
    draft: Path,
    made: Environment,
    comparison: Comparison,
    annotations: Mapping[str, Annotation],
    unreadable: Mapping[str, str],
) -> None:
    """Write a page a system, and the page that compares two of them with the numbers that it takes in."""
    for system in comparison.systems:
        context = system_page.context(comparison, system, unreadable)
        write_page(draft / links.system_page(system.name), made, "system.html.j2", context)
    compare_page.write_scripts(draft / "data", comparison, annotations, unreadable)
    write_page(draft / "compare.html", made, "compare.html.j2", compare_page.context(comparison))


def _place_files(
    draft: Path, clip: ClipEntry, entries: list[TaskEntry], tracks: Mapping[str, ObjectTracks], codes: CodeFiles
) -> clip_page.Files:
    """Put a clip's files into its folder: videos, pages as text files (so that no browser runs them), their code, and masks."""
    folder = draft / "media" / clip.clip_id
    files = clip_page.Files(reference=store.there(clip.mp4))
    if files.reference:  # else its page shows the renders alone; the index says why, as of any clip that cannot be read
        media.place(clip.mp4, folder / "reference.mp4")
    for entry in entries:
        name = media.file_stem(entry.system)
        there = f"../media/{clip.clip_id}/system-{name}"
        if entry.mp4 is not None:
            media.place(entry.mp4, folder / f"system-{name}.mp4")
            files.videos[entry.system] = f"{there}.mp4"
        if entry.html is not None:
            page = folder / f"system-{name}.html.txt"
            media.place(entry.html, page)
            files.pages[entry.system] = f"{there}.html.txt"
            codes.place(page, folder / f"system-{name}.code.js", name)
            files.codes[entry.system] = f"{there}.code.js"
        if place_masks(tracks.get(entry.system), folder / f"system-{name}.masks.js"):
            files.masks[entry.system] = f"{there}.masks.js"
    return files
