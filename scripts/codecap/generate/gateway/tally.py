"""What a run has used of its model, what stopped it, and what went wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from codecap.records import Row, Usage

StoppedBy = Literal["usd", "calls", "rounds", "deadline", "store budget", "not recorded", "process"]

NOT_TOLD = "not told"  # an effort that a request leaves to the model


@dataclass(frozen=True)
class Limits:
    """A run's limits; None for none. Each is looked at before a request is passed on: what is under way may end.

    Attributes:
        usd: nothing more is passed on once the answers have cost so much; the last one may go beyond it.
        calls: requests to the model that are passed on or replayed, failed ones too.
        rounds: answers of the model.
    """

    usd: Decimal | None = None
    calls: int | None = None
    rounds: int | None = None


class Tally(Row):
    """What became of a run's requests, replayed ones included.

    Attributes:
        usage: tokens of all answers as the provider bills them.
        rounds: whole answers of the model.
        cost_usd: what they cost by the price table of their days; None when the model has no price.
        model_s: seconds from the first byte of a request to the last of its answer, summed over the answers.
        calls: requests for an answer that were passed on or replayed; `rounds` of them were answered.
        paid, replayed: answers that were bought now, and that came from the records.
        unmetered: answers that did not say their tokens; they are not in `usage` and `cost_usd`.
        lost: requests whose end is not known (cut or timed out); they may have been billed.
        lost_usd: most that these are likely to have cost.
        token_counts: free requests that count tokens.
        refused: requests that the policy kept back, by what they were.
        requests_refused: how many these were.
        rejected: requests that the provider did not take as they were (too long, malformed, filtered), by its words.
        filtered: those among them that a filter of the provider kept back.
        ended_by_refusal: the model, or a filter over what it said, refused in the last answer.
        faults: failures of the network or the provider, by what they were: no fault of the model or the agent.
        ended_by_fault: the last one, in words, where no answer came after it: the run cannot be held against the model. None where
            the run had answers and went on to its deadline all the same, unless the fault had lasted five minutes then. Also why
            the provider took no request at all, for another reason than a filter, or answered none before the deadline.
        stopped_by: which limit was met; requests after it got an error. None for none.
        stopped_told: the same in words.
        efforts_seen: how much the requests asked the model to think: level or tokens -> requests.
        effort_told: what the endpoint's entry says; None where it leaves it to the harness.
        routes: requests on extra routes.
    """

    usage: Usage = Usage()
    rounds: int = 0
    cost_usd: float | None = 0.0
    model_s: float = 0.0
    calls: int = 0
    paid: int = 0
    replayed: int = 0
    unmetered: int = 0
    lost: int = 0
    lost_usd: float = 0.0
    token_counts: int = 0
    refused: dict[str, int] = {}
    requests_refused: int = 0
    rejected: dict[str, int] = {}
    filtered: int = 0
    ended_by_refusal: bool = False
    faults: dict[str, int] = {}
    ended_by_fault: str | None = None
    stopped_by: StoppedBy | None = None
    stopped_told: str = ""
    efforts_seen: dict[str, int] = {}
    effort_told: str | None = None
    routes: dict[str, int] = {}

    @property
    def effort_is_right(self) -> bool:
        """Whether every request asked for the effort that the entry says."""
        return self.effort_told is None or set(self.efforts_seen) <= {self.effort_told}

    @property
    def infrastructure_failed(self) -> str | None:
        """Why the run's end is no failure of the model, in words; None when it may be held against it."""
        if self.stopped_by in ("store budget", "not recorded", "process"):
            return self.stopped_told
        return self.ended_by_fault
