"""A system's page: its numbers, places and differences are those of the comparison."""

from __future__ import annotations

import pytest

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import Column
from codecap.records import Outcome
from codecap.report.pages import told
from codecap.report.system_page import context, signed

FINE = Column(name="kss", metric="kss", label="KSS", lowest=-1, highest=1, higher_is_better=True)


def of(run, name: str, **changes: object) -> dict:
    comparison = run.comparison.model_copy(update=changes)
    return context(comparison, next(system for system in comparison.systems if system.name == name), {})


def lines(found: dict) -> dict:
    return {line.column.name: line for _, of_section in found["sections"] for line in of_section}


def test_numbers_and_places(run) -> None:
    found = lines(of(run, "vtrace"))
    row = next(row for row in run.comparison.main if row.system == "vtrace")
    assert list(found) == [column.name for column in run.comparison.columns]
    for name, line in found.items():
        assert line.cell.text == told(row.cells[name].mean, line.column)
    means = [
        row.cells["kss"].mean for row in run.comparison.main if row.system in ("atlas", "vtrace", "hostile")  # its group
    ]  # fmt: skip
    assert found["kss"].place[0] == f"{1 + sum(mean > row.cells['kss'].mean for mean in means)} of 3"
    assert found["lag"].place == ("", "")  # it ranks nobody
    assert lines(of(run, "reference"))["kss"].place == ("", "")  # alone in its group


def test_the_difference_to_the_best(run) -> None:
    difference = next(found for found in run.comparison.differences if (found.system, found.column) == ("vtrace", "kss"))
    against = lines(of(run, "vtrace"))["kss"].against
    assert against.startswith(signed(difference.mean, FINE)) and "against Atlas 2 (single)" in against
    assert ("not separated" in against) == (not difference.separated)
    assert lines(of(run, "atlas"))["kss"].against == ""  # it is the best


def test_outcomes_are_told_with_their_clips(run) -> None:
    (first, second) = of(run, "hostile")["outcomes_of"]
    assert {first["outcome"], second["outcome"]} == {Outcome.RUNTIME_ERROR, Outcome.MISSING_SEEK}
    assert [task.clip_id for task in first["tasks"]] == ["A_000"]
    assert of(run, "still")["outcomes_of"] == []


def test_what_captions_took(run) -> None:
    took = {line.label: line for line in of(run, "atlas_agent")["took"]}
    assert (took["Cost"].mean, took["Cost"].total, took["Cost"].n) == ("0.1200", "0.60", 5)
    assert (took["Time"].mean, took["Rounds"].median, took["Tokens"].total) == ("0.5", "7.0", "102,000")
    assert "input, read from cache" not in took  # none was
    assert "Tool calls" not in took
    assert of(run, "vtrace", spent=[])["took"] == []


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [(0.0004, FINE, "0.000"), (-0.0004, FINE, "0.000"), (-0.0006, FINE, "−0.001"), (12.34, SUCCESS, "+12.3"), (None, SUCCESS, "–")],
)
def test_differences_carry_their_sign(value: float | None, column: Column, text: str) -> None:
    assert signed(value, column) == text


def test_neighbours(run) -> None:
    first, last = of(run, "atlas_agent"), of(run, "reference")
    assert (first["before"], first["after"].name) == (None, "borea_agent")
    assert (last["before"].name, last["after"]) == ("blank", None)
