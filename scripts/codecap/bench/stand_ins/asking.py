"""Asking a hosted model about a candidate, as prompters and judges do: recorded, replayed and paid for by the real exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codecap.exchange import Endpoint, NotReached, Question, Text, ask
from codecap.score import Unreached


@dataclass(frozen=True)
class Asking:
    """A stand-in that may ask a model. Settings: `endpoint`, of that model."""

    endpoint: Mapping[str, Any] | None = None
    protocol: str = "stand-in"
    proxy: bool = True

    def ask_about(self, what: str, system: str, clip_id: str) -> None:
        """One question an item; none without an endpoint. The answer is bought, and not read.

        Raises:
            Unreached: there was no answer this time.
        """
        if self.endpoint is None:
            return
        try:
            ask(Endpoint.model_validate(dict(self.endpoint)), Question(parts=(Text(f"{what}: {clip_id} by {system}"),)))
        except NotReached as why:
            raise Unreached(str(why)) from why
