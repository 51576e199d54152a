"""The review sheet: a page of contact sheets on which a person keeps or drops clips by single keys.

It is a folder that works from disk. What is decided stays in the browser until it is exported as a table, which
`codecap filter decide` checks and takes over (`decisions`): no server, and nothing that a page could write to.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from codecap import plan, video
from codecap.clock import FPS, midpoints
from codecap.errors import UserError
from codecap.filtering.decisions import COLUMNS, Decision, cut_of
from codecap.new_folder import new_folder
from codecap.records import CATEGORIES, Clip, Ingested, Row, Verdict, read_rows
from codecap.report.media import place
from codecap.report.pages import RESOURCES as REPORT
from codecap.report.pages import environment
from codecap.store import digest_of
from codecap.video import VideoError

LOG = logging.getLogger("codecap")
RESOURCES = REPORT.parent / "filter_review"
ASSETS = ((REPORT, ("report.css", "theme.js")), (RESOURCES, ("review.css", "review.js")))
TILES, ACROSS, ACROSS_UPRIGHT = 12, 4, 6
SHEET_WIDTH_PX, GAP_PX = 1280, 6
SMALL_WIDTH_PX = 160

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Reviewable:
    """A clip, what was found about it, and where it came from."""

    clip: Clip
    verdict: Verdict
    source: str

    @property
    def chance(self) -> float | None:
        """The filter's chance that it is to be kept."""
        return self.verdict.features.get("keep_chance")

    @property
    def doubt(self) -> float:
        """How sure the filter is not: 0 where it is sure, 0.5 at most."""
        return 0.0 if self.chance is None else 0.5 - abs(self.chance - 0.5)


def of_run(config: Mapping[str, Any]) -> list[Reviewable]:
    """The clips of the run in the working folder that the filter has judged; a warning tells how many it has not.

    Raises:
        UserError: there are none, or the run had more buckets than the configuration.
    """
    verdicts = {row.clip_id: row for row in _of_buckets("2_filter", Verdict, config["buckets"])}
    ingested = [row for row in _of_buckets("1_collect/clips", Ingested, config["buckets"]) if row.clip is not None]
    found = [Reviewable(row.clip, verdicts[row.clip.clip_id], row.source) for row in ingested if row.clip.clip_id in verdicts]
    if not found:
        raise UserError(
            f"{plan.RESULTS.absolute()}: no clips that the filter has judged; run `snakemake dataset` in this folder first, or go "
            "to the folder where it ran, and name its configuration with --config"
        )
    if len(found) < len(ingested):
        LOG.warning(
            "%d clips are left out: the filter has not judged them yet; run `snakemake dataset` again", len(ingested) - len(found)
        )
    return found


def _of_buckets(stage: str, kind: type[R], buckets: int) -> list[R]:
    """The rows of a stage; an error where the run had more buckets than are known here, since some clips would be left out."""
    there = sorted((plan.RESULTS / stage).glob("*.jsonl"))
    others = [path for path in there if path.stem not in {f"{number:02d}" for number in range(buckets)}]
    if others:
        raise UserError(
            f"{others[0].absolute()}: is of a run with more than {buckets} buckets; name its configuration with --config"
        )
    return [row for path in there for row in read_rows(path, kind)]


def make_review(found: Iterable[Reviewable], decisions: Mapping[str, Decision], out: Path) -> Path:
    """Write the folder; it appears whole or not at all.

    Args:
        decisions: that hold by now; the page starts from those about these very cuts.

    Returns:
        Its page. Clips of which the filter is least sure come first; a clip whose video cannot be read is shown without pictures.

    Raises:
        UserError: something is there already.
    """
    ordered = sorted(found, key=lambda one: (-one.doubt, one.clip.clip_id))
    with new_folder(out, "so that no sheet that somebody works on is lost") as draft:
        for folder in ("sheets", "media", "assets"):
            (draft / folder).mkdir()
        for resources, names in ASSETS:
            for name in names:
                shutil.copyfile(resources / name, draft / "assets" / name)
        shown = [_shown(one, decisions.get(one.clip.clip_id), draft) for one in ordered]
        data = {
            "sheet": digest_of([[one.clip.clip_id, cut_of(one.clip)] for one in ordered])[:12],
            "columns": COLUMNS,
            "clips": shown,
        }
        page = environment(RESOURCES).get_template("review.html.j2").render(data=data, count=len(shown))
        (draft / "index.html").write_text(page, encoding="utf-8")
    return Path(out) / "index.html"


def _shown(one: Reviewable, decision: Decision | None, folder: Path) -> dict[str, Any]:
    """What the page knows of a clip."""
    clip = one.clip
    fault = ""
    try:
        draw_sheet(clip, folder / "sheets" / f"{clip.clip_id}.jpg", folder / "sheets" / f"{clip.clip_id}.small.jpg")
        place(clip.mp4, folder / "media" / f"{clip.clip_id}.mp4")
    except UserError as error:
        LOG.error("%s", error)
        fault = str(error)
    stands = decision is not None and decision.cut == cut_of(clip)
    return {
        "id": clip.clip_id,
        "cut": cut_of(clip),
        "category": f"{clip.category} · {CATEGORIES[clip.category]}",
        "filter": one.verdict.decision,
        "chance": None if one.chance is None else round(one.chance, 3),
        "reasons": one.verdict.reasons,
        "seconds": round(clip.frames / FPS, 2),
        "size": f"{clip.width_px}×{clip.height_px}",
        "licence": clip.licence,
        "source": one.source,
        "fault": fault,
        "given": decision.model_dump(mode="json", include={"decision", "who", "decided_at", "note"})
        if decision and stands
        else None,
    }


def draw_sheet(clip: Clip, jpeg: Path, small: Path) -> None:
    """A contact sheet: twelve frames at equal steps, from left to right, then downwards; and a small picture of the middle one.

    The sheet of any clip fits a screen: of upright frames there are more columns, and a frame that is more than twice as high as
    wide is made smaller.

    Raises:
        VideoError: the video cannot be read.
    """
    tiles = [_frame(clip, frame) for frame in sorted(set(midpoints(TILES, clip.frames)))]
    across = ACROSS if clip.width_px >= clip.height_px else ACROSS_UPRIGHT
    width_px = (SHEET_WIDTH_PX - (across - 1) * GAP_PX) // across
    height_px = min(max(round(width_px * clip.height_px / clip.width_px), 1), 2 * width_px)
    rows = -(-len(tiles) // across)
    sheet = Image.new("RGB", (SHEET_WIDTH_PX, rows * (height_px + GAP_PX) - GAP_PX), (128, 128, 128))
    for number, tile in enumerate(tiles):
        shown = _within(tile, width_px, height_px)
        corner = (number % across * (width_px + GAP_PX), number // across * (height_px + GAP_PX))
        sheet.paste(shown, (corner[0] + (width_px - shown.width) // 2, corner[1] + (height_px - shown.height) // 2))
    sheet.save(jpeg, quality=80, optimize=True)
    _within(tiles[len(tiles) // 2], SMALL_WIDTH_PX, 2 * SMALL_WIDTH_PX).save(small, quality=75, optimize=True)


def _within(picture: Image.Image, width_px: int, height_px: int) -> Image.Image:
    """A picture in the largest size that fits, but of at least one pixel each way."""
    scale = min(width_px / picture.width, height_px / picture.height)
    size = [min(max(round(length * scale), 1), most) for length, most in zip(picture.size, (width_px, height_px), strict=True)]
    return picture.resize(tuple(size), Image.Resampling.LANCZOS)


def _frame(clip: Clip, frame: int) -> Image.Image:
    for _, rgb in video.read_frames(clip.mp4, frame, frame + 1):
        return Image.fromarray(rgb)
    raise VideoError(f"{clip.mp4}: has no frame {frame}, though its clip says {clip.frames} frames")
