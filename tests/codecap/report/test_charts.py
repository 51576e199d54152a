"""Where plots put their marks, by hand."""

from __future__ import annotations

import pytest

from codecap.compare.comparison import Column, Estimate
from codecap.records import FocalPoint
from codecap.report.charts import LABEL_WIDTH, PLOT_WIDTH, plots, scale_of
from codecap.report.clip_page import lanes_of
from codecap.report.pages import place_on_scale, told

COSINE = Column(name="kss", metric="kss", label="KSS", lowest=-1, highest=1, higher_is_better=True)
LAG = Column(name="lag", metric="lag", label="Lag", lowest=-2, highest=2)
SIZE = Column(name="code_size", metric="code_size", label="Code size", lowest=0, higher_is_better=False)


def test_scales() -> None:
    cells = [Estimate(mean=300, low=200, high=500, n=3), Estimate()]
    assert scale_of(COSINE, cells) == (0, 1)
    assert scale_of(LAG, cells) == (-2, 2)
    assert scale_of(SIZE, cells) == (0, 500)
    assert scale_of(SIZE, [Estimate()]) == (0, 1)


def test_numbers_as_told() -> None:
    assert [told(0.98765, COSINE), told(-0.0001, LAG), told(41.26), told(12345.6, SIZE), told(None)] == [
        "0.988", "0.000", "41.3", "12,346", "–",
    ]  # fmt: skip
    assert [place_on_scale(value, 0, 50) for value in (-1, 0, 20, 99)] == [0, 0, 40, 100]


def test_marks_of_a_plot(run) -> None:
    made = {plot.name: plot for plot in plots(run.comparison)}
    assert "lag" not in made and "code_size" not in made  # what ranks nobody, or has no shared scale, has no plot
    rows = [row for row in run.comparison.by_category if row.category == "B"]
    panel = next(panel for panel in made["success_rate"].panels if panel.category == "B")
    assert [mark.full_label for mark in panel.marks][:2] == ["Atlas 2 (pi)", "Borea"]
    for mark, row in zip(panel.marks, rows, strict=True):
        assert mark.x == pytest.approx(LABEL_WIDTH + PLOT_WIDTH * row.success.mean / 100)
    assert [mark.y for mark in panel.marks] == sorted({mark.y for mark in panel.marks})


def test_focal_points_that_overlap_get_lanes_of_their_own() -> None:
    spans = [(0, 4), (1, 2), (2, 3), (3.5, 5), (4, 6)]
    points = [
        FocalPoint(focal_id=str(i), kind="static", description="x", start_s=start_s, end_s=end_s)
        for i, (start_s, end_s) in enumerate(spans)
    ]
    assert lanes_of(points) == [0, 1, 1, 1, 0]
    assert lanes_of([]) == []
