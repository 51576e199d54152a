"""The demo data: renders the project's own pages to clips whose exact object boxes are known.

A demo page (`resources/demo/pages/<clip id>.html`) is what a perfect code caption would be: one HTML file, a pure function of time.
It has
    SIZE           [width_px, height_px], both even
    DURATION_S     seconds; a whole number of frames at 24 fps
    LAYERS         what it paints, from back to front: {name: object name or null, draw(context, time_s), clip(context, time_s)?}
    seek(time_s)   paints all layers in order
From the layers `pages/boxes.js`, which is added to the page when it is measured and not before, computes `objects()`: where each
named layer is at the time of the last `seek`, and which box its visible part has.
What only a person can say (what the objects are, which look alike, the focal points) lies beside the page in
`<clip id>.focus.json`; a page without one is a negative, which gets a clip and nothing more.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field, model_validator

from codecap import clips_table, records, video
from codecap.clock import FPS, time_of
from codecap.records import AnnotatedObject, Annotation, Box, Clip, ClipId, FocalPoint, Interval, Review, Row

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SOURCE = "codecap demo page"
LICENCE = "MIT"
CHROMIUM_FLAGS = (
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-gpu",
)


class DemoError(records.RecordError):
    """A demo page or its focus file breaks the contract; the message names the file and what is wrong."""


class FocusObject(Row):
    """What a person says of one object of a page."""

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    rigid: bool  # it moves without turning, scaling or bending, and keeps its look
    twins: list[str] = []  # other objects that look the same


class Focus(Row):
    """The hand-written part of a demo annotation."""

    clip_id: ClipId
    objects: list[FocusObject]
    focal_points: list[FocalPoint]
    reviews: list[Review]

    @model_validator(mode="after")
    def _names_are_known(self) -> Focus:
        known = {item.name for item in self.objects}
        told = {name for item in self.objects for name in item.twins}
        told |= {name for point in self.focal_points for name in point.objects}
        if unknown := sorted(told - known):
            raise ValueError(f"{', '.join(unknown)} is named as a twin or in a focal point but is no object")
        return self


class TruthObject(Row):
    """Where an object is in each frame, from the page itself. Boxes are null when nothing of it can be seen."""

    name: str
    rigid: bool
    twins: list[str] = []
    visible_xyxy: list[Box | None]
    amodal_xyxy: list[Box | None]  # the whole object, also what is hidden or outside the picture; null when it is not there


class Truth(Row):
    """The exact boxes of a demo clip, in canonical pixels, one entry a frame."""

    clip_id: ClipId
    frames: int = Field(ge=1)
    width_px: int = Field(gt=0)
    height_px: int = Field(gt=0)
    objects: list[TruthObject]


def build(folder: Path, names: Sequence[str] | None = None, browser: Path | None = None) -> list[Path]:
    """Render demo pages and write all that follows from them: clips, truth, annotations and the clips table.

    Args:
        folder: the demo folder, with `pages/` in it.
        names: clip ids to build, all pages by default. The table is written anew from all clips that are there.
        browser: a Chromium executable; one is looked for by default.

    Returns:
        The clips written.

    Raises:
        DemoError: no such page, or a page or focus file breaks the contract.
    """
    folder = Path(folder)
    known = page_names(folder)
    names = known if names is None else list(names)
    if unknown := [name for name in names if name not in known]:
        raise DemoError(f"{folder / 'pages'}: no page for {', '.join(unknown)}; there are {', '.join(known)}")
    for part in ("clips", "truth", "annotations"):
        (folder / part).mkdir(exist_ok=True)
    written = []
    with open_browser(browser) as chromium:
        for name in names:
            focus = read_focus(folder, name)
            mp4 = folder / "clips" / f"{name}.mp4"
            boxes = render_page(chromium, folder / "pages" / f"{name}.html", mp4)
            written.append(mp4)
            if focus is not None:
                truth = _truth(focus, boxes, mp4)
                write_compact(folder / "truth" / f"{name}.json", truth)
                write_compact(folder / "annotations" / f"{name}.json", _annotation(focus, truth))
    clips_table.write_clips(folder / "clips.tsv", [_clip(folder, name) for name in known if _is_complete(folder, name)])
    return written


@contextmanager
def open_browser(executable: Path | None = None) -> Iterator[Browser]:
    """A headless Chromium to render pages with; the one that `find_browser` finds by default."""
    from playwright.sync_api import sync_playwright

    if executable is None:
        from codecap.render.browser import find_browser

        executable = find_browser()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(executable), args=list(CHROMIUM_FLAGS))
        try:
            yield chromium
        finally:
            chromium.close()


def page_names(folder: Path) -> list[str]:
    """Clip ids of the pages in a demo folder."""
    return sorted(page.stem for page in (Path(folder) / "pages").glob("*.html"))


def read_focus(folder: Path, name: str) -> Focus | None:
    """The focus file of a page, or None when the page is a negative."""
    path = Path(folder) / "pages" / f"{name}.focus.json"
    if not path.exists():
        return None
    focus = records.read_record(path, Focus)
    if focus.clip_id != name:
        raise DemoError(f"{path}: is about {focus.clip_id!r}, not about {name!r}")
    return focus


def read_truth(folder: Path, name: str) -> Truth:
    """The committed truth of a demo clip."""
    return records.read_record(Path(folder) / "truth" / f"{name}.json", Truth)


def render_page(chromium: Browser, page: Path, mp4: Path, without: Sequence[str] = ()) -> dict[str, dict[str, list[Box | None]]]:
    """Render one page to a canonical clip, and measure its objects on the way.

    Args:
        chromium: as `open_browser` gives it.
        without: names of objects that are left out of the picture: the same clip, had they never been in it.

    Returns:
        For each object by name `{"visible_xyxy": boxes, "amodal_xyxy": boxes}`, one box or None a frame.

    Raises:
        DemoError: the page breaks the contract, or its script fails.
    """
    boxes: dict[str, dict[str, list[Box | None]]] = {}
    with _open_page(chromium, page, without) as (tab, frames, (width_px, height_px)):
        draft = mp4.with_name(f".{mp4.name}.draft")
        try:
            with video.CanonicalWriter(draft, width_px, height_px) as writer:
                for frame in range(frames):
                    for name, both in _seek(tab, page, frame).items():
                        for kind, box in both.items():
                            boxes.setdefault(name, {}).setdefault(kind, []).append(tuple(box) if box else None)
                    writer.add(_screenshot(tab))
            draft.replace(mp4)
        finally:
            draft.unlink(missing_ok=True)
    return boxes


def visible_intervals(boxes_xyxy: Sequence[Box | None]) -> list[Interval]:
    """Seconds during which there is a box; the end is when the first frame without it is shown.

    >>> visible_intervals([None] * 12 + [(0, 0, 1, 1)] * 6 + [None])
    [(0.5, 0.75)]
    """
    seen = np.array([box is not None for box in boxes_xyxy])
    edges = np.flatnonzero(np.diff(np.concatenate(([False], seen, [False])).astype(int)))
    return [(time_of(int(start)), time_of(int(stop))) for start, stop in edges.reshape(-1, 2)]


@contextmanager
def _open_page(chromium: Browser, page: Path, without: Sequence[str]) -> Iterator[tuple[Page, int, tuple[int, int]]]:
    """A page ready to be measured, its frame count, and its width and height."""
    context = chromium.new_context(device_scale_factor=1)
    try:
        tab = context.new_page()
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.resolve().as_uri())
        told: dict[str, Any] = tab.evaluate(
            "() => ({size: window.SIZE, duration_s: window.DURATION_S, seek: typeof window.seek,"
            " layers: (window.LAYERS || []).map(layer => layer.name)})"
        )
        if errors or told["seek"] != "function" or not told["size"] or not told["duration_s"]:
            raise DemoError(f"{page}: {'; '.join(errors) or 'has no SIZE, DURATION_S or seek'}")
        frames = told["duration_s"] * FPS
        if abs(frames - round(frames)) > 1e-6:
            raise DemoError(f"{page}: DURATION_S {told['duration_s']} is no whole number of frames at {FPS} fps")
        if unknown := [name for name in without if name not in told["layers"]]:
            raise DemoError(f"{page}: has no object {', '.join(unknown)}")
        width_px, height_px = told["size"]
        tab.set_viewport_size({"width": width_px, "height": height_px})
        tab.evaluate("names => { window.LAYERS = window.LAYERS?.filter(layer => !names.includes(layer.name)); }", list(without))
        tab.add_script_tag(path=page.parent / "boxes.js")
        yield tab, round(frames), (width_px, height_px)
        if errors:
            raise DemoError(f"{page}: {'; '.join(errors)}")
    finally:
        context.close()


def _seek(tab: Page, page: Path, frame: int) -> dict[str, dict[str, list[float] | None]]:
    """Bring the page to a frame's time; gives the boxes of its objects then."""
    from playwright.sync_api import Error

    try:
        return tab.evaluate("async s => { await window.seek(s); return window.objects(); }", time_of(frame))
    except Error as error:
        raise DemoError(f"{page}: seek({time_of(frame):.3f}) failed: {error.message.splitlines()[0]}") from error


def _screenshot(tab: Page) -> np.ndarray:
    """What the page shows: uint8 RGB `(height, width, 3)`."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"))


def _truth(focus: Focus, boxes: dict[str, dict[str, list[Box | None]]], mp4: Path) -> Truth:
    if missing := [item.name for item in focus.objects if item.name not in boxes]:
        raise DemoError(f"{focus.clip_id}: the page has no layer {', '.join(missing)}, which the focus file describes")
    info = video.probe(mp4)
    objects = [TruthObject(name=item.name, rigid=item.rigid, twins=item.twins, **boxes[item.name]) for item in focus.objects]
    if unseen := [item.name for item in objects if not any(item.visible_xyxy)]:
        raise DemoError(f"{focus.clip_id}: {', '.join(unseen)} can be seen in no frame")
    return Truth(clip_id=focus.clip_id, frames=info.frames, width_px=info.width_px, height_px=info.height_px, objects=objects)


def _annotation(focus: Focus, truth: Truth) -> Annotation:
    end_s = time_of(truth.frames)
    if late := [point.focal_id for point in focus.focal_points if point.end_s > end_s]:
        raise DemoError(f"{focus.clip_id}: focal point {', '.join(late)} ends after the clip ({end_s} s)")
    return Annotation(
        clip_id=focus.clip_id,
        objects=[
            AnnotatedObject(
                name=item.name,
                description=item.description,
                visible_s=visible_intervals(known.visible_xyxy),
                boxes_xyxy=known.visible_xyxy,
                amodal_xyxy=known.amodal_xyxy,
            )
            for item, known in zip(focus.objects, truth.objects, strict=True)
        ],
        focal_points=focus.focal_points,
        reviews=focus.reviews,
    )


def _is_complete(folder: Path, name: str) -> bool:
    """It is no negative, and it was rendered."""
    return read_focus(folder, name) is not None and (folder / "clips" / f"{name}.mp4").exists()


def _clip(folder: Path, name: str) -> Clip:
    mp4 = folder / "clips" / f"{name}.mp4"
    info = video.probe(mp4)
    return Clip(
        clip_id=name,
        category=name[0],
        mp4=mp4,
        sha256=video.file_sha256(mp4),
        frames=info.frames,
        width_px=info.width_px,
        height_px=info.height_px,
        source=SOURCE,
        licence=LICENCE,
    )


def write_compact(path: Path, record: Row) -> None:
    """One line: a box a line would make long files that nobody reads either."""
    records.write_whole(path, [record.model_dump_json() + "\n"])
