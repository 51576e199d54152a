"""What the review page costs a person in waiting: a long, large clip with many objects, on the real page in the headless browser.

The clip is drawn, true boxes of all its objects are the draft, and `codecap review` serves it. Times are taken in the page: of a
step, from the key to the picture of the frame that it asked for.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml

from codecap.clips_table import write_clips
from codecap.clock import FPS, time_of
from codecap.records import AnnotatedObject, Annotation, Box, Clip, FocalPoint, write_record
from codecap.render.browser import find_browser
from codecap.video import CanonicalWriter, file_sha256

CLIP = "A_bench"
STEPS = 60
PAUSE_MS = 60  # between two steps: a key that is held repeats about 30 times a second, a finger does far fewer
POINTS = 9
LIMIT_MS = 60_000
WATCH = """() => {
  window.waits = [];
  let asked = null;
  addEventListener("keydown", () => { asked = performance.now(); }, true);
  new MutationObserver(() => {
    if (asked !== null) requestAnimationFrame(() => { window.waits.push(performance.now() - asked); asked = null; });
  }).observe(document.querySelector("#clock"), { childList: true, characterData: true, subtree: true });
}"""


@dataclass(frozen=True)
class Waits:
    """Times in milliseconds.

    Attributes:
        load: from opening the clip's address to its first frame with all objects, as the server's first task.
        load_again: the same once more.
        steps_on, steps_back: medians of single steps.
        steps_p95, steps_most: of both together.
        jump: median of going a second on at once.
        save: from a decision's key until the page says that it is saved.
    """

    load: float
    load_again: float
    steps_on: float
    steps_back: float
    steps_p95: float
    steps_most: float
    jump: float
    save: float


def measure(seconds: int, width_px: int, height_px: int, objects: int, steps: int = STEPS) -> Waits:
    """Draw the clip, serve it and use the page.

    Args:
        steps: on, and as many back.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as scratch:
        folder = Path(scratch)
        make_project(folder, seconds * FPS, width_px, height_px, objects)
        with _serving(folder) as address:
            return _in_browser(address, steps, seconds)


def make_project(folder: Path, frames: int, width_px: int, height_px: int, objects: int) -> None:
    """A data set of one clip with its draft, as `snakemake dataset` leaves it, and a configuration `mine.yaml`."""
    mp4 = folder / "clips" / f"{CLIP}.mp4"
    draw(mp4, frames, width_px, height_px, objects)
    size = {"frames": frames, "width_px": width_px, "height_px": height_px}
    clip = Clip(clip_id=CLIP, category="A", mp4=mp4, sha256=file_sha256(mp4), **size)
    stage = folder / "results" / "3_annotate"
    write_clips(stage / "clips.tsv", [clip])
    write_record(stage / "annotations" / f"{CLIP}.json", draft(frames, width_px, height_px, objects))
    settings = {
        "annotations_folder": str(folder / "annotations"),
        "review": {"folder": str(folder / "reviews"), "twice": 0},
        "store": {"durable": str(folder / "store"), "bulk": str(folder / "store")},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")


def box_of(number: int, frame: int, width_px: int, height_px: int) -> Box:
    """Each object goes to and fro in a lane of its own."""
    lane_px = height_px // 8
    side_px = lane_px * 2 // 3
    way_px = width_px // 5 - side_px
    phase = (frame * (1 + number % 4) / 2 + 37 * number) % (2 * way_px)
    x = (number // 8 % 5) * (width_px // 5) + (phase if phase < way_px else 2 * way_px - phase)
    y = number % 8 * lane_px + lane_px // 6
    return (float(round(x)), float(y), float(round(x) + side_px), float(y + side_px))


def draw(mp4: Path, frames: int, width_px: int, height_px: int, objects: int) -> None:
    ground = np.full((height_px, width_px, 3), (238, 240, 246), np.uint8)
    with CanonicalWriter(mp4, width_px, height_px) as writer:
        for frame in range(frames):
            rgb = ground.copy()
            for number in range(objects):
                x0, y0, x1, y1 = (int(side) for side in box_of(number, frame, width_px, height_px))
                rgb[y0:y1, x0:x1] = (37 * number % 200, 91 * number % 200, 151 * number % 200)
            cv2.putText(rgb, f"{frame}", (width_px // 3, height_px - 4), cv2.FONT_HERSHEY_SIMPLEX, height_px / 900, (0, 0, 0), 2)
            writer.add(rgb)


def draft(frames: int, width_px: int, height_px: int, objects: int) -> Annotation:
    whole_s = (0.0, time_of(frames))
    return Annotation(
        clip_id=CLIP,
        objects=[
            AnnotatedObject(
                name=f"shape_{number + 1}",
                description=f"square {number + 1}, which goes to and fro in lane {number % 8 + 1}",
                visible_s=[whole_s],
                boxes_xyxy=[box_of(number, frame, width_px, height_px) for frame in range(frames)],
            )
            for number in range(objects)
        ],
        focal_points=[
            FocalPoint(
                focal_id=f"f{number + 1}",
                kind="dynamic" if number % 2 else "static",
                description=f"what squares do in part {number + 1}",
                start_s=whole_s[1] * number / POINTS,
                end_s=whole_s[1] * (number + 1) / POINTS,
                objects=[f"shape_{number + 1}"],
            )
            for number in range(min(POINTS, objects))
        ],
        proposer="bench",
    )


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """A server of its own process; gives the address that lets a browser in."""
    command = [sys.executable, "-m", "codecap", "review", "--who", "bench", "--port", "0", "--config", folder / "mine.yaml"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        told = ""
        for line in process.stdout or ():
            told += line
            if found := re.search(r"http://\S+token=\S+", line):
                yield found[0]
                return
        raise RuntimeError(f"the review server ended with {process.wait()}: {told[-500:]}")
    finally:
        process.terminate()
        process.wait()


def _in_browser(address: str, steps: int, seconds: int) -> Waits:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), headless=True)
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.set_default_timeout(LIMIT_MS)
        page.goto(f"{address}&clip={CLIP}")
        page.wait_for_url(f"**/clip/{CLIP}")
        _shows(page, 0)
        load = page.evaluate("performance.now()")
        page.reload()
        _shows(page, 0)
        load_again = page.evaluate("performance.now()")
        page.evaluate(WATCH)
        on = _steps(page, "ArrowRight", range(1, steps + 1))
        back = _steps(page, "ArrowLeft", range(steps - 1, -1, -1))
        jumps = _steps(page, "Shift+ArrowRight", range(FPS, min(seconds, 11) * FPS, FPS))
        save = _save(page)
        browser.close()
    both = sorted([*on, *back])
    return Waits(
        load=load,
        load_again=load_again,
        steps_on=statistics.median(on),
        steps_back=statistics.median(back),
        steps_p95=both[int(0.95 * len(both))],
        steps_most=both[-1],
        jump=statistics.median(jumps),
        save=save,
    )


def _shows(page: Any, frame: int) -> None:
    page.locator("#clock", has_text=f"frame {frame} ·").wait_for()


def _steps(page: Any, key: str, frames: range) -> list[float]:
    """Press a key once a frame; how long each picture took."""
    page.evaluate("window.waits.length = 0")
    for frame in frames:
        page.keyboard.press(key)
        _shows(page, frame)
        page.wait_for_timeout(PAUSE_MS)
    return page.evaluate("window.waits")


def _save(page: Any) -> float:
    """Accept the first object by keys, and wait until that is said to be saved."""
    page.click('.row[data-kind="objects"] .gutter')
    before = page.evaluate("performance.now()")
    page.keyboard.press("a")
    page.locator("#saving[data-state=saved]").wait_for()
    return page.evaluate("performance.now()") - before


def as_table(waits: Waits) -> str:
    told = {
        "page load": waits.load,
        "page load, again": waits.load_again,
        "step on, median": waits.steps_on,
        "step back, median": waits.steps_back,
        "steps, 95th of 100": waits.steps_p95,
        "steps, longest": waits.steps_most,
        "a second on, median": waits.jump,
        "decision until saved": waits.save,
    }
    return "\n".join(f"{name:22} {value:8.0f} ms" for name, value in told.items())
