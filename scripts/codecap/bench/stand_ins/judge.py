"""Judge `stand_in`: points by a digest of what is judged. Settings: `endpoint`, of a model to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecap.bench.stand_ins.asking import ask_about
from codecap.bench.stand_ins.metric import share_of
from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.records import Clip, FocalPoint
from codecap.score import Description, Task, Unreached
from codecap.score.judges import BEST, Judgement


def load(settings: Mapping[str, Any]) -> StandIn:
    return StandIn(**settings)


@dataclass(frozen=True)
class StandIn:
    endpoint: Mapping[str, Any] | None = None
    protocol: str = "stand-in"
    proxy: bool = True

    def watch(self, clip: Clip) -> None:  # noqa: ARG002
        return None

    def judge(
        self,
        points: Sequence[FocalPoint],
        task: Task,
        reference: Description,  # noqa: ARG002
        candidate: Description,  # noqa: ARG002
    ) -> list[Judgement]:
        system, clip_id = task.render.system, task.clip.clip_id
        try:
            with item("judge", system, clip_id):
                ask_about(self.endpoint, "focal points", system, clip_id)
                return [
                    Judgement(round(share_of(system, clip_id, point.focal_id) * BEST), "said by a stand-in, which looks at nothing")
                    for point in points
                ]
        except Unreachable as why:
            raise Unreached(str(why)) from why
