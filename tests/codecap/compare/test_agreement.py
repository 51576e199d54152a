"""Agreement of score sets: correlations worked out by hand, and by SciPy on what was paired by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from scipy import stats as scipy_stats

from codecap.compare.columns import MetricInfo
from codecap.compare.comparison import AgreementRow, Comparison, ComparisonError, Interval
from codecap.compare.tables import tabulate
from codecap.humans.shown import shown_digest
from codecap.records import Annotation, Clip, FocalPoint, HumanScore, Outcome, Render, Score

JUDGE = MetricInfo("retention", "Retention", "", 0, 100, True, "focal_points")
SECOND = MetricInfo("retention_b", "Retention (b)", "", 0, 100, True, "focal_points")
KINDS = {"s": "static", "d": "dynamic"}
Points = dict[str, dict[str, float | None]]  # of each clip, by focal id (its first letter is its kind)


def clip(clip_id: str) -> Clip:
    return Clip(clip_id=clip_id, category="A", mp4=Path("x"), sha256=f"sha of {clip_id}", frames=48, width_px=64, height_px=48)


def annotation(clip_id: str, names: list[str]) -> Annotation:
    points = [FocalPoint(focal_id=name, kind=KINDS[name[0]], description=name, start_s=0, end_s=1) for name in names]
    return Annotation(clip_id=clip_id, focal_points=points)


def scores(metric: str, system: str, points: Points) -> list[Score]:
    return [
        Score(
            metric=metric, system=system, clip_id=clip_id, item=name, kind=KINDS[name[0]], value=value,
            status="unscored" if value is None else "ok", protocol=metric,
        )
        for clip_id, of_clip in points.items()
        for name, value in of_clip.items()
    ]  # fmt: skip


def given(rater: str, system: str, points: Points, **more: str) -> list[HumanScore]:
    return [
        HumanScore(system=system, clip_id=clip_id, focal_id=name, score=round(value / 20), rater=rater, **more)
        for clip_id, of_clip in points.items()
        for name, value in of_clip.items()
    ]


def compare(
    folder: Path,
    rows: list[Score],
    humans: list[HumanScore] = (),
    *,
    systems: dict[str, dict] | None = None,
    failed: set[tuple[str, str]] = frozenset(),
    resamples: int = 200,
) -> Comparison:
    systems = systems or {"a": {}}
    names: dict[str, list[str]] = {}
    for row in [*rows, *humans]:
        name = row.item if isinstance(row, Score) else row.focal_id
        if name is not None and name not in names.setdefault(row.clip_id, []):
            names[row.clip_id].append(name)
    renders = [
        Render(
            system=system, clip_id=clip_id, key=f"{system} {clip_id}",
            outcome=Outcome.RUNTIME_ERROR if (system, clip_id) in failed else Outcome.OK,
        )
        for system in systems
        for clip_id in names
    ]  # fmt: skip
    return tabulate(
        title="t", models=systems, metrics=[JUDGE, SECOND], clips=[clip(name) for name in names],
        annotations=[annotation(*of) for of in names.items()], captions=[], renders=renders, scores=rows, humans=humans,
        out_dir=folder, resamples=resamples,
    )  # fmt: skip


def row(made: Comparison, second: str, level: str, kind: str = "overall", first: str = "retention", system: str | None = None):
    wanted = (first, second, system, level, kind)
    (found,) = [one for one in made.agreement.rows if (one.first, one.second, one.system, one.level, one.kind) == wanted]
    return found


def correlations(found: AgreementRow) -> tuple[float, float]:
    return pytest.approx(found.pearson.value), pytest.approx(found.spearman.value)


def test_a_correlation_worked_out_by_hand(tmp_path):
    """x 20 40 60 80, y 40 20 80 60: deviations -30 -10 10 30 and -10 -30 30 10, so r = 1200 / 2000; ranks differ by 1 each."""
    first = {f"A_{i}": {"s1": value} for i, value in enumerate((20, 40, 60, 80))}
    second = {f"A_{i}": {"s1": value} for i, value in enumerate((40, 20, 80, 60))}
    made = compare(tmp_path, scores("retention", "a", first) + scores("retention_b", "a", second))
    for level in ("point", "video"):
        found = row(made, "retention_b", level)
        assert correlations(found) == (0.6, 1 - 6 * 4 / (4 * 15))
        assert (found.n, found.clips, found.first_mean.value, found.second_mean.value) == (4, 4, 50, 50)
        assert found.pearson.low < 0.6 < found.pearson.high


def test_ties_share_a_rank(tmp_path):
    """x 0 0 100, y 0 100 100: ranks 1.5 1.5 3 and 1 2.5 2.5, so both correlations are 0.75 / 1.5."""
    first = {f"A_{i}": {"d1": value} for i, value in enumerate((0, 0, 100))}
    second = {f"A_{i}": {"d1": value} for i, value in enumerate((0, 100, 100))}
    made = compare(tmp_path, scores("retention", "a", first) + scores("retention_b", "a", second))
    assert correlations(row(made, "retention_b", "point", "dynamic")) == (0.5, 0.5)


def test_videos_are_means_over_their_points_and_kinds_stand_apart(tmp_path):
    first = {
        "A_0": {"s1": 100, "d1": 40, "d2": 20, "d3": 0},  # static 100, dynamic 20, overall 40
        "A_1": {"s1": 60, "s2": 20, "d1": 80},  # 40, 80, 53.3
        "A_2": {"s1": 0, "d1": 60},  # 0, 60, 30
    }
    second = {
        "A_0": {"s1": 80, "d1": 40, "d2": 40, "d3": 40},  # 80, 40, 50
        "A_1": {"s1": 60, "s2": 60, "d1": 100},  # 60, 100, 73.3
        "A_2": {"s1": 20, "d1": 20},  # 20, 20, 20
    }
    made = compare(tmp_path, scores("retention", "a", first) + scores("retention_b", "a", second))
    paired = {
        ("video", "static"): ([100, 40, 0], [80, 60, 20]),
        ("video", "dynamic"): ([20, 80, 60], [40, 100, 20]),
        ("video", "overall"): ([40, 160 / 3, 30], [50, 220 / 3, 20]),
        ("point", "static"): ([100, 60, 20, 0], [80, 60, 60, 20]),
        ("point", "dynamic"): ([40, 20, 0, 80, 60], [40, 40, 40, 100, 20]),
        ("point", "overall"): ([100, 40, 20, 0, 60, 20, 80, 0, 60], [80, 40, 40, 40, 60, 60, 100, 20, 20]),
    }
    for (level, kind), (x, y) in paired.items():
        found = row(made, "retention_b", level, kind)
        assert (scipy_stats.pearsonr(x, y).statistic, scipy_stats.spearmanr(x, y).statistic) == correlations(found)
        assert (found.n, found.clips) == (len(x), 3)
        assert (found.first_mean.value, found.second_mean.value) == (pytest.approx(fmean(x)), pytest.approx(fmean(y)))


def test_people_are_the_mean_of_their_scores_and_compared_with_each_other(tmp_path):
    judge = {"A_0": {"s1": 20, "d1": 100}, "A_1": {"s1": 60, "d1": 80}, "A_2": {"s1": 0, "d1": 40}}
    ada = {"A_0": {"s1": 40, "d1": 80}, "A_1": {"s1": 60, "d1": 100}, "A_2": {"s1": 0, "d1": 20}}
    bea = {"A_0": {"s1": 0, "d1": 100}, "A_1": {"s1": 80}}
    humans = given("Ada", "a", ada) + given("Bea", "a", bea)
    made = compare(tmp_path, scores("retention", "a", judge), humans)
    mean = {"A_0": {"s1": 20, "d1": 90}, "A_1": {"s1": 70, "d1": 100}, "A_2": {"s1": 0, "d1": 20}}
    x = [value for of_clip in judge.values() for value in of_clip.values()]
    y = [value for of_clip in mean.values() for value in of_clip.values()]
    found = row(made, "people", "point")
    assert (scipy_stats.pearsonr(x, y).statistic, scipy_stats.spearmanr(x, y).statistic) == correlations(found)
    raters = row(made, "rater 2", "point", first="rater 1")
    assert raters.n == 3  # what both scored: 40 80 60 and 0 100 80
    assert (scipy_stats.pearsonr([40, 80, 60], [0, 100, 80]).statistic, 1.0) == correlations(raters)
    assert [told.name for told in made.agreement.sets] == ["retention", "people", "rater 1", "rater 2"]
    for path in tmp_path.rglob("*"):  # who they are is nobody's business
        assert path.is_dir() or ("Ada" not in path.read_text() and "Bea" not in path.read_text())


def test_one_person_is_all_the_people(tmp_path):
    judge = {f"A_{i}": {"s1": 20.0 * i} for i in range(4)}
    made = compare(tmp_path, scores("retention", "a", judge), given("Ada", "a", judge))
    assert [told.name for told in made.agreement.sets] == ["retention", "people"]
    assert correlations(row(made, "people", "video")) == (1.0, 1.0)


def test_no_correlation_has_a_reason_and_never_a_nan(tmp_path):
    first = {"A_0": {"s1": 20, "d1": 40}, "A_1": {"s1": 60, "d1": 40}, "A_2": {"d1": 40}}
    second = {"A_0": {"s1": 20, "d1": 0}, "A_1": {"s1": 80, "d1": 60}, "A_2": {"d1": 100}}
    made = compare(tmp_path, scores("retention", "a", first) + scores("retention_b", "a", second))
    few, constant = row(made, "retention_b", "video", "static"), row(made, "retention_b", "video", "dynamic")
    assert few.reason == "2 in common; a correlation needs 3" and few.pearson == few.spearman == Interval()
    assert constant.reason == "retention gives all of them 40" and constant.pearson == Interval()
    assert (constant.first_mean.value, constant.second_mean.value) == (40, pytest.approx(160 / 3))
    for path in [*(tmp_path / "tables").iterdir(), tmp_path / "comparison.json"]:
        assert "nan" not in path.read_text().lower()
    json.loads((tmp_path / "comparison.json").read_text(), parse_constant=lambda name: pytest.fail(name))


def test_a_series_that_only_rounding_tells_apart_is_constant(tmp_path):
    """The mean of 0.1 + 0.2 + 0.3 over 3 differs from 0.2 in its last digit: that is no variation."""
    first = {"A_0": {"s1": 0.1, "s2": 0.2, "s3": 0.3}, "A_1": {"s1": 0.2}, "A_2": {"s1": 0.2}}
    second = {"A_0": {"s1": 10, "s2": 10, "s3": 10}, "A_1": {"s1": 20}, "A_2": {"s1": 0}}
    made = compare(tmp_path, scores("retention", "a", first) + scores("retention_b", "a", second))
    assert row(made, "retention_b", "video").reason == "retention gives all of them 0.2"


def test_only_what_both_scored_counts_and_failures_count_in_neither(tmp_path):
    first = {"A_0": {"s1": 20, "s2": None}, "A_1": {"s1": 40}, "A_2": {"s1": 80}, "A_3": {"s1": 0}}
    second = {"A_0": {"s1": 20, "s2": 100}, "A_1": {"s1": 60}, "A_2": {"s1": 60}, "A_3": {"s1": 0}}
    rows = [one for one in scores("retention", "a", first) if one.clip_id != "A_3"]
    rows.append(Score(metric="retention", system="a", clip_id="A_3", value=0.0, status=Outcome.RUNTIME_ERROR))
    rows += [one for one in scores("retention_b", "a", second) if one.clip_id != "A_3"]
    made = compare(tmp_path, rows, given("Ada", "a", second), failed={("a", "A_3")})
    assert row(made, "retention_b", "point").n == row(made, "people", "point").n == 3
    assert any(note.startswith("1 scores of people are left out: this run does not have") for note in made.notes)


def test_scores_of_what_has_changed_since_are_left_out_and_counted(tmp_path):
    judge = {f"A_{i}": {"s1": 20.0 * i} for i in range(4)}
    point = annotation("A_0", ["s1"]).focal_points[0]
    render = Render(system="a", clip_id="A_0", key="a A_0", outcome=Outcome.OK)
    fresh = shown_digest(clip("A_0"), render, point)
    changed = [
        shown_digest(clip("A_1"), render.model_copy(update={"key": "another video"}), point),
        shown_digest(clip("A_2"), render.model_copy(update={"key": "a A_2"}), point.model_copy(update={"end_s": 1.5})),
    ]
    humans = [
        HumanScore(system="a", clip_id=f"A_{i}", focal_id="s1", score=3, rater="Ada", shown=shown)
        for i, shown in enumerate([fresh, *changed, ""])
    ]
    made = compare(tmp_path, scores("retention", "a", judge), humans)
    assert {told.name: told.points for told in made.agreement.sets} == {"retention": 4, "people": 2}
    assert any(note.startswith("2 scores of people are left out: the video or the focal point") for note in made.notes)


def test_judges_of_one_protocol_share_their_answers_and_it_is_said(tmp_path):
    points = {"A_1": {"s1": 20, "s2": 60}, "A_2": {"s1": 100, "s2": 40}}
    first = scores("retention", "a", points)
    others = compare(tmp_path / "two", [*first, *scores("retention_b", "a", points)]).notes
    assert not any("one protocol" in note for note in others)
    same = [row.model_copy(update={"metric": "retention_b"}) for row in first]
    told = compare(tmp_path / "one", [*first, *same]).notes
    assert any("Judge retention and Judge retention_b have one protocol" in note for note in told)


def test_a_point_that_somebody_scored_twice_is_an_error(tmp_path):
    judge = {"A_0": {"s1": 20}}
    with pytest.raises(ComparisonError, match="'Ada' has scored focal point 's1' of clip 'A_0' for system 'a' twice"):
        compare(tmp_path, scores("retention", "a", judge), given("Ada", "a", judge) * 2)


def test_floors_and_ceilings_stand_apart_and_every_system_has_its_rows(tmp_path):
    """A floor that all score near 0 makes any two judges agree: with it these correlate highly, without it not at all."""
    systems = {"a": {}, "b": {}, "blank": {"role": "floor"}}
    first = {"a": (60, 80, 60, 80), "b": (80, 60, 80, 60), "blank": (0, 0, 0, 20)}
    second = {"a": (60, 60, 80, 80), "b": (60, 60, 80, 80), "blank": (0, 0, 20, 0)}
    rows = []
    for metric, values in (("retention", first), ("retention_b", second)):
        for system, of in values.items():
            rows += scores(metric, system, {f"A_{i}": {"s1": value} for i, value in enumerate(of)})
    made = compare(tmp_path, rows, systems=systems)
    together = row(made, "retention_b", "video")
    assert (together.n, together.clips) == (8, 4)
    assert correlations(together) == (0.0, 0.0)
    everything = [[value for of in values.values() for value in of] for values in (first, second)]
    assert scipy_stats.pearsonr(*everything).statistic > 0.8
    assert {one.system for one in made.agreement.rows} == {None, "a", "b", "blank"}
    assert row(made, "retention_b", "video", system="b").first_mean.value == 70
    assert row(made, "retention_b", "video", system="blank").second_mean.value == 5
    assert {pair.system for pair in made.agreement.videos} == {"a", "b", "blank"}


def test_clips_are_drawn_with_the_renders_of_all_systems(tmp_path):
    """Two systems that are copies of one another tell nothing more: the interval is that of one of them."""
    random = np.random.default_rng(5)
    first = {f"A_{i}": {"s1": 20.0 * value} for i, value in enumerate(random.integers(0, 6, 12))}
    second = {name: {"s1": float(np.clip(of["s1"] + 20 * random.integers(-1, 2), 0, 100))} for name, of in first.items()}
    one = compare(tmp_path / "1", scores("retention", "a", first) + scores("retention_b", "a", second), resamples=500)
    rows = [made for system in "ab" for made in scores("retention", system, first) + scores("retention_b", system, second)]
    two = compare(tmp_path / "2", rows, systems={"a": {}, "b": {}}, resamples=500)
    for name in ("pearson", "spearman", "first_mean"):
        alone, doubled = (getattr(row(made, "retention_b", "video"), name) for made in (one, two))
        assert (doubled.value, doubled.low, doubled.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_the_table_has_a_line_for_each_row_and_empty_cells_for_none(tmp_path):
    first = {"A_0": {"s1": 20}, "A_1": {"s1": 60}, "A_2": {"s1": 100}}
    made = compare(tmp_path, scores("retention", "a", first) + scores("retention_b", "a", first))
    lines = list(csv.DictReader((tmp_path / "tables" / "agreement.csv").open()))
    assert len(lines) == len(made.agreement.rows) == 6
    line = next(one for one in lines if (one["level"], one["kind"]) == ("video", "overall"))
    assert (line["first"], line["second"], line["n"], line["pearson"], line["first_mean"]) == (
        "retention",
        "retention_b",
        "3",
        "1",
        "60",
    )
    none = next(one for one in lines if one["kind"] == "dynamic")
    assert (none["pearson"], none["spearman"], none["first_mean"], none["reason"]) == (
        "",
        "",
        "",
        "0 in common; a correlation needs 3",
    )
    videos = list(csv.DictReader((tmp_path / "tables" / "agreement_videos.csv").open()))
    assert {one["first_value"] for one in videos if one["kind"] == "overall"} == {"20", "60", "100"}


def test_one_set_alone_has_nothing_to_agree_with(tmp_path):
    made = compare(tmp_path, scores("retention", "a", {"A_0": {"s1": 20}}))
    assert made.agreement is None
    assert not (tmp_path / "tables" / "agreement.csv").exists()
