"""What is known of jobs, by the digest of what was ordered: recorded with the exchanges, a record for each thing that happens.

    submitting    an order is about to be sent; its `token` names the try
    not begun     it did not arrive, or the service took no job of it
    submitted     the service has a job of it, `job` is the service's id
    failed        the service has ended it without a video
    lost          the service does not know it any more
    gone          it is done, and its file cannot be had or read; the next run tries again

That a job is done is told by the record of its answer, which has the digest itself as its name, as those of all answers.
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from typing import Any, Literal

from codecap.exchange import Exchange
from codecap.exchange.recorded import FREE

What = Literal["submitting", "not begun", "submitted", "failed", "lost", "gone"]
ORDER: tuple[What, ...] = (  # of one try, where the clock does not tell
    "submitting",
    "not begun",
    "submitted",
    "failed",
    "lost",
    "gone",
)
EVENTS = f".job{FREE}"  # ends the names of these records: none of them costs anything


@dataclass(frozen=True)
class Try:
    """One try to have a job done.

    Attributes:
        what: the last thing that is known of it.
        began: seconds of the clock.
    """

    token: str
    what: What
    began: float
    job: str = ""


class JobLog:
    """The records of the jobs of one order."""

    def __init__(self, exchange: Exchange, digest: str) -> None:
        self._exchange, self._name = exchange, digest + EVENTS

    def tries(self) -> list[Try]:
        """In the order of their begin; what other processes have just written included."""
        events = [json.loads(payload) for payload in self._exchange.records.read(self._name)]
        found: dict[str, Try] = {}
        for event in sorted(events, key=lambda told: (told["time"], ORDER.index(told["what"]))):
            before = found.get(event["token"])
            began = before.began if before else event["time"]
            job = event.get("job") or (before.job if before else "")
            found[event["token"]] = Try(event["token"], event["what"], began, job)
        return list(found.values())

    def begin(self, token: str | None = None) -> str:
        """An order is about to be sent; it is on the disk when this returns.

        Args:
            token: of the try that is made again.

        Returns:
            The try's token.
        """
        token = token or uuid.uuid4().hex
        self.note(token, "submitting")
        return token

    def note(self, token: str, what: What, **told: Any) -> None:
        event = {"time": round(time.time(), 3), "token": token, "what": what, **told}
        text = self._exchange.redact(json.dumps(event, ensure_ascii=False))
        self._exchange.records.append(self._name, text.encode("utf-8", "replace"))
