"""Aggregation by METRICS, on cases small enough to work out by hand."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from codecap.compare.columns import MetricInfo, columns_of, describe, shown_tables, table_sets
from codecap.compare.comparison import Comparison, ComparisonError, SystemRow
from codecap.compare.tables import headings_of, tabulate
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Caption,
    Certificate,
    Clip,
    FocalPoint,
    Outcome,
    Render,
    Score,
    read_record,
)

SIMILARITY = MetricInfo("visual_similarity", "Visual similarity", "", -1, 1, True)
IOU = MetricInfo("object_iou", "Object IoU", "%", 0, 100, True, "objects")
RETENTION = MetricInfo("retention", "Retention", "", 0, 100, True, "focal_points")
SIZE = MetricInfo("code_size", "Code size", "bytes", 0, None, False)
KSS = MetricInfo("kss", "KSS", "", -1, 1, True)
ALL = [SIMILARITY, IOU, RETENTION, SIZE]


def clip(clip_id: str) -> Clip:
    return Clip(clip_id=clip_id, category=clip_id[0], mp4=Path(f"{clip_id}.mp4"), sha256="0", frames=48, width_px=64, height_px=48)


def annotation(clip_id: str, objects: str = "", points: dict[str, str] | None = None) -> Annotation:
    return Annotation(
        clip_id=clip_id,
        objects=[AnnotatedObject(name=name, boxes_xyxy=[(0, 0, 1, 1)] * 48) for name in objects.split()],
        focal_points=[
            FocalPoint(focal_id=name, kind=kind, description="it is there", start_s=0, end_s=1)
            for name, kind in (points or {}).items()
        ],
    )


def render(system: str, clip_id: str, outcome: Outcome = Outcome.OK, **more: object) -> Render:
    return Render(system=system, clip_id=clip_id, key="k", outcome=outcome, **more)


def score(metric: str, system: str, clip_id: str, value: float | None, **more: object) -> Score:
    told = {"status": "unscored" if value is None else "ok", "protocol": "p"} | more
    return Score(metric=metric, system=system, clip_id=clip_id, value=value, **told)


def compare(tmp_path: Path, *, models: str = "a", metrics: list[MetricInfo] | None = None, **rows: list) -> Comparison:
    return tabulate(
        title="t",
        models={name: {"agentic": True} for name in models.split()},
        metrics=[SIMILARITY] if metrics is None else metrics,
        clips=rows.get("clips", []),
        annotations=rows.get("annotations", []),
        captions=rows.get("captions", []),
        renders=rows.get("renders", []),
        scores=rows.get("scores", []),
        out_dir=tmp_path / "compare",
        resamples=200,
    )


def line(comparison: Comparison, system: str = "a") -> SystemRow:
    return next(row for row in comparison.main if row.system == system)


def test_failure_counts_zero_and_our_failure_does_not_count(tmp_path: Path) -> None:
    clips = [clip("A_1"), clip("A_2"), clip("B_1"), clip("B_2")]
    renders = [
        render("a", "A_1"),
        render("a", "A_2"),
        render("a", "B_1", Outcome.RUNTIME_ERROR),
        render("a", "B_2", Outcome.INFRA_ERROR),
    ]
    scores = [score("visual_similarity", "a", "A_1", 0.9), score("visual_similarity", "a", "A_2", 0.6)]
    row = line(compare(tmp_path, clips=clips, renders=renders, scores=scores))
    cell = row.cells["visual_similarity"]
    assert row.success.mean == pytest.approx(100 * 2 / 3)  # of three: the task that we lost is none of them
    assert cell.mean == pytest.approx((0.9 + 0.6 + 0) / 3)
    assert (cell.n, cell.failed, cell.infra_error, cell.unscored) == (3, 1, 1, 0)
    assert (row.ok, row.failed, row.infra_error, row.tasks) == (2, 1, 1, 4)
    assert cell.low <= cell.mean <= cell.high


def test_a_row_that_a_failed_task_has_in_the_scores_changes_nothing(tmp_path: Path) -> None:
    failed = render("a", "A_1", Outcome.MISSING_SEEK)
    rows = [score("visual_similarity", "a", "A_1", 0.0, status=Outcome.MISSING_SEEK, protocol="")]
    cell = line(compare(tmp_path, clips=[clip("A_1")], renders=[failed], scores=rows)).cells["visual_similarity"]
    assert (cell.mean, cell.n, cell.failed) == (0.0, 1, 1)


def test_failure_of_a_caption_outranks_the_render_of_what_was_salvaged(tmp_path: Path) -> None:
    caption = Caption(system="a", clip_id="A_1", key="k", outcome=Outcome.GENERATION_TIMEOUT, salvaged=True, detail="late")
    rows = [score("visual_similarity", "a", "A_1", 0.95)]
    made = compare(tmp_path, clips=[clip("A_1")], captions=[caption], renders=[render("a", "A_1", salvaged=True)], scores=rows)
    row = line(made)
    assert (row.cells["visual_similarity"].mean, row.ok, row.failed, row.salvaged) == (0.0, 0, 1, 1)
    assert (made.failures[0].outcome, made.failures[0].clips) == (Outcome.GENERATION_TIMEOUT, ["A_1"])


def test_unscored_is_counted_not_zero_and_marks_the_row(tmp_path: Path) -> None:
    clips = [clip("A_1"), clip("A_2"), clip("A_3"), clip("A_4")]
    renders = [render("a", name) for name in ("A_1", "A_2", "A_3", "A_4")]
    scores = [
        score("visual_similarity", "a", "A_1", 0.8),
        score("visual_similarity", "a", "A_2", None, detail="out of memory"),
        score("visual_similarity", "a", "A_3", None, status=Outcome.INFRA_ERROR),
    ]  # A_4 has no row at all
    made = compare(tmp_path, clips=clips, renders=renders, scores=scores)
    cell = line(made).cells["visual_similarity"]
    assert (cell.mean, cell.n, cell.unscored, cell.infra_error) == (0.8, 1, 2, 1)
    assert cell.incomplete and line(made).incomplete(made.columns)
    assert any("incomplete" in note for note in made.notes)
    main = next(csv.DictReader((tmp_path / "compare/tables/main.csv").open()))
    assert (main["incomplete"], main["visual_similarity_unscored"], main["visual_similarity"]) == ("yes", "2", "0.8")


def test_a_task_that_nobody_ran_is_ours_to_mend(tmp_path: Path) -> None:
    row = line(compare(tmp_path, clips=[clip("A_1")]))
    assert (row.infra_error, row.success.mean, row.cells["visual_similarity"].n) == (1, None, 0)


def test_objects_are_averaged_in_a_video_first(tmp_path: Path) -> None:
    # one object at 100 against three at 0: the mean over videos is 50, over objects it would be 25
    scores = [score("object_iou", "a", "A_1", 100, item="one")]
    scores += [score("object_iou", "a", "A_2", 0, item=name) for name in ("x", "y", "z")]
    made = compare(
        tmp_path,
        metrics=[IOU],
        clips=[clip("A_1"), clip("A_2"), clip("A_3")],  # the last has no objects: it is not concerned
        annotations=[annotation("A_1", "one"), annotation("A_2", "x y z"), annotation("A_3")],
        renders=[render("a", name) for name in ("A_1", "A_2", "A_3")],
        scores=scores,
    )
    cell = line(made).cells["object_iou"]
    assert (cell.mean, cell.n, cell.incomplete) == (50.0, 2, False)


def test_retention_by_kind_on_unequal_counts(tmp_path: Path) -> None:
    """Static and dynamic are means within a video over that kind; overall is over all points, not the mean of the two."""
    annotations = [
        annotation("A_1", points={"s1": "static", "d1": "dynamic", "d2": "dynamic", "d3": "dynamic"}),
        annotation("A_2", points={"s1": "static"}),
        annotation("A_3", points={"d1": "dynamic", "s1": "static"}),
    ]
    values = {
        "A_1": {"s1": 100, "d1": 40, "d2": 20, "d3": 0},  # static 100, dynamic 20, overall 40
        "A_2": {"s1": 60},  # static 60, no dynamic, overall 60
    }  # A_3 failed: 0 in all three
    kinds = {"s": "static", "d": "dynamic"}
    scores = [
        score("retention", "a", name, value, item=item, kind=kinds[item[0]])
        for name, of_clip in values.items()
        for item, value in of_clip.items()
    ]
    made = compare(
        tmp_path,
        metrics=[RETENTION],
        clips=[clip("A_1"), clip("A_2"), clip("A_3")],
        annotations=annotations,
        renders=[render("a", "A_1"), render("a", "A_2"), render("a", "A_3", Outcome.RENDER_TIMEOUT)],
        scores=scores,
    )
    cells = line(made).cells
    assert [column.name for column in made.columns] == ["retention_dynamic", "retention_static", "retention_overall"]
    assert (cells["retention_dynamic"].mean, cells["retention_dynamic"].n) == (pytest.approx((20 + 0) / 2), 2)
    assert (cells["retention_static"].mean, cells["retention_static"].n) == (pytest.approx((100 + 60 + 0) / 3), 3)
    assert (cells["retention_overall"].mean, cells["retention_overall"].n) == (pytest.approx((40 + 60 + 0) / 3), 3)


def test_a_point_without_a_score_is_counted_and_left_out_of_the_mean(tmp_path: Path) -> None:
    scores = [
        score("retention", "a", "A_1", 80, item="s1", kind="static"),
        score("retention", "a", "A_1", None, item="s2", kind="static", detail="judge down"),
    ]
    made = compare(
        tmp_path,
        metrics=[RETENTION],
        clips=[clip("A_1")],
        annotations=[annotation("A_1", points={"s1": "static", "s2": "static", "d1": "dynamic"})],
        renders=[render("a", "A_1")],
        scores=scores,
    )
    cells = line(made).cells
    assert (cells["retention_static"].mean, cells["retention_static"].unscored_items) == (80.0, 1)
    assert (cells["retention_dynamic"].mean, cells["retention_dynamic"].unscored) == (None, 1)  # its point has no row
    assert (cells["retention_overall"].mean, cells["retention_overall"].unscored_items) == (80.0, 2)
    assert all(cell.incomplete for cell in cells.values())


def test_a_failure_is_no_small_page(tmp_path: Path) -> None:
    made = compare(
        tmp_path,
        metrics=[SIZE],
        clips=[clip("A_1"), clip("A_2")],
        renders=[render("a", "A_1"), render("a", "A_2", Outcome.REFUSED)],
        scores=[score("code_size", "a", "A_1", 4000)],
    )
    cell = line(made).cells["code_size"]
    assert (cell.mean, cell.n, cell.failed) == (4000.0, 1, 1)


def test_two_protocols_of_a_metric_are_refused_by_name(tmp_path: Path) -> None:
    scores = [
        score("visual_similarity", "a", "A_1", 0.8, protocol="crop"),
        score("visual_similarity", "b", "A_1", 0.7, protocol="squash"),
    ]
    renders = [render("a", "A_1"), render("b", "A_1")]
    with pytest.raises(ComparisonError, match=r"visual_similarity.*'crop'.*of a.*'squash'.*of b"):
        compare(tmp_path, models="a b", clips=[clip("A_1")], renders=renders, scores=scores)
    assert not (tmp_path / "compare").exists()


def test_the_cure_for_two_protocols_names_what_keeps_them(tmp_path: Path) -> None:
    """To score again changes nothing while the rows lie in the store."""
    for metric, folders in (
        (SIMILARITY, "store.durable/score/visual_similarity and results/6_score"),
        (IOU, "store.durable/score/object_iou and store.bulk/segment_objects and results/6_score"),
    ):
        rows = [score(metric.name, system, "A_1", 0.5, protocol=f"net, bf16 on {system}") for system in ("cpu", "cuda")]
        with pytest.raises(ComparisonError) as told:
            columns_of([metric], rows)
        assert folders in str(told.value) and f"device and dtype of its backend in the config (metrics.{metric.name})" in str(
            told.value
        )


def test_a_stand_in_and_the_metric_itself_are_two_protocols(tmp_path: Path) -> None:
    scores = [score("visual_similarity", "a", "A_1", 0.8), score("visual_similarity", "b", "A_1", 0.7, proxy=True)]
    with pytest.raises(ComparisonError, match="stand-in"):
        compare(tmp_path, models="a b", clips=[clip("A_1")], renders=[render("a", "A_1"), render("b", "A_1")], scores=scores)


def test_stand_ins_get_a_table_of_their_own_beside_the_papers_metrics() -> None:
    rows = [
        score("visual_similarity", "a", "A_1", 0.8),
        score("object_iou", "a", "A_1", 50, item="x", proxy=True),
        score("code_size", "a", "A_1", 10),
    ]
    columns = columns_of([SIMILARITY, IOU, SIZE], rows)
    named = [(name, [column.name for column in of]) for name, of in table_sets(columns)]
    assert named == [("main", ["visual_similarity", "code_size"]), ("stand_ins", ["object_iou"])]
    exact_beside = columns_of([IOU, KSS, SIZE], [rows[1], score("kss", "a", "A_1", 0.5), rows[2]])
    named = [(name, [column.name for column in of]) for name, of in table_sets(exact_beside)]
    assert named == [("main", ["object_iou"]), ("exact", ["kss", "code_size"])]  # the paper's Table 1 is the main one
    all_stand_ins = columns_of([IOU, SIZE], rows[1:])
    assert [name for name, _ in table_sets(all_stand_ins)] == ["main"]
    one_without_numbers = columns_of([SIMILARITY, IOU], rows[1:2])
    assert [name for name, _ in table_sets(one_without_numbers)] == ["main"]


def test_a_wide_table_leaves_what_is_beside_the_paper_to_another() -> None:
    beside = [MetricInfo(f"beside_{number}", f"Beside {number}", "", 0, 1, True) for number in range(8)]
    narrow = columns_of([SIMILARITY, *beside], [score(info.name, "a", "A_1", 0.5) for info in (SIMILARITY, *beside)])
    assert [(name, len(held)) for name, held in shown_tables(narrow)] == [("main", 9)]
    wide = columns_of([SIMILARITY, KSS, *beside], [score(info.name, "a", "A_1", 0.5) for info in (SIMILARITY, KSS, *beside)])
    assert [(name, len(held)) for name, held in shown_tables(wide)] == [("main", 2), ("main_beside", 8)]


def test_columns_stand_in_the_papers_order_and_second_columns_beside_their_metric() -> None:
    mps = MetricInfo("mps", "MPS", "", 0, 1, True)
    rows = [score("mps", "a", "A_1", 0.5), score("mps_strict", "a", "A_1", 0.4)]
    columns = columns_of([SIZE, mps, RETENTION, IOU, SIMILARITY], rows)
    assert [column.name for column in columns] == [
        "visual_similarity", "object_iou", "retention_dynamic", "retention_static", "retention_overall", "mps", "mps_strict",
        "code_size",
    ]  # fmt: skip
    with pytest.raises(ComparisonError, match="'kss', which the config does not name"):
        columns_of([mps], [score("kss", "a", "A_1", 0.5)])


def test_every_configured_metric_describes_itself() -> None:
    told = {info.name: info for info in describe({key: {} for key in ("visual_similarity", "retention", "lag", "code_size")})}
    assert (told["visual_similarity"].items, told["retention"].items) == ("", "focal_points")
    assert told["lag"].higher_is_better is None  # best at 0: the earliest is not the best
    assert told["code_size"].highest is None


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"renders": [render("a", "X_9")]}, "clip 'X_9'"),
        ({"renders": [render("a", "A_1"), render("a", "A_1")]}, "two Render rows"),
        ({"annotations": [annotation("B_7")]}, "'B_7', which the clips table lacks"),
        ({"renders": [render("a", "A_1")], "scores": [score("visual_similarity", "a", "A_1", 0.1)] * 2}, "two scores"),
        (
            {
                "renders": [render("a", "A_1")],
                "scores": [score("visual_similarity", "a", "A_1", 0.0, status=Outcome.RENDER_CRASH)],
            },
            "different runs",
        ),
    ],
)
def test_rows_that_contradict_each_other_are_refused(tmp_path: Path, rows: dict, words: str) -> None:
    with pytest.raises(ComparisonError, match=words):
        compare(tmp_path, clips=[clip("A_1")], **rows)


def test_scores_of_another_annotation_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ComparisonError, match=r"'gone'.*another annotation"):
        compare(
            tmp_path,
            metrics=[IOU],
            clips=[clip("A_1")],
            annotations=[annotation("A_1", "here")],
            renders=[render("a", "A_1")],
            scores=[score("object_iou", "a", "A_1", 50, item="gone")],
        )


def test_by_category_and_against_the_best(tmp_path: Path) -> None:
    clips = [clip("A_1"), clip("A_2"), clip("B_1")]
    values = {"a": [0.9, 0.7, 0.2], "b": [0.5, 0.5, 0.1]}
    scores = [
        score("visual_similarity", system, item.clip_id, value)
        for system, row in values.items()
        for item, value in zip(clips, row, strict=True)
    ]
    renders = [render(system, item.clip_id) for system in values for item in clips]
    made = compare(tmp_path, models="a b", clips=clips, renders=renders, scores=scores)
    means = {(row.category, row.system): row.cells["visual_similarity"].mean for row in made.by_category}
    assert means == {
        ("A", "a"): pytest.approx(0.8), ("A", "b"): pytest.approx(0.5), ("B", "a"): 0.2, ("B", "b"): 0.1
    }  # fmt: skip
    (difference,) = made.differences
    assert (difference.system, difference.best, difference.n) == ("b", "a", 3)
    assert difference.mean == pytest.approx(((0.5 - 0.9) + (0.5 - 0.7) + (0.1 - 0.2)) / 3)
    assert difference.separated  # b is worse on every clip, so in every resample


def test_a_ceiling_is_not_incomplete_where_a_metric_does_not_concern_it(tmp_path: Path) -> None:
    made = tabulate(
        title="t",
        models={"a": {}, "top": {"role": "ceiling"}},
        metrics=[SIMILARITY, IOU],
        clips=[clip("A_1")],
        annotations=[annotation("A_1", "x")],
        captions=[],
        renders=[render("a", "A_1"), render("top", "A_1")],
        scores=[score("object_iou", "top", "A_1", 91, item="x"), score("object_iou", "a", "A_1", 50, item="x")],
        out_dir=tmp_path,
        resamples=50,
    )
    top, mine = line(made, "top"), line(made, "a")
    assert (top.cells["visual_similarity"].n, top.cells["visual_similarity"].incomplete) == (0, False)
    assert top.cells["object_iou"].mean == 91
    assert mine.cells["visual_similarity"].unscored == 1  # of a system it is


def test_same_rows_in_any_order_give_the_same_bytes(tmp_path: Path) -> None:
    clips = [clip(f"A_{i}") for i in range(6)]
    renders = [render(system, item.clip_id) for system in "ab" for item in clips]
    scores = [score("visual_similarity", row.system, row.clip_id, (i * 37 % 11) / 11, detail="d") for i, row in enumerate(renders)]
    first = compare(tmp_path / "1", models="a b", clips=clips, renders=renders, scores=scores)
    shuffled = random.Random(3)
    for rows in (clips, renders, scores):
        shuffled.shuffle(rows)
    compare(tmp_path / "2", models="a b", clips=clips, renders=renders, scores=scores)
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file())
    assert {Path("compare/comparison.json"), Path("compare/tables/main.csv"), Path("compare/tables/main.tex")} <= set(files)
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name
    assert read_record(tmp_path / "1/compare/comparison.json", Comparison) == first


def test_two_systems_of_one_label_are_told_apart() -> None:
    models = {"x": {"label": "M", "harness": "pi"}, "y": {"label": "M", "harness": "pi"}, "z": {"label": "Z"}}
    assert headings_of(models) == {"x": "M (x)", "y": "M (y)", "z": "Z"}


def test_one_video_has_a_mean_and_no_interval(tmp_path: Path) -> None:
    rows = [score("visual_similarity", "a", "A_1", 0.8)]
    cell = line(compare(tmp_path, clips=[clip("A_1")], renders=[render("a", "A_1")], scores=rows)).cells["visual_similarity"]
    assert (cell.mean, cell.low, cell.high, cell.n) == (0.8, None, None, 1)


def test_purity_is_counted_and_fails_nothing(tmp_path: Path) -> None:
    certificate = Certificate(outcome=Outcome.OK, purity=["line 2: data URI"])
    made = compare(tmp_path, clips=[clip("A_1")], renders=[render("a", "A_1", certificate=certificate)])
    assert (line(made).impure, line(made).success.mean) == (1, 100.0)
