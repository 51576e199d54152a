"""A tiny clip with two objects and three focal points, its render, and the retention metric as the lane runs it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codecap.exchange import session
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint, Outcome, Render, Score
from codecap.score import Task
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane
from codecap.score.engine.single import clip_of
from codecap.video import CanonicalWriter

FRAMES, WIDTH_PX, HEIGHT_PX = 60, 96, 64


def scene(k: int, ball: tuple[int, int, int] = (220, 40, 40)) -> np.ndarray:
    """A sign that stands still and a ball that moves a pixel a frame."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 230, np.uint8)
    rgb[4:20, 60:90] = (30, 60, 160)
    rgb[40:56, 2 + k : 18 + k] = ball
    return rgb


def written(mp4: Path, pictures) -> Clip:
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for rgb in pictures:
            writer.add(rgb)
    return clip_of(mp4, mp4.stem)


POINTS = [
    FocalPoint(focal_id="sign", kind="static", description="A blue sign", start_s=0.0, end_s=1.0, objects=["sign"]),
    FocalPoint(focal_id="ball", kind="static", description="A red ball", start_s=0.3, end_s=0.6, objects=["ball"]),
    FocalPoint(focal_id="rolls", kind="dynamic", description="The ball rolls right", start_s=0.5, end_s=2.4, objects=["ball"]),
]


def annotated(clip_id: str, points=POINTS) -> Annotation:
    ball = AnnotatedObject(name="ball", boxes_xyxy=[(2 + k, 40, 18 + k, 56) for k in range(FRAMES)])
    sign = AnnotatedObject(name="sign", boxes_xyxy=[(60, 4, 90, 20)] * FRAMES)
    return Annotation(clip_id=clip_id, objects=[ball, sign], focal_points=list(points))


@dataclass
class Bench:
    """Scores the tiny clip's render by the judge, in a store of its own."""

    task: Task
    root: Path
    exchange: dict

    def rows(self, endpoint: dict, code: str = "c", task: Task | None = None, **settings) -> list[Score]:
        """Rows of one run, as a job makes them. Another `code` finds no score in the store, as after an edit."""
        told = {"judge": "mllm", "judges": {"mllm": {"endpoint": endpoint, **settings}}}
        made = Lane([Choice("retention", told, code)], Choice("shots", {}, "c"), self.root, self.root)
        with session(self.root, self.exchange):
            return made.score(task or self.task)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("tiny")
    clip = written(folder / "T_001.mp4", [scene(k) for k in range(FRAMES)])
    shown = written(folder / "render.mp4", [scene(k, ball=(200, 90, 40)) for k in range(FRAMES)])
    render = Render(system="s", clip_id=clip.clip_id, key=shown.sha256, outcome=Outcome.OK, mp4=shown.mp4)
    return Task(clip, render, [(0, FRAMES)], annotation=annotated(clip.clip_id))


@pytest.fixture
def bench(tiny, tmp_path) -> Bench:
    return Bench(tiny, tmp_path / "store", {"tries": 3, "longest_wait_s": 5})


@pytest.fixture
def expected(tiny) -> Callable[..., list[Score]]:
    """The rows that the points and what was said of them must give."""

    def run(protocol: str, **told: tuple[float | None, str]) -> list[Score]:
        return [
            Score(
                metric="retention",
                system="s",
                clip_id=tiny.clip.clip_id,
                item=point.focal_id,
                kind=point.kind,
                value=told[point.focal_id][0],
                status="unscored" if told[point.focal_id][0] is None else "ok",
                detail=told[point.focal_id][1],
                protocol=protocol,
            )
            for point in tiny.annotation.focal_points
        ]

    return run
