"""What a question must be, what a set must be, and what is odd about one."""

import pytest
from pydantic import ValidationError

from codecap.questions.sets import Question, QuestionError, doubts, read_set, spread_answers
from codecap.records import write_rows


def question(number=1, **told):
    made = {"question_id": f"q{number}", "clip_id": "A_1", "type": "t", "question": f"Which {number}?", "options": ["a", "b", "c"]}
    return Question(**(made | {"answer": 0} | told))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"answer": 3}, "answer is 3, the last of 3 options is 2"),
        ({"answer": -1}, "greater than or equal to 0"),
        ({"options": ["a"]}, "at least 2"),
        ({"options": ["a", " A "]}, "options say the same twice: a"),
        ({"options": ["a", "  "]}, "an option is empty"),
        ({"question_id": "q 1"}, "one word"),
        ({"question": ""}, "question\n.*too_short"),
        ({"clip_id": "../x"}, "should match pattern"),
    ],
)
def test_what_cannot_be_asked_is_refused(told, words):
    with pytest.raises(ValidationError, match=words):
        question(**told)


def test_a_digest_is_of_what_is_asked():
    assert question(type="other", source="x").digest == question().digest
    assert question(answer=1).digest != question().digest != question(options=["a", "b", "d"]).digest


def test_a_set_comes_back_as_written(tmp_path):
    write_rows(tmp_path / "s.jsonl", Question, [question(1), question(2)])
    assert read_set(tmp_path / "s.jsonl") == [question(1), question(2)]


def test_what_is_wrong_with_a_set_names_the_line(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(question(1).model_dump_json() + '\n{"question_id": "q2"}\n')
    with pytest.raises(QuestionError, match=rf"{path}:2: not a valid Question: .*clip_id"):
        read_set(path)
    write_rows(path, Question, [question(1), question(2), question(1)])
    with pytest.raises(QuestionError, match=rf"{path}:3: question_id 'q1' stands in line 1 already"):
        read_set(path)
    path.write_text("")
    with pytest.raises(QuestionError, match="holds no question"):
        read_set(path)
    with pytest.raises(QuestionError, match="No such file"):
        read_set(tmp_path / "none.jsonl")
    with pytest.raises(QuestionError, match="cannot be read"):
        read_set(tmp_path)


def test_right_options_are_spread_over_the_places():
    made = spread_answers([question(number) for number in range(6)])
    assert [one.answer for one in made] == [0, 1, 2, 0, 1, 2]
    assert all(one.options[one.answer] == "a" and sorted(one.options) == ["a", "b", "c"] for one in made)
    assert made[1].options == ["b", "a", "c"]


def test_what_is_odd_is_told():
    skewed = [question(number) for number in range(20)]
    assert list(doubts(skewed, {"A_1"})) == ["the right option of 20 of 20 questions is A: who always says so is often right"]
    same = [question(1), question(2, question="which  1?"), question(3, clip_id="B_1")]
    told = list(doubts(same, {"A_1"}))
    assert told[0] == "1 question about 1 clip that the clips table does not have: B_1"
    assert told[1] == "A_1: 2 questions ask the same: which 1?"
    assert list(doubts([question(1)], {"A_1"})) == []
