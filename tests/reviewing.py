"""A small data set under review, its server as a process of its own, and the page in a real browser."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from codecap import config as configuration
from codecap.annotate.changes import kept
from codecap.clips_table import write_clips
from codecap.config import PROJECT
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint, write_record
from codecap.review.desk import Desk
from codecap.review.drafts import find
from codecap.review.serving import Ready, make_ready
from codecap.video import CanonicalWriter, file_sha256

FRAMES, WIDTH_PX, HEIGHT_PX = 72, 320, 180
CODE_BITS, CODE_PX = 7, 20  # blocks along the lower edge, the lowest bit first: white is 1
PLACES = {"slider": (20, 30, 70, 60), "panel": (200, 20, 300, 80), "badge": (220, 30, 250, 50)}
PATIENCE_S = 120


def box_of(name: str, frame: int) -> tuple[float, float, float, float]:
    """Where an object is drawn: the slider goes a pixel a frame to the right, the others rest."""
    shift = frame if name == "slider" else 0
    x0, y0, x1, y1 = PLACES[name]
    return (x0 + shift, y0, x1 + shift, y1)


def draw(frame: int) -> np.ndarray:
    """uint8 RGB `(HEIGHT_PX, WIDTH_PX, 3)`: the objects on flat ground, the frame's number below."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 235, np.uint8)
    for name, colour in zip(PLACES, [(30, 120, 200), (220, 120, 40), (40, 170, 120)], strict=True):
        x0, y0, x1, y1 = (int(side) for side in box_of(name, frame))
        rgb[y0:y1, x0:x1] = colour
    for bit in range(CODE_BITS):
        rgb[-CODE_PX:, bit * CODE_PX : (bit + 1) * CODE_PX] = 255 if frame >> bit & 1 else 0
    return rgb


def drafted(clip_id: str, objects: int = 3, points: int = 2) -> Annotation:
    """Objects and focal points that a machine drafted; those beyond the drawn ones lie over these."""
    names = [*PLACES, *(f"part_of_the_panel_{number}" for number in range(objects - len(PLACES)))]
    places = [name if name in PLACES else "panel" for name in names]
    return Annotation(
        clip_id=clip_id,
        proposer="embedded 1",
        objects=[
            AnnotatedObject(
                name=name,
                description=f"The {name.replace('_', ' ')}, number {number} of them",
                visible_s=[(0, 3)],
                boxes_xyxy=[box_of(place, frame) for frame in range(FRAMES)],
            )
            for number, (name, place) in enumerate(zip(names, places, strict=True))
        ],
        focal_points=[
            FocalPoint(
                focal_id=f"p{number}",
                kind=("static", "dynamic")[number % 2],
                description=f"What is to be seen {('in the upper corner', 'where the slider goes')[number % 2]}, part {number}",
                start_s=number * 0.25,
                end_s=number * 0.25 + 1,
                objects=[("panel", "slider")[number % 2]],
            )
            for number in range(points)
        ],
    )


@dataclass
class Project:
    """Clips, drafts and a configuration in a folder; servers are started on it."""

    folder: Path
    running: list[subprocess.Popen] = field(default_factory=list)
    opened: list[tuple[Ready, threading.Thread]] = field(default_factory=list)

    @property
    def stage(self) -> Path:
        return self.folder / "results" / "3_annotate"

    @property
    def approved(self) -> Path:
        return self.folder / "annotations"

    def journal(self, clip_id: str, who: str) -> list[dict]:
        path = self.folder / "reviews" / clip_id / f"{who}.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def open(self, who: str = "Ada") -> str:
        """The address of a server in a thread of this process, which costs far less than one of its own."""
        table = {"clips": str(self.stage / "clips.tsv"), "clips_folder": None}
        config = configuration.load(PROJECT / "config" / "demo.yaml", self.folder / "mine.yaml", overrides=table)
        addresses: list[str] = []
        ready = make_ready(Desk(config, find(config, self.stage / "annotations"), who), 0, addresses.append)
        self.opened.append((ready, threading.Thread(target=ready.run, daemon=True)))
        self.opened[-1][1].start()
        return addresses[0]

    def serve(self, who: str = "Ada", port: int = 0) -> tuple[subprocess.Popen, str]:
        """A server as a process of its own, and the address that it prints."""
        command = [sys.executable, "-m", "codecap", "review", "--config", "mine.yaml", "--who", who, "--port", str(port)]
        paths = os.pathsep.join([str(PROJECT / "scripts"), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(command, cwd=self.folder, env=environment, **told)
        self.running.append(process)
        return process, printed_address(process)

    def stop(self) -> None:
        for ready, thread in self.opened:
            ready.server.should_exit = True
            thread.join(PATIENCE_S)
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)
            process.stdout.close()


def printed_address(process: subprocess.Popen) -> str:
    """The address that a server prints; one that says nothing is killed, which ends its output."""
    said = []
    patience = threading.Timer(PATIENCE_S, process.kill)
    patience.start()
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"http://\S+token=\S+", line):
            patience.cancel()
            return found[0]
    raise AssertionError("no address was printed:\n" + "".join(said))


def make_project(folder: Path, drafts: list[Annotation], twice: float) -> Project:
    project, clips = Project(folder), []
    mp4 = folder / "clip.mp4"  # all show the same
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(FRAMES):
            writer.add(draw(frame))
    for draft in drafts:
        size = {"frames": FRAMES, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
        clips.append(Clip(clip_id=draft.clip_id, category="A", mp4=mp4, sha256=file_sha256(mp4), **size))
        write_record(project.stage / "annotations" / f"{draft.clip_id}.json", draft)
        kept(clips[-1], folder / "store")  # as the proposer leaves it
    write_clips(project.stage / "clips.tsv", clips)
    settings = {
        "annotations_folder": str(folder / "annotations"),
        "review": {"folder": str(folder / "reviews"), "twice": twice},
        "store": {name: str(folder / "store") for name in ("durable", "bulk")},
        "metrics": {"object_iou": {"lane": "cpu", "prompter": "match", "segmenter": "color"}},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return project


class Reviewer:
    """A person's browser: its tabs share one cookie. Complaints of a page fail the test, but for those that are expected."""

    def __init__(self, browser, address: str, **more: object) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **more})
        self.context.set_default_timeout(PATIENCE_S * 1000)
        self.base = re.match(r"http://[^/]+", address)[0]
        self.complaints: list[str] = []
        self.enter(address)

    def enter(self, address: str) -> None:
        """Open the address that a server printed."""
        tab = self.context.new_page()
        tab.goto(address)
        tab.wait_for_selector("#queue-rows tr")
        tab.close()

    def tab(self, clip_id: str):
        tab = self.context.new_page()
        tab.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        tab.on("request", lambda asked: None if asked.url.startswith((self.base, "data:")) else self.complaints.append(asked.url))
        self.open(tab, clip_id)
        return tab

    def open(self, tab, clip_id: str) -> None:
        tab.goto(f"{self.base}/clip/{clip_id}")
        rests_on(tab, 0)

    def close(self, expected: str = r"(?!)") -> None:
        self.context.close()
        assert [told for told in self.complaints if not re.search(expected, told)] == []


def rests_on(page, frame: int) -> None:
    page.locator("#clock", has_text=f"frame {frame} ·").wait_for()


def saved(page) -> None:
    page.locator("#saving[data-state=saved]").wait_for()


def code(page) -> int:
    """The frame number to be seen in the picture."""
    picture = np.asarray(Image.open(io.BytesIO(page.locator("#picture").screenshot())).convert("L"))
    scale = picture.shape[1] / WIDTH_PX
    y = picture.shape[0] - int(CODE_PX / 2 * scale)
    bits = [picture[y, int((bit + 0.5) * CODE_PX * scale)] > 127 for bit in range(CODE_BITS)]
    return sum(bool(value) << bit for bit, value in enumerate(bits))


def state(page, clip_id: str) -> dict:
    """What the server has of a clip."""
    return page.evaluate("clip => fetch(`/api/clips/${clip}`).then((answer) => answer.json())", clip_id)


def object_of(page, clip_id: str, name: str) -> dict:
    return next(item for item in state(page, clip_id)["annotation"]["objects"] if item["name"] == name)


def mouse(page, path: list[tuple[float, float]]) -> None:
    """Press at the first place of the picture, in the clip's pixels, drag along the others, release."""
    around = page.locator("#picture").bounding_box()
    scale = around["width"] / WIDTH_PX
    on_screen = [(around["x"] + x * scale, around["y"] + y * scale) for x, y in path]
    page.mouse.move(*on_screen[0])
    page.mouse.down()
    for place in on_screen[1:]:
        page.mouse.move(*place, steps=3)
    page.mouse.up()


def choose(page, kind: str, key: str) -> None:
    page.click(f'.row[data-kind="{kind}"][data-key="{key}"] .gutter')
