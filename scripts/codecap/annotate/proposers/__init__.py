"""Proposers draft annotations. A module has `load(settings) -> Proposer`.

One that asks a hosted model says `ASKS = True`, has `settings.endpoint` and `questions_expected(clip)`, and gives proposals: a
segmenter finds the boxes from their prompts, in a job that needs no network. The others give annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from codecap import registry
from codecap.records import Annotation, Clip, Proposal

if TYPE_CHECKING:
    from codecap.exchange import Question

FAMILY = "annotate.proposers"
PACKAGE = f"codecap.{FAMILY}"


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


def drafted_by(config: Mapping[str, Any], segmenter: Mapping[str, Any] | None, digest_of: Callable[[str], str]) -> dict[str, Any]:
    """What makes the drafts, and its code: the configured proposer, or, where that asks a model, what follows its marks.

    Args:
        segmenter: of the scores, as the rules name it.
        digest_of: of a module's code.
    """
    if asks(config):
        return {"segmenter": segmenter, "code": digest_of("codecap.annotate.following")}
    name = config["proposer"]
    return {"proposer": name, "settings": config["proposers"].get(name, {}), "code": digest_of(f"{PACKAGE}.{name}")}
