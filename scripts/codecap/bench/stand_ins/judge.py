"""Judge `stand_in`: points by a digest of what is judged. Settings: `endpoint`, of a model to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codecap.bench.stand_ins.asking import Asking
from codecap.bench.stand_ins.metric import share_of
from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.records import Clip, FocalPoint
from codecap.score import Description, Task, Unreached
from codecap.score.judges import BEST, Judgement


def load(settings: Mapping[str, Any]) -> StandIn:
    return StandIn(**settings)


class StandIn(Asking):
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
                self.ask_about("focal points", system, clip_id)
                return [
                    Judgement(round(share_of(system, clip_id, point.focal_id) * BEST), "said by a stand-in, which looks at nothing")
                    for point in points
                ]
        except Unreachable as why:
            raise Unreached(str(why)) from why
