"""Why tasks failed, worked out by hand."""

import pytest

from codecap.compare.causes import causes_of
from codecap.compare.comparison import System, TaskEntry
from codecap.records import Outcome


def system(name: str, group: str = "agentic") -> System:
    return System(name=name, label=name, heading=name, group=group)


def tasks(name: str, **outcomes: int) -> list[TaskEntry]:
    return [
        TaskEntry(system=name, clip_id=f"A_{outcome}_{number}", outcome=Outcome(outcome), values={}, states={})
        for outcome, count in outcomes.items()
        for number in range(count)
    ]


ENTRIES = [
    *tasks("a", ok=5, no_complete_html=1, generation_timeout=2, infra_error=4),
    *tasks("b", ok=9, render_timeout=1),
    *tasks("blank", missing_seek=3),
]
SYSTEMS = [system("a"), system("b", "non_agentic"), system("blank", "floor")]


def test_shares_are_of_the_failed_tasks_and_the_rate_is_of_those_that_we_did_not_fail_at():
    a, b, blank, together = causes_of(SYSTEMS, ENTRIES)
    assert (a.system, a.tasks, a.failed, a.rate_percent) == ("a", 8, 3, 37.5)
    assert [(cause.outcome, cause.count, cause.share_percent) for cause in a.causes] == [
        (Outcome.GENERATION_TIMEOUT, 2, pytest.approx(200 / 3)),
        (Outcome.NO_COMPLETE_HTML, 1, pytest.approx(100 / 3)),
    ]
    assert (b.tasks, b.failed, b.rate_percent) == (10, 1, 10.0)
    assert blank.failed == 3
    assert (together.system, together.tasks, together.failed) == (None, 18, 4)  # floors are no systems
    assert together.rate_percent == pytest.approx(400 / 18)
    assert [(cause.outcome, cause.share_percent) for cause in together.causes] == [
        (Outcome.GENERATION_TIMEOUT, 50.0),
        (Outcome.NO_COMPLETE_HTML, 25.0),  # of equals, in the order of the outcomes
        (Outcome.RENDER_TIMEOUT, 25.0),
    ]


def test_one_system_is_not_told_twice_and_nothing_is_divided_by_zero():
    (only,) = causes_of([system("a")], tasks("a", infra_error=2))
    assert (only.tasks, only.failed, only.rate_percent, only.causes) == (0, 0, None, [])
    (only,) = causes_of([system("a")], tasks("a", ok=2))
    assert (only.rate_percent, only.causes) == (0.0, [])
