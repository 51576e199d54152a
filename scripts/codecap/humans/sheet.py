"""The scoring page: a folder that is handed out, and the key that stays here.

The folder knows items by random names only. Which system, clip and focal point an item is says the key, a file outside of it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from codecap.clock import FPS, frames_between
from codecap.errors import UserError
from codecap.humans.criteria import Criteria, read_criteria
from codecap.humans.material import Material
from codecap.humans.media import copy_plain, forget_times
from codecap.humans.sampling import Draw, draw
from codecap.humans.shown import shown_digest
from codecap.records import ClipId, Row, write_record
from codecap.report.pages import RESOURCES as REPORT
from codecap.report.pages import environment

RESOURCES = REPORT.parent / "humans"
OWN_ASSETS = ("sheet.css", "sheet.js")
REPORT_ASSETS = ("report.css", "theme.js")
NAME_BITS = 48


class KeyItem(Row):
    """What an item of a sheet is."""

    item: str
    system: str
    clip_id: ClipId
    focal_id: str
    shown: str  # digest of what the person sees


class SheetKey(Row):
    """Maps a sheet's items back; whoever scores must not have it."""

    sheet: str
    seed: int
    criteria: list[str] = Field(min_length=6, max_length=6)  # what the scores 0 to 5 were said to mean
    items: list[KeyItem]


def make_sheet(
    material: Material,
    systems: Sequence[str],
    out: Path,
    key: Path,
    *,
    per_category: int = 10,
    seed: int = 0,
    together: bool = False,
) -> Draw:
    """Write the folder `out` and the file `key`.

    Args:
        systems: whose renders are shown.
        per_category: clips of a category.
        seed: of the draw, the order and the names; who knows it and has the run could undo the blinding.
        together: keep the points of one render together.

    Returns:
        What was drawn.

    Raises:
        UserError: something is there already, the key would lie in the folder, or a video cannot be read.
    """
    _refuse_what_is_there(out, key)
    criteria = read_criteria()
    drawn = draw(material, systems, per_category, seed, together)
    names = _names(random.Random(f"names of {seed}"))
    sheet = next(names)
    folder = out.with_name(f".{out.name}.draft")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        media = _copy_media(material, drawn, folder / "media", names)
        items = [next(names) for _ in drawn.items]
        shown = [
            _shown(name, media[item.clip_id], media[item.system, item.clip_id], item.point)
            for name, item in zip(items, drawn.items, strict=True)
        ]
        _write_page(folder, {"sheet": sheet, "fps": FPS, "items": shown}, criteria)
        forget_times(folder)
        told = [
            KeyItem(
                item=name,
                system=item.system,
                clip_id=item.clip_id,
                focal_id=item.point.focal_id,
                shown=shown_digest(material.clips[item.clip_id], material.renders[item.system, item.clip_id], item.point),
            )
            for name, item in zip(items, drawn.items, strict=True)
        ]
        write_record(key, SheetKey(sheet=sheet, seed=seed, criteria=list(criteria.levels), items=told))
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return drawn


def _refuse_what_is_there(out: Path, key: Path) -> None:
    for path in (out, key):
        if path.exists() and not (path.is_dir() and path == out and not any(path.iterdir())):
            raise UserError(f"{path}: is there already; a sheet that was handed out must keep its key: choose another name")
    if key.resolve().is_relative_to(out.resolve()):
        raise UserError(f"{key}: the key must lie outside of {out}, which is handed out")


def _names(generator: random.Random):
    """Random names, none twice."""
    given = set()
    while True:
        name = f"{generator.getrandbits(NAME_BITS):0{NAME_BITS // 4}x}"
        if name not in given:
            given.add(name)
            yield name


def _copy_media(material: Material, drawn: Draw, folder: Path, names) -> dict[Any, dict[str, Any]]:
    """Copy each video once, references and renders in one shuffled row; by clip id, or by system and clip id."""
    sources = {item.clip_id: material.clips[item.clip_id].mp4 for item in drawn.items}
    sources |= {(item.system, item.clip_id): material.renders[item.system, item.clip_id].mp4 for item in drawn.items}
    folder.mkdir(parents=True)
    media = {}
    for place, mp4 in sources.items():
        name = next(names)
        info = copy_plain(mp4, folder / f"{name}.mp4")
        media[place] = {"file": name, "frames": info.frames, "width": info.width_px, "height": info.height_px}
    return media


def _shown(name: str, reference: Mapping[str, Any], render: Mapping[str, Any], point) -> dict[str, Any]:
    """What the page knows of an item. The segment is told in frames: its first, and the one after its last."""
    span = frames_between(point.start_s, point.end_s, reference["frames"])
    return {
        "id": name,
        "kind": point.kind,
        "description": point.description,
        "from": span.start,
        "to": span.stop,
        "reference": reference,
        "render": render,
    }


def _write_page(folder: Path, data: Mapping[str, Any], criteria: Criteria) -> None:
    assets = folder / "assets"
    assets.mkdir(parents=True)
    for resources, files in ((REPORT, REPORT_ASSETS), (RESOURCES, OWN_ASSETS)):
        for file in files:
            shutil.copyfile(resources / file, assets / file)
    made = environment(RESOURCES)
    html = made.get_template("sheet.html.j2").render(data=data, criteria=criteria, count=len(data["items"]))
    (folder / "index.html").write_text(html, encoding="utf-8")
