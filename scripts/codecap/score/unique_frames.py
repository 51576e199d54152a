"""Unique-frame ratio: how many different pictures a render shows, of all its frames. Frozen output shows as 1/n.

It is the renderer's own count over captured frames, before any encoder has touched them, and says nothing of the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.records import Clip, Row
from codecap.score import Description, Measurement, Shots, Task, Unscored

NAME = "unique_frames"
LABEL = "Unique frames"
UNIT = ""
RANGE = (0.0, 1.0)
HIGHER_IS_BETTER = True
NEEDS: tuple[str, ...] = ()


class Settings(Row):
    """Has no keys."""


def load(settings: Mapping[str, Any]) -> UniqueFrames:
    Settings.model_validate(dict(settings))
    return UniqueFrames()


class UniqueFrames:
    proxy = False
    protocol = "different captured frames / frames"

    def watch_reference(self, clip: Clip, shots: Shots) -> None:  # noqa: ARG002
        return None

    def watch_candidate(self, clip: Clip, shots: Shots, reference: Description) -> None:  # noqa: ARG002
        return None

    def compare(self, reference: Description, candidate: Description, task: Task) -> list[Measurement]:  # noqa: ARG002
        certificate = task.render.certificate
        if certificate is None or certificate.unique_frame_ratio is None:
            raise Unscored("not rendered here: captured frames were not counted")
        return [Measurement(certificate.unique_frame_ratio)]
