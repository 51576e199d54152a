"""Proposers draft annotations. A module has `load(settings) -> Proposer`.

One that asks a hosted model says `ASKS = True`, has `settings.endpoint` and `questions_expected(clip)`, and gives proposals: a
segmenter finds the boxes from their prompts, in a job that needs no network. The others give annotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from codecap import registry
from codecap.records import Annotation, Clip, Proposal

if TYPE_CHECKING:
    from codecap.exchange import Question

FAMILY = "annotate.proposers"


class Proposer(Protocol):
    protocol: str

    def propose(self, clip: Clip) -> Annotation:
        """Objects with their boxes in every frame, and focal points with their intervals. The video is streamed."""
        ...


class AskingProposer(Protocol):
    protocol: str

    def propose(self, clip: Clip) -> Proposal:
        """Objects with prompts on some of their frames, and focal points. Within an open session of the exchange."""
        ...

    def questions_expected(self, clip: Clip) -> list[Question]:
        """What will be asked about a clip, with blank pictures, to tell what it costs."""
        ...


def asks(config: Mapping[str, Any]) -> bool:
    """Whether the configured proposer asks a hosted model; its module is not loaded. One that is not there does not."""
    name = config["proposer"]
    return name in registry.available(FAMILY) and bool(registry.said(FAMILY, name, "ASKS", default=False))
