"""`codecap questions`: the commands on the demo's clips, and what they say."""

import csv
import json

import pytest
import yaml
from typer.testing import CliRunner

from codecap.cli import app
from codecap.questions.sets import Question, read_set
from codecap.records import write_rows


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def told(*arguments, status=0):
    found = CliRunner().invoke(app, ["questions", *map(str, arguments)])
    assert found.exit_code == status, found.output
    return found.output


def recording(path, letter):
    mcqa = {"Question": f"Which {path}?", "Options": ["A. x", "B. y", "C. z"], "Correct Answer": f"[[{letter}]]"}
    return json.dumps({"video_path": path, "MCQA": mcqa}) + "\n"


def test_import_and_check(tmp_path):
    published = tmp_path / "gui.jsonl"
    published.write_text(recording("software/A_001.mp4", "B") + recording("x/001.mov", "C"))  # which 001 is not known
    said = told("import", "gui_world", published, "--out", "set.jsonl")
    assert "1 question about 1 clip\n" in said and "1 video without a clip: x/001.mov" in said
    assert "questions: {sets: {gui_world: {file: set.jsonl}}}" in said
    assert read_set(tmp_path / "set.jsonl")[0].answer == 1
    assert "set.jsonl: 1 question about 1 clip" in told("check", "set.jsonl")


def test_check_tells_what_is_odd_and_fails():
    rows = [Question(question_id="q1", clip_id="Z_9", type="t", question="Which?", options=["a", "b"], answer=0)]
    write_rows("set.jsonl", Question, rows)
    assert "1 question about 1 clip that the clips table does not have: Z_9" in told("check", "set.jsonl", status=1)
    assert "none.jsonl: cannot be read" in told("check", "none.jsonl", status=1)


def test_make_says_what_is_missing(tmp_path):
    assert "questions.maker is not set" in told("make", "--out", "draft", status=1)
    asker = {"endpoint": {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}}
    maker = {"writers": [asker], "blind": [asker], "grouper": asker}
    mine = {"clips": "resources/demo/clips.tsv", "clips_folder": None, "questions": {"maker": maker}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(mine))
    assert "--clip Q_1: not in resources/demo/clips.tsv" in told(
        "make", "--out", "draft", "--clip", "Q_1", "--config", "mine.yaml", status=1
    )


def test_approve(tmp_path):
    questions = [
        Question(question_id=f"q{n}", clip_id="A_1", type="t", question=f"Which {n}?", options=["a", "b"], answer=0) for n in (1, 2)
    ]
    write_rows("draft.jsonl", Question, questions)
    for name, hard in (("ann", "yes"), ("ben", "no"), ("cai", "no")):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["question_id", "reviewer", "relevant", "correct", "hard", "comment"])
            writer.writerows([["q1", name, "yes", "yes", "yes", ""], ["q2", name, "yes", "yes", hard, "easy"]])
    said = told("approve", "draft.jsonl", "ann.csv", "ben.csv", "cai.csv", "--out", "set.jsonl")
    assert "dropped: q2: not hard" in said and "agreement on relevant: Gwet's AC1 1.00" in said and "1 of 2 questions" in said
    assert [one.question_id for one in read_set(tmp_path / "set.jsonl")] == ["q1"]
    assert "fewer than 3 reviewers" in told("approve", "draft.jsonl", "ann.csv", "--out", "set.jsonl", status=1)
