"""Printed tables where something is missing: it is said below every table that marks it, and no run is too small to print."""

from __future__ import annotations

import pytest
from sixteen import comparing, rows

from codecap.compare.answer_records import AnswerPair, QuestionAnswering
from codecap.compare.columns import MetricInfo
from codecap.compare.estimates import Interval
from codecap.compare.printed import tables_of
from codecap.compare.typeset import markdown

SIZE = MetricInfo("code_size", "Code size", "bytes", 0, None, False)


@pytest.mark.parametrize("metrics", [[], [SIZE]])
def test_a_run_without_a_metric_of_the_paper_is_printed(tmp_path, metrics):
    names = [metric.name for metric in metrics]
    scores = [score for score in rows.scores() if score.metric in names]
    made = comparing.compare(tmp_path, metrics=metrics, scores=scores, annotations=[], config=None, resamples=20)
    lines = (made.folder / "tables" / "ranks.md").read_text(encoding="utf-8").splitlines()
    agentic = [line for line in lines if line.startswith("| ") and "Twin" in line]
    assert agentic == ["| Twin one | 1 (1–1) |", "| Twin two | 1 (1–1) |"]  # all of them made all videos


def test_what_is_marked_is_explained_below(sixteen):
    marked = []
    for path in sorted((sixteen.folder / "tables").glob("*.md")):
        table, *notes = path.read_text(encoding="utf-8").split("\n† incomplete: ")
        marked += [path.stem] if "†" in table else []
        assert bool(notes) == ("†" in table), path.stem
    assert {"main", "main_reconstruction", "by_category", "ranks"} <= set(marked)


def test_a_lost_task_hides_no_missing_number(tmp_path):
    """Two tasks of a05 are lost on clips without an annotation; a video of another clip has no IoU."""
    without, metrics = ("C_01", "C_02"), ("object_iou", "retention")
    scores = [
        score
        for score in rows.scores()
        if not (score.metric in metrics and score.clip_id in without)
        and (score.metric, score.system, score.clip_id) != ("object_iou", "a05", "A_01")
    ]
    annotations = [row for row in rows.annotations() if row.clip_id not in without]
    made = comparing.compare(tmp_path, scores=scores, annotations=annotations, resamples=20)
    text = (made.folder / "tables" / "main.md").read_text(encoding="utf-8")
    assert "Lost two lacks 2 tasks, Object IoU 1 video;" in text


def test_unanswered_questions_are_marked(sixteen):
    systems = {"code": "n11", "code_label": "Direct", "words": "words", "words_label": "In words"}
    found = {name: Interval(value=50.0) for name in ("code_accuracy", "words_accuracy", "difference")}
    pair = AnswerPair(question_set="quiz", model="m", questions=8, clips=4, missing=1, **systems, **found)
    made = sixteen.made.model_copy(update={"answered": QuestionAnswering(sets=[], rows=[], pairs=[pair], protocols={})})
    (table,) = [table for table in tables_of(made) if table.name == "questions"]
    text = markdown(table)
    assert "| m† | Direct | In words | 8 |" in text
    assert text.rstrip().endswith("† incomplete: Direct and In words lack 1 question of quiz.")
