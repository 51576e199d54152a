"""A drawn clip whose objects are known, and a scripted model that annotates it rightly, or with named spoilings."""

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from codecap.clock import FPS
from codecap.records import Clip
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX, FRAMES = 320, 180, 72
FAULTS_TOLD = "these things were wrong with it"


def ball(frame: int) -> tuple[int, int, int, int]:
    """Rests, slides right by 4 px a frame from frame 25 to 48, rests."""
    left = 20 + 4 * min(max(frame - 24, 0), 24)
    return left, 60, left + 32, 92


def sign(frame: int) -> tuple[int, int, int, int] | None:
    """Is suddenly there at frame 40."""
    return (220, 20, 300, 50) if frame >= 40 else None


BOXES: dict[str, Callable[[int], Any]] = {"ball": ball, "sign": sign}


def film(mp4) -> Clip:
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(FRAMES):
            rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 235, np.uint8)
            for box, colour in ((ball(frame), (220, 40, 40)), (sign(frame), (40, 60, 200))):
                if box is not None:
                    x0, y0, x1, y1 = box
                    rgb[y0:y1, x0:x1] = colour
            writer.add(rgb)
    return Clip(
        clip_id="T_001",
        category="F",
        mp4=mp4,
        sha256=file_sha256(mp4),
        frames=FRAMES,
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
    )


FIRST: dict[str, Any] = {
    "objects": [
        {
            "name": "ball",
            "description": "A red square at half height",
            "visible": [{"first_s": 0.0, "last_s": 2.5}],
            "frames_s": [0.5, 2.5],
        }
    ],
    "focal_points": [
        {"kind": "dynamic", "description": "The ball slides left", "start_s": 1.1, "end_s": 1.9, "objects": ["ball"]},
        {"kind": "static", "description": "A red square on light grey", "start_s": 0.0, "end_s": 1.2, "objects": ["ball"]},
    ],
}
SECOND: dict[str, Any] = {
    "criticism": ["It slides right.", "The sign is missing."],
    "objects": [
        FIRST["objects"][0],
        {
            "name": "sign",
            "description": "A blue bar at the top right",
            "visible": [{"first_s": 2.0, "last_s": 2.5}],
            "frames_s": [2.0],
        },
    ],
    "focal_points": [
        {"kind": "dynamic", "description": "The ball slides right", "start_s": 1.1, "end_s": 1.9, "objects": ["ball"]},
        {"kind": "static", "description": "A red square on light grey", "start_s": 0.0, "end_s": 1.2, "objects": ["ball"]},
        {"kind": "dynamic", "description": "The sign appears at once", "start_s": 1.5, "end_s": 2.0, "objects": ["sign"]},
    ],
}


def mark(name: str, time_s: float) -> dict[str, Any]:
    box = BOXES.get(name, ball)(round(time_s * FPS))
    if box is None:
        return {"name": name, "time_s": time_s, "shown": False, "box": dict.fromkeys(("x0", "y0", "x1", "y1"), 0)} | {
            "positive": [],
            "negative": [],
        }
    x0, y0, x1, y1 = box[0] / WIDTH_PX, box[1] / HEIGHT_PX, box[2] / WIDTH_PX, box[3] / HEIGHT_PX
    told = {side: round(1000 * value, 1) for side, value in (("x0", x0), ("y0", y0), ("x1", x1), ("y1", y1))}
    middle = {"x": round(500 * (x0 + x1), 1), "y": round(500 * (y0 + y1), 1)}
    return {
        "name": name,
        "time_s": time_s,
        "shown": True,
        "box": told,
        "positive": [middle],
        "negative": [{"x": 10, "y": 10}],
    }


def marks(asked: str) -> dict[str, Any]:
    """What a right answer marks: each object on the frames that name it."""
    frames = re.findall(r"FRAME at ([\d.]+) s\. Mark on it: ([\w, ]+)", asked)
    return {"marks": [mark(name, float(time_s)) for time_s, names in frames for name in names.split(", ")]}


def step_of(asked: str) -> str:
    """Which question it is: "propose", "criticise" or "places"."""
    if "FRAME at" in asked:
        return "places"
    return "criticise" if "PROPOSAL of another" in asked else "propose"


def seeing(spoil: dict[str, Callable[[dict], Any]] | None = None, for_ever: bool = False) -> Callable[[str], Any]:
    """A model that answers rightly, but for the steps that `spoil` names: there it gives what that makes of its right answer,
    until it is told what was wrong, or for ever."""

    def answer(asked: str) -> Any:
        step = step_of(asked)
        right = copy.deepcopy({"propose": FIRST, "criticise": SECOND}.get(step) or marks(asked))
        if spoil and step in spoil and (for_ever or FAULTS_TOLD not in asked):
            return spoil[step](right)
        return right

    return answer
