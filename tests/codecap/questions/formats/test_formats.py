"""Each published form, on rows made by hand in it: what is taken, what is left out, what is refused."""

import json

import pytest
from pydantic import ValidationError

from codecap import registry
from codecap.questions.published import LeftOut, WrongForm, lettered, rows_of
from codecap.questions.sets import QuestionError

NOTHING = dict.fromkeys(("distractor1", "distractor2", "distractor3"), "")
DVBENCH = {
    "question_id": "007-3",
    "question_type": "MCQ_single",
    "video": "7",
    "dimension": "Chart Reasoning",
    "question": "Which line is the highest in 2010?",
    "answer": "the orange one",
    "distractor1": "the red one",
    "distractor2": "the blue one",
    "distractor3": "",
    "chart_type": "line",
    "animation_editorial_layer": "",
    "chart_reas_type": "Value",
    "alignment_semantic_label": "",
}
VIDEOMATHQA = {
    "videoID": "-aB_1x",
    "question_id": 12,
    "category": "Geometry Angle",
    "question": "How large is the angle?",
    "options": ["A. 30°", "B. 45°", "C. 60°", "D. 90°", "E. 120°"],
    "answer": "C",
    "steps": "1. ...",
    "length": "short",
}
GUI_WORLD = {
    "video_path": "software/12.mp4",
    "system": "Windows",
    "app": ["Word"],
    "region": "whole",
    "goal": "Save the file",
    "keyframes": [{"frame": 3, "sub_goal": "open the menu", "mouse": "click", "keyboard": "none", "keyboardOperation": ""}],
    "Caption": "Somebody saves a file.",
    "static QA": {"Question": "What is shown?", "Answer": "A menu."},
    "MCQA": {
        "Question": "Which menu is opened first?",
        "Options": ["A. File", "B. Edit", "C. View", "D. Help"],
        "Correct Answer": "[[A]]",
    },
}
CAPQUIZ = {
    "video": "clip_4.mp4",
    "type": "Attribute",
    "question": "What colour is the bar?",
    "options": ["red", "green", "blue", "black", "white"],
    "answer": "B",
}


def take(name, row):
    return registry.load("questions.formats", name).take(row)


def test_dvbench_options_are_put_in_an_order_of_their_own():
    found = take("dvbench", DVBENCH)
    assert (found.video, found.question_id, found.type) == ("7", "007-3", "Chart Reasoning")
    assert set(found.options) == {"the orange one", "the red one", "the blue one"}
    assert found.options[found.answer] == "the orange one" and found == take("dvbench", DVBENCH)
    places = [take("dvbench", DVBENCH | {"question_id": f"007-{number}"}).answer for number in range(40)]
    assert {places.count(place) > 4 for place in range(3)} == {True}


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ({"question_type": "EM", **NOTHING}, r"answered in words \(EM\)"),
        ({"question_type": "Open_ended", **NOTHING}, "answered in words"),
        ({"question_type": "MCQ_multiple", "answer": "zooms in; lights up"}, "several right options"),
        ({"answer": "To be completed"}, "unfinished in the release"),
        (NOTHING, "unfinished in the release"),
    ],
)
def test_dvbench_rows_that_are_no_choice_are_left_out(told, what):
    with pytest.raises(LeftOut, match=what):
        take("dvbench", DVBENCH | told)


def test_dvbench_takes_numbers_that_are_written_as_numbers():
    found = take("dvbench", DVBENCH | {"video": 7, "answer": 1995, "distractor1": 1990, "distractor3": None})
    assert found.video == "7" and found.options[found.answer] == "1995"


def test_videomathqa():
    found = take("videomathqa", VIDEOMATHQA)
    assert (found.video, found.question_id, found.type) == ("-aB_1x", "12", "Geometry Angle")
    assert found.options == ("30°", "45°", "60°", "90°", "120°") and found.answer == 2
    with pytest.raises(WrongForm, match="the answer 'F' is none of the 5 options"):
        take("videomathqa", VIDEOMATHQA | {"answer": "F"})


def test_gui_world_has_one_choice_a_recording():
    found = take("gui_world", GUI_WORLD)
    assert (found.video, found.question_id, found.type) == ("software/12.mp4", "software/12", "software")
    assert found.options == ("File", "Edit", "View", "Help") and found.answer == 0
    with pytest.raises(LeftOut, match="without a multiple-choice question"):
        take("gui_world", {key: value for key, value in GUI_WORLD.items() if key != "MCQA"})
    with pytest.raises(ValidationError, match="Correct Answer"):
        take("gui_world", GUI_WORLD | {"MCQA": {"Question": "?", "Options": ["A. a", "B. b"]}})


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"answer": 1},
        {"answer": "green"},
        {"answer": "(B)"},
        {"options": {"A": "red", "B": "green", "C": "blue", "D": "black", "E": "white"}},
        {"options": ["A) red", "B) green", "C) blue", "D) black", "E) white"], "answer": "B) green"},
    ],
)
def test_capquiz_in_the_usual_ways_to_write_it(told):
    found = take("capquiz", CAPQUIZ | told)
    assert found.options == ("red", "green", "blue", "black", "white") and found.answer == 1
    assert (found.video, found.type) == ("clip_4.mp4", "Attribute") and found.question_id


def test_capquiz_by_other_names():
    renamed = {"video_id": "4", "question_type": "Entity", "qa_id": 9, "question": "?"}
    renamed |= {"choices": ["x", "y"], "correct_answer": "A"}
    assert take("capquiz", renamed).question_id == "9"
    with pytest.raises(WrongForm, match="has no answer; known names of it are answer, correct_answer, .*, there are video"):
        take("capquiz", {key: value for key, value in CAPQUIZ.items() if key != "answer"})
    with pytest.raises(WrongForm, match="answer is 5, the places of 5 options go from 0 to 4"):
        take("capquiz", CAPQUIZ | {"answer": 5})


def test_letters_are_taken_off_only_where_all_options_have_them():
    assert lettered(["A. Milne", "Poe"], "A. Milne") == (("A. Milne", "Poe"), 0)
    assert lettered(["B. x", "A. y"], "A. y") == (("B. x", "A. y"), 1)
    assert lettered(["A. 1", "B. 2"], "B") == (("1", "2"), 1)
    assert lettered(["A", "B", "C"], "C") == (("A", "B", "C"), 2)


def test_letters_of_options_come_before_what_the_options_say():
    """Which point is the highest? "A. B", "B. A": the answer A is the first option."""
    assert lettered(["A. B", "B. A", "C. C"], "A") == (("B", "A", "C"), 0)
    assert lettered(["A. B", "B. A", "C. C"], "[[B]]") == (("B", "A", "C"), 1)
    points = {"options": ["B", "A"], "answer": 0}
    assert take("capquiz", CAPQUIZ | points).answer == 0
    assert take("capquiz", CAPQUIZ | {"options": {"A": "B", "B": "A"}, "answer": "A"}).answer == 0
    with pytest.raises(WrongForm, match="'A' is the letter of one option and the text of another"):
        take("capquiz", CAPQUIZ | points | {"answer": "A"})


def test_lines_end_where_json_lines_do(tmp_path):
    odd = CAPQUIZ | {"question": "What\u2028is\x85this?"}
    path = tmp_path / "odd.jsonl"
    path.write_text(f"{json.dumps(odd, ensure_ascii=False)}\r\n{json.dumps(CAPQUIZ)}", encoding="utf-8")
    assert [(place, row["question"]) for place, row in rows_of(path)] == [
        (f"{path}:1", odd["question"]), (f"{path}:2", CAPQUIZ["question"]),
    ]  # fmt: skip


def test_files_are_lines_or_lists_and_their_faults_have_a_place(tmp_path):
    lines, listed = tmp_path / "a.jsonl", tmp_path / "a.json"
    lines.write_text(f"{json.dumps(CAPQUIZ)}\n\n{json.dumps(CAPQUIZ)}\n")
    listed.write_text(json.dumps([CAPQUIZ, CAPQUIZ], indent=1))
    assert [place for place, _ in rows_of(lines)] == [f"{lines}:1", f"{lines}:3"]
    assert [row for _, row in rows_of(listed)] == [CAPQUIZ, CAPQUIZ]
    lines.write_text(f"{json.dumps(CAPQUIZ)}\n{{")
    with pytest.raises(QuestionError, match=rf"{lines}:2: not JSON"):
        list(rows_of(lines))
    lines.write_text("[1]")
    with pytest.raises(QuestionError, match="question 1: is no JSON object"):
        list(rows_of(lines))
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(QuestionError, match=r"install pyarrow|cannot be read as a Parquet file"):
        list(rows_of(tmp_path / "a.parquet"))
    with pytest.raises(QuestionError, match="No such file"):
        list(rows_of(tmp_path / "none.json"))
