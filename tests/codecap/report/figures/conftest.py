"""The made-up benchmark of 16 systems and 40 clips, whose numbers are known, and its figures, drawn once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "compare"))  # the package `sixteen`

from sixteen import comparing, rows

from codecap.compare.comparison import Agreement, AgreementRow, Interval, ScoreSet, VideoPair
from codecap.publish.statistics import statistics_of
from codecap.report.figures import draw_all


def agreement() -> Agreement:
    """Two judges on two systems, one a floor."""
    told = (("a01", "A_01", 80, 90), ("a01", "A_02", 60, 50), ("a02", "A_01", 70, 75), ("blank", "A_01", 0, 0))
    both = {"first": "retention", "second": "people", "kind": "overall"}
    videos = [VideoPair(system=name, clip_id=clip, first_value=x, second_value=y, points=4, **both) for name, clip, x, y in told]
    numbers = {"first_mean": Interval(value=70), "second_mean": Interval(value=71.7), "spearman": Interval(value=1.0)}
    pearson = Interval(value=0.942, low=0.9, high=0.97)
    row = AgreementRow(system=None, level="video", n=3, clips=2, pearson=pearson, **both, **numbers)
    sets = [ScoreSet(name="retention", label="Judge $x$ retention", points=16), ScoreSet(name="people", label="People", points=16)]
    return Agreement(sets=sets, rows=[row], videos=videos)


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    made = comparing.compare(tmp_path_factory.mktemp("compared"), resamples=200).made
    return made.model_copy(update={"agreement": agreement()})


@pytest.fixture(scope="session")
def counted(compared):
    return statistics_of(compared.clips, {row.clip_id: row for row in rows.annotations()})


@pytest.fixture(scope="session")
def folder(compared, counted, tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("drawn") / "figures"
    draw_all(compared, counted, made)
    return made
