"""The paper's tables beside ours: which line, which number, and every reason why two numbers are no comparison."""

from __future__ import annotations

import shutil

import pytest
import yaml
from sixteen import comparing, rows

from codecap.compare.answer_records import AnswerPair, AnswerRow, QuestionAnswering, QuestionSetEntry
from codecap.compare.comparison import ComparisonError
from codecap.compare.estimates import Interval
from codecap.compare.published import PAPER, Run, published, read_table


def run_of(made, config=None, **more) -> Run:
    told = {"models": rows.MODELS, "systems": made.systems, "columns": made.columns, "main": made.main, "clips": made.clips}
    return Run(comparing.CONFIG if config is None else config, reconstruction=made.reconstruction, **told | more)


def line_of(told, table: str, *heads: str):
    (found,) = [line for of in told.tables if of.name == table for line in of.lines if tuple(line.heads.values()) == heads]
    return found


def test_all_numbers_of_the_paper_are_there():
    tables = {number: read_table(PAPER / f"table_{number}.csv") for number in (1, 2, 3)}
    assert [len(lines) for lines in tables.values()] == [16, 4, 6]
    assert [line["retention_overall"] for line in tables[1]][:3] == ["73.24", "72.87", "58.84"]
    assert sum(float(line["retention_overall"]) for line in tables[1]) == pytest.approx(853.92)  # of the printed column
    assert sum(float(line["kss"]) for line in tables[3]) == pytest.approx(4.1917)


def test_a_line_stands_beside_the_system_that_is_configured_like_it(sixteen):
    told = sixteen.made.published
    line = line_of(told, "table_1", "GPT-6-astra", "Codex")
    assert line.system == "a01" and [cell.column for cell in line.cells][-1] == "retention_overall"
    assert (line.cells[-1].published, line.cells[-1].ours.mean) == (73.24, 80.0)
    assert [line.system for of in told.tables for line in of.lines].count(None) == 16 + 4 + 6 - 4
    assert line_of(told, "table_1", "GPT-5.6-sol", "-").system == "n11"
    assert line_of(told, "table_3", "GPT-5.6-sol", "Code rendering").system == "n11"
    assert line_of(told, "table_3", "GPT-5.6-sol", "Caption-to-video").system == "n13"
    assert not line_of(told, "table_1", "Opus-5", "Pi Agent").here


def test_each_part_that_differs_is_a_reason(sixteen):
    line = line_of(sixteen.made.published, "table_1", "GPT-6-astra", "Codex")
    assert line.reasons == [
        "other videos: 40 videos of 11.2 s in the mean and 10 s in the median; the paper's are 323 videos of 19 s in the mean and "
        "17 s in the median",
        "made with codex 1.0; the paper's with codex 0.155.1",
    ]
    reasons = {cell.column: cell.reasons for cell in line.cells}
    assert reasons["visual_similarity"] == [] and reasons["object_iou"] == ["segmenter is sam2; the paper's is sam3_1"]
    assert reasons["retention_static"] == ["judges.mllm.repeats is 3; the paper's is 1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"render": {"limit_s": 60}}, "render.limit_s is 60; the paper's is 900"),
        ({"agents": {"deadline_s": 7200}}, "deadline_s is 7200; the paper's is 3600"),
    ],
)
def test_settings_of_the_run_and_of_the_agents_count(sixteen, change, reason):
    told = published(run_of(sixteen.made, comparing.CONFIG | change))
    assert reason in line_of(told, "table_1", "GPT-6-astra", "Codex").reasons


def test_a_proxy_is_never_the_papers_metric(sixteen):
    config = comparing.CONFIG | {"metrics": {"visual_similarity": {"encoder": "efficientnet"}}}
    line = line_of(published(run_of(sixteen.made, config)), "table_1", "GPT-6-astra", "Codex")
    (cell,) = [cell for cell in line.cells if cell.column == "visual_similarity"]
    assert cell.reasons == ["encoder is efficientnet; the paper's is vjepa2_1"]


def test_the_same_protocol_has_no_reason(sixteen, tmp_path):
    """Of a paper whose videos and versions are this run's."""
    shutil.copytree(PAPER, tmp_path / "paper")
    protocol = yaml.safe_load((PAPER / "protocol.yaml").read_text())
    protocol["videos"] = {"count": 40, "mean_s": 11.2, "median_s": 10.0}
    protocol["versions"]["codex"] = "codex 1.0"
    (tmp_path / "paper" / "protocol.yaml").write_text(yaml.safe_dump(protocol))
    line = line_of(published(run_of(sixteen.made), tmp_path / "paper"), "table_1", "GPT-6-astra", "Codex")
    assert line.here and line.reasons == [] and line.cells[1].reasons == []


def test_an_incomplete_number_of_ours_is_a_reason(sixteen):
    models = rows.MODELS | {"a05": rows.MODELS["a05"] | {"harness": "codex", "endpoint": rows.endpoint("gpt-6-sol")}}
    line = line_of(published(run_of(sixteen.made, models=models)), "table_1", "GPT-6-sol", "Codex")
    assert line.system == "a05" and "ours is incomplete: 2 videos, 0 items without a number" in line.cells[0].reasons


def test_another_effort_is_another_system(sixteen):
    models = rows.MODELS | {"a01": rows.MODELS["a01"] | {"endpoint": rows.endpoint("gpt-6-astra", "high")}}
    assert line_of(published(run_of(sixteen.made, models=models)), "table_1", "GPT-6-astra", "Codex").system is None


def test_answers_to_questions_stand_beside_table_2(sixteen):
    asked = {"question_set": "mine", "questions": 30, "clips": 10}
    systems = {"code": "n11", "code_label": "Direct", "words": "words", "words_label": "In words"}
    found = {"code_accuracy": 70.0, "words_accuracy": 60.0, "difference": 10.0}
    pair = AnswerPair(model="gpt-5.6-sol", **asked, **systems, **{name: Interval(value=value) for name, value in found.items()})
    counts = {"right": 27, "wrong": 3, "undetermined": 0, "failed": 0, "unscored": 0, "infra_error": 0}
    numbers = {"accuracy": Interval(value=90.0), "cap_p": Interval(), "cap_r": Interval(), "cap_f1": Interval()}
    original = AnswerRow(medium="original", system="", label="Original videos", type="", **asked, **counts, **numbers)
    entry = QuestionSetEntry(name="mine", questions=30, clips=10, types={"": 30})
    answered = QuestionAnswering(sets=[entry], rows=[original], pairs=[pair], protocols={})
    config = comparing.CONFIG | {"questions": {"answerer": {"endpoint": {"model": "other"}}}}
    told = published(run_of(sixteen.made, config, answered=answered))
    line = line_of(told, "table_2", "GPT-5.6-sol")
    assert (line.system, [cell.ours.mean for cell in line.cells]) == ("n11", [70.0, 60.0])
    assert line.reasons == [
        "answerer.endpoint.model is other; the paper's is gemini-3.8-flash",
        "other questions: of mine; the paper's are of dvbench, videomathqa, gui_world",
    ]
    whole = line_of(told, "table_2", "Original videos")
    assert whole.system is None and whole.here and whole.cells[0].ours.mean == 90.0
    assert not line_of(told, "table_2", "Opus-5").here


def test_a_table_that_is_none_is_one_clear_error(tmp_path):
    (tmp_path / "table_1.csv").write_text("model,kss\nm,0.5\nn,high\n")
    with pytest.raises(ComparisonError, match=r"table_1.csv:3: kss is no number: 'high'"):
        read_table(tmp_path / "table_1.csv")
    with pytest.raises(ComparisonError, match=r"table_9.csv: cannot be read"):
        read_table(tmp_path / "table_9.csv")
