"""Fine-grained visual information retention: how well each focal point of the reference is kept, as a judge sees it.

Source: CodeCap-Bench, section 3.2. A judge gives each focal point an integer from 0 to 5, which counts 20 each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap import registry
from codecap.records import Clip, FocalPoint, Row
from codecap.score import Description, Measurement, Shots, Task, Unscored, Watcher
from codecap.score.judges import Judge, Judgement

NAME = "retention"
LABEL = "Retention"
UNIT = ""
RANGE = (0.0, 100.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ("focal_points",)

WORTH = 20  # of each of the judge's points


class Settings(Row):
    """Keys of the config.

    Attributes:
        judge: plugin of `score/judges`.
        judges: settings of each judge, by name.
    """

    judge: str
    judges: dict[str, dict[str, Any]] = {}


def load(settings: Mapping[str, Any]) -> Retention:
    told = Settings.model_validate(dict(settings))
    return Retention(registry.make("score.judges", told.judge, told.judges.get(told.judge, {})))


class Retention:
    """One measurement a focal point, its kind in `kind`; a point that cannot be judged is unscored, and the others go on."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.proxy = judge.proxy
        self.protocol = f"0-5 x {WORTH}, {judge.protocol}"

    def watch_reference(self, clip: Clip, shots: Shots) -> Watcher | None:  # noqa: ARG002
        return self.judge.watch(clip)

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> Watcher | None:  # noqa: ARG002
        return self.judge.watch(clip)

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:
        if task.annotation is None or not task.annotation.focal_points:
            raise Unscored("the clip has no annotated focal points")
        points = task.annotation.focal_points
        judged = self.judge.judge(points, task, reference, candidate)
        return [measurement_of(point, judgement) for point, judgement in zip(points, judged, strict=True)]


def measurement_of(point: FocalPoint, judgement: Judgement) -> Measurement:
    """A judgement as a row; where the judge was asked several times, `detail` begins with what it gave and their spread."""
    value = None if judgement.points is None else float(judgement.points * WORTH)
    detail = judgement.evidence
    if len(judgement.given) > 1:
        spread = max(judgement.given) - min(judgement.given)
        detail = f"points {', '.join(str(points) for points in judgement.given)}, spread {spread}: {detail}"
    given = judgement.given if len(judgement.given) > 1 else ()
    return Measurement(value, item=point.focal_id, kind=point.kind, detail=detail, given=given)
