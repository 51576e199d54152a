"""Curves and what must hold of them, on values chosen by hand."""

from __future__ import annotations

import csv
import re

import pytest

from codecap.compare.comparison import Column
from codecap.records import Score
from codecap.validity import page
from codecap.validity.curves import curves_of, steps_of, values_of
from codecap.validity.damages import DAMAGES
from codecap.validity.demands import demands

IOU = Column(
    name="object_iou", metric="object_iou", label="Object IoU", lowest=0, highest=100, higher_is_better=True, items="objects"
)
KSS = Column(name="kss", metric="kss", label="KSS", lowest=-1, highest=1, higher_is_better=True, table="reconstruction")
STRICT = Column(name="mps_strict", metric="mps_strict", label="MPS strict", lowest=0, highest=1, higher_is_better=True)
LAG = Column(name="lag", metric="lag", label="Lag", lowest=-2, highest=2)


def values(column: Column, damage: str, **of_clips) -> dict:
    """By clip, a value at each grade from 0 on."""
    return {
        (system, clip, column.name): value
        for clip, series in of_clips.items()
        for (_, system), value in zip(steps_of(DAMAGES[damage]), series, strict=True)
    }


def curve(column: Column, damage: str, **of_clips):
    [found] = [made for made in curves_of([column], values(column, damage, **of_clips), list(of_clips)) if made.damage == damage]
    return found


@pytest.mark.parametrize(
    ("series", "trend", "change", "against"),
    [
        ([90, 80, 60, 40, 10], "falls", -0.8, 0),
        ([90, 80, 82, 40, 10], "falls", -0.8, 0.02),
        ([90, 70, 75, 40, 10], "wavers", -0.8, 0.05),
        ([90, 90, 89.5, 91, 90], "flat", 0.0, 0.01),
        ([10, 20, 40, 60, 90], "rises", 0.8, 0),
    ],
)
def test_trends(series, trend, change, against):
    found = curve(IOU, "blur", A=series)
    assert found.trend == trend and found.means == series
    assert found.change == pytest.approx(change) and found.against == pytest.approx(against)


def test_a_mean_is_of_the_same_clips_at_every_grade():
    found = curve(KSS, "frozen", A=[1.0, 0.8, 0.6, 0.4, None], B=[0.9, None, 0.5, 0.3, None], C=[0.8, 0.6, 0.4, 0.2, None])
    assert found.clips == ["A", "C"] and found.means == pytest.approx([0.9, 0.7, 0.5, 0.3, None])
    assert found.change == pytest.approx(-0.6)  # on a scale from 0 to 1
    assert curve(LAG, "delay", A=[0, 0.1, 0.25, 0.5, 1.0]).change is None


def test_a_curve_that_no_clip_shows_is_left_out():
    assert curves_of([KSS], values(KSS, "blur", A=[None] * 5), ["A"]) == []


def test_wrong_words_begin_at_a_page_without_any():
    assert [system for _, system in steps_of(DAMAGES["text"])] == ["text-0", "text-0.25", "text-0.5", "text-0.75", "text-1"]
    assert steps_of(DAMAGES["delay"])[0] == (0.0, "unchanged")


def test_values_are_those_of_the_tables(annotation):
    rows = [
        Score(metric="object_iou", system="blur-0.01", clip_id="T_001", item="red", value=40.0, status="ok"),
        Score(metric="object_iou", system="blur-0.01", clip_id="T_001", item="blue", value=20.0, status="ok"),
        Score(metric="kss", system="blur-0.01", clip_id="T_001", value=None, status="unscored"),
    ]
    found = values_of([IOU, KSS], rows, {"T_001": annotation})
    assert found == {("blur-0.01", "T_001", "object_iou"): 30.0, ("blur-0.01", "T_001", "kss"): None}


def told(clip, column: Column, damage: str, *series: float | None):
    [found] = demands(values(column, damage, T_001=series), {column.name: column}, {"T_001": clip})
    return found.fit, found.held, found.value


def test_a_shift_must_lower_the_iou_until_nothing_is_left(clip):
    assert told(clip, IOU, "shift", 80, 60, 40, 20, 1.5, 1.5) == (True, True, 0)
    assert told(clip, IOU, "shift", 80, 60, 60, 20, 1.5, 0) == (True, False, 0)
    assert told(clip, IOU, "shift", 80, 60, 40, 20, 1.0, 1.5) == (True, False, 0.5)
    assert told(clip, IOU, "shift", 80, 60, None, 20, 1.0, 1.5) == (True, False, None)
    assert told(clip, IOU, "shift", None, 60, 40, 20, 1.0, 1.5) == (False, True, None)


def test_a_delay_must_not_raise_what_depends_on_time_and_must_be_told(clip, monkeypatch):
    monkeypatch.setattr("codecap.selftest.fitness.unfit_for_delay", lambda _: "")
    assert told(clip, STRICT, "delay", 0.9, 0.7, 0.715, 0.5, 0.4) == (True, True, pytest.approx(0.015))
    assert told(clip, STRICT, "delay", 0.9, 0.7, 0.73, 0.5, 0.4) == (True, False, pytest.approx(0.03))
    assert told(clip, STRICT, "delay", 0.4, 0.415, 0.43, 0.445, 0.46) == (True, False, pytest.approx(0.06))  # in small steps
    assert told(clip, LAG, "delay", 0, 2 / 24, 6 / 24, 12 / 24, 1) == (True, True, pytest.approx(0.1 - 2 / 24))
    assert told(clip, LAG, "delay", 0, 0.1, 0.25, 0.25, 1) == (True, False, 0.25)
    monkeypatch.setattr("codecap.selftest.fitness.unfit_for_delay", lambda _: "it repeats itself")
    assert told(clip, LAG, "delay", 0, 0.1, 0.25, 0.25, 1) == (False, True, None)


def test_the_page_and_its_tables(clip, annotation, tmp_path):
    rows = []
    for damage, worst in (("shift", 40.0), ("blur", 89.0)):
        steps = steps_of(DAMAGES[damage])
        for place, (_, system) in enumerate(steps):
            value = 90 - (90 - worst) * place / (len(steps) - 1)
            if (system, value) not in [(row.system, row.value) for row in rows]:
                for item in ("red", "blue"):
                    rows.append(Score(metric="object_iou", system=system, clip_id="T_001", item=item, value=value, status="ok"))
            rows.append(Score(metric="kss", system=system, clip_id="T_001", value=value / 100, status="ok", detail="<b>"))
    unique = list({(row.metric, row.system, row.item): row for row in rows}.values())
    proxy = IOU.model_copy(update={"proxy": True, "protocol": "<script>alert(1)</script>"})
    build = lambda folder: page.build(folder, [proxy, KSS], unique, {"T_001": (clip, annotation)}, "CodeCap")  # noqa: E731
    [demand] = build(tmp_path / "one")
    assert demand.fit and demand.held and demand.value == pytest.approx(-10)
    html = (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html and "stand-in" in html and "Shifted to the right" in html and "Frozen" not in html
    assert re.search(r'class="falls" style="--shade: 50"[^>]*>50', html) and re.search(r'class="flat"[^>]*>1<', html)
    curves = list(csv.DictReader((tmp_path / "one" / "curves.csv").read_text().splitlines()))
    assert [row["value"] for row in curves if (row["damage"], row["column"], row["clip"]) == ("shift", "object_iou", "")] == [
        "90.0", "80.0", "70.0", "60.0", "50.0", "40.0",
    ]  # fmt: skip
    build(tmp_path / "two")
    for name in ("index.html", "curves.csv", "demands.csv", "curves.svg", "curves.pdf"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    for reference in re.findall(r'(?:src|href)="([^"#:]+)"', html):
        assert (tmp_path / "one" / reference).is_file(), reference


def test_a_table_has_a_head_for_every_grade(clip, annotation, tmp_path):
    rows = [
        Score(metric="kss", system=system, clip_id="T_001", value=0.5, status="ok") for _, system in steps_of(DAMAGES["text"])
    ]  # of the first column, wrong words have no curve
    page.build(tmp_path, [IOU, KSS], rows, {"T_001": (clip, annotation)}, "CodeCap")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    [head] = re.findall(r'<thead><tr><th scope="col">Metric</th>(.*?)<th scope="col">Trend', html)
    assert re.findall(r">([^<]+)</th>", head) == ["as it is", "25", "50", "75", "100"]
