"""The paper's tables beside ours: which line, which number, and every reason why two numbers are no comparison."""

from __future__ import annotations

import shutil

import pytest
import yaml
from sixteen import comparing, rows

from codecap.compare.answer_records import AnswerPair, AnswerRow, QuestionAnswering, QuestionSetEntry
from codecap.compare.answers import POOLED
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


def answered_of(*names: str, clips: int = 100, missing: int = 0, code: str = "n11") -> QuestionAnswering:
    """One model's code and words on each of some sets: 70, 60 and 90 %."""
    found = {"code_accuracy": 70.0, "words_accuracy": 60.0, "difference": 10.0}
    counts = {"right": 27, "wrong": 3, "undetermined": 0, "failed": 0, "unscored": missing, "infra_error": 0}
    numbers = {"accuracy": Interval(value=90.0), "cap_p": Interval(), "cap_r": Interval(), "cap_f1": Interval()}
    systems = {"code": code, "code_label": "Direct", "words": "words", "words_label": "In words", "missing": missing}
    sets, lines, pairs = [], [], []
    for name in names:
        asked = {"question_set": name, "questions": 30, "clips": clips}
        sets.append(QuestionSetEntry(name=name, questions=30, clips=clips, types={"": 30}))
        lines.append(AnswerRow(medium="original", system="", label="Original videos", type="", **asked, **counts, **numbers))
        intervals = {name: Interval(value=value) for name, value in found.items()}
        pairs.append(AnswerPair(model="gpt-5.6-sol", **asked, **systems, **intervals))
    return QuestionAnswering(sets=sets, rows=lines, pairs=pairs, protocols={})


def table_2(sixteen, answered: QuestionAnswering, model: str = "gemini-3.8-flash"):
    config = {"questions": {"answerer": {"endpoint": {"model": model}}}, "models": rows.MODELS | rows.TEXTS}
    return published(run_of(sixteen.made, comparing.CONFIG | config, answered=answered))


def test_answers_to_questions_stand_beside_table_2(sixteen):
    told = table_2(sixteen, answered_of("mine", clips=10), model="other")
    line = line_of(told, "table_2", "GPT-5.6-sol")
    assert (line.system, [cell.ours.mean for cell in line.cells]) == ("n11", [70.0, 60.0])
    assert line.reasons == [
        "answerer.endpoint.model is other; the paper's is gemini-3.8-flash",
        "other questions: of mine; the paper's are of dvbench, videomathqa, gui_world",
        "questions about 10 videos; the paper's are about 100",
    ]
    whole = line_of(told, "table_2", "Original videos")
    assert whole.system is None and whole.here and whole.cells[0].ours.mean == 90.0
    assert not line_of(told, "table_2", "Opus-5").here


SETS = ("dvbench", "videomathqa", "gui_world")


@pytest.mark.parametrize(
    ("answered", "reasons"),
    [
        (answered_of(POOLED, *SETS), []),
        (
            answered_of(*SETS),
            ["questions of dvbench alone, since the sets were not asked alike; the paper's are of all sets together"],
        ),
        (
            answered_of(POOLED, "capquiz", *SETS),
            ["other questions: of capquiz, dvbench, videomathqa, gui_world; the paper's are of dvbench, videomathqa, gui_world"],
        ),
        (answered_of(POOLED, *SETS, code="a10"), ["effort of a10 is xhigh; the paper's is medium"]),
    ],
)
def test_table_2_is_over_all_questions_of_three_sets_at_one_effort(sixteen, answered, reasons):
    line = line_of(table_2(sixteen, answered), "table_2", "GPT-5.6-sol")
    assert line.here and line.reasons == reasons and all(cell.reasons == [] for cell in line.cells)


def test_questions_without_an_answer_are_a_reason(sixteen):
    told = table_2(sixteen, answered_of(POOLED, *SETS, missing=2))
    for model in ("GPT-5.6-sol", "Original videos"):
        cells = line_of(told, "table_2", model).cells
        assert {tuple(cell.reasons) for cell in cells} == {("ours is incomplete: 2 questions without an answer",)}


@pytest.mark.parametrize(
    ("video", "reasons"),
    [
        ({"video": "http_jobs", "videos": {"http_jobs": {"model": "doubao-seedance-2-5-260628"}}}, []),
        (
            {"video": "http_jobs", "videos": {"http_jobs": {"model": "movie-2"}}},
            ["videos.http_jobs.model is movie-2; the paper's is *seedance-2-5*"],
        ),
        ({"video": "diffusers"}, ["video is diffusers; the paper's is http_jobs"]),
    ],
)
def test_who_films_captions_is_part_of_the_protocol(sixteen, video, reasons):
    models = rows.MODELS | {"n13": rows.MODELS["n13"] | video}
    line = line_of(published(run_of(sixteen.made, models=models)), "table_3", "GPT-5.6-sol", "Caption-to-video")
    assert line.system == "n13" and line.reasons[1:] == reasons  # the first: other videos


def test_a_table_that_is_none_is_one_clear_error(tmp_path):
    (tmp_path / "table_1.csv").write_text("model,kss\nm,0.5\nn,high\n")
    with pytest.raises(ComparisonError, match=r"table_1.csv:3: kss is no number: 'high'"):
        read_table(tmp_path / "table_1.csv")
    with pytest.raises(ComparisonError, match=r"table_9.csv: cannot be read"):
        read_table(tmp_path / "table_9.csv")
