"""From a clip to a draft of questions, against scripted models: written, tried blind, thinned; killed and begun again."""

import json
import re

import pytest
from loopback import Loopback
from questioned import asked_in, endpoint, question

from codecap.exchange import session
from codecap.questions.making import course
from codecap.questions.making.blind import Trial, accuracy, is_solved, order_of
from codecap.questions.making.grouping import hardest
from codecap.questions.making.writing import Candidate, types_of
from codecap.questions.sets import Question, QuestionError, read_set
from codecap.questions.settings import Maker
from codecap.records import read_rows

WRONG = ["left", "down", "up", "nowhere"]
WRITTEN = {  # by type: what the writer says
    "action": [
        {"evidence": "0.5 s", "question": "Where does the square slide?", "right": "right", "wrong": WRONG},
        {"evidence": "1.2 s", "question": "Which way does the red thing move?", "right": "to the right", "wrong": WRONG},
    ],
    "attribute": [
        {"evidence": "0 s", "question": "What colour is the sky?", "right": "blue", "wrong": ["green", "pink", "brown", "red"]},
        {"evidence": "2 s", "question": "What colour is the bar?", "right": "navy", "wrong": ["teal", "plum", "rust", "sand"]},
        {"evidence": "2 s", "question": "Twice?", "right": "x", "wrong": ["x", "y", "z", "w"]},
    ],
}


def writer(text):
    return {"questions": WRITTEN[re.search(r'all of the type "(\w+)"', text)[1]]}


def blind(knows):
    """A model without the video that knows some answers, and else takes what is offered first."""

    def answer(text):
        options = asked_in(text)["options"]
        known = [letter for letter, option in options.items() if option in knows]
        return {"evidence": "the sky is blue", "choice": known[0] if known else wrong_of(options)}

    return answer


def wrong_of(options):
    """Never right by chance."""
    rights = {one["right"] for held in WRITTEN.values() for one in held}
    return next(letter for letter, option in options.items() if option not in rights)


def grouper(text):
    asked = json.loads(re.search(r"QUESTIONS:\n(\[.*?\n\])", text, re.DOTALL)[1])
    moving = [one["id"] for one in asked if "right" in one["right"]]
    return {"groups": [moving, *([one["id"]] for one in asked if one["id"] not in moving)]}


def speaking(knows=("blue",)):
    """All models in one: by the words of the request."""

    def answer(text):
        if "all of the type" in text:
            return writer(text)
        return grouper(text) if "QUESTIONS:" in text else blind(knows)(text)

    return answer


def maker_of(server, **told):
    asker = endpoint(server)
    made = {"writers": [asker], "blind": [endpoint(server, "b1"), endpoint(server, "b2")], "grouper": asker}
    return Maker.model_validate(made | {"types": ["action", "attribute"]} | told)


def make(server, store, film, out, **told):
    """With one trial, where it does not matter."""
    with session(store, {"tries": 1}):
        return course.make_questions([film], maker_of(server, **({"trials": 1, "solved_in": 1} | told)), out, lambda _: None)


def test_a_draft_holds_what_needs_the_clip_and_each_thing_once(film, tmp_path):
    with Loopback(speaking()) as server:
        made = make(server, tmp_path / "store", film, tmp_path / "out", trials=3, solved_in=2)
        # 2 types by one writer, 4 usable questions to 2 models in 3 trials, one grouping
        assert server.account.calls == 2 + 4 * 2 * 3 + 1
    assert [one.question.question for one in made.candidates] == [
        said["question"] for name in ("action", "attribute") for said in WRITTEN[name] if said["question"] != "Twice?"
    ]
    assert [one.question for one in made.solved] == ["What colour is the sky?"]
    assert len(made.problems) == 1 and "one question cannot be used: Value error, options say the same twice: x" in made.problems[0]
    draft = read_set(tmp_path / "out" / course.DRAFT)
    assert len(draft) == 2 and {one.type for one in draft} == {"action", "attribute"}
    assert all(len(one.options) == 5 and one.source == "written by m" for one in draft)
    assert [one.answer for one in draft] == [0, 1]  # spread over the places
    assert len(list(read_rows(tmp_path / "out" / course.TRIALS, Trial))) == 24
    assert list(read_rows(tmp_path / "out" / course.CANDIDATES, Candidate)) == made.candidates


def test_the_blind_check_removes_what_a_text_only_answerer_solves(film, tmp_path):
    with (
        Loopback(speaking(knows=("blue", "navy", "right", "to the right"))) as server,
        pytest.raises(QuestionError, match="no question is left: .*one question cannot be used"),
    ):
        make(server, tmp_path / "store", film, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_question_that_one_model_alone_solves_stays(film, tmp_path):
    """The second model never knows."""

    def answer(body_model):
        return speaking(knows=("blue",) if body_model != "b2" else ())

    with Loopback() as server:
        server.answer = lambda text: answer(server.bodies[-1]["model"])(text)
        made = make(server, tmp_path / "store", film, tmp_path / "out")
    assert made.solved == [] and len(made.draft) == 3


def test_options_are_in_another_order_in_each_trial_and_the_same_for_all_models():
    asked = question(1, options=list("abcde"))
    orders = [order_of(asked, trial) for trial in range(3)]
    assert len({tuple(order) for order in orders}) == 3 and all(sorted(order) == [0, 1, 2, 3, 4] for order in orders)
    assert orders == [order_of(asked, trial) for trial in range(3)]


def trial(asker, number, correct):
    return Trial(question_id="q", asker=asker, model="m", trial=number, order=[0, 1], choice=0, correct=correct)


@pytest.mark.parametrize(
    ("first", "second", "solved"),
    [((1, 1, 0), (0, 1, 1), True), ((1, 1, 1), (1, 0, 0), False), ((1, 0, 0), (0, 0, 1), False), ((1, 1, 1), (1, 1, 1), True)],
)
def test_solved_is_two_of_three_by_both_though_both_have_one_name(first, second, solved):
    made = Maker.model_construct(blind=[None, None], trials=3, solved_in=2)
    trials = [trial(asker, n, bool(right)) for asker, told in enumerate((first, second)) for n, right in enumerate(told)]
    assert is_solved(trials, made) is solved
    assert accuracy(trials) == pytest.approx(sum(first + second) / 6)


def test_the_hardest_of_each_group_is_kept():
    one, two, three = (question(number) for number in (1, 2, 3))
    assert hardest([[one, two], [three]], {"q1": 0.5, "q2": 0.25, "q3": 1.0}) == [two, three]
    assert hardest([[two, one]], {"q1": 0.5, "q2": 0.5}) == [one]


def test_a_course_that_is_broken_off_goes_on_and_asks_nothing_twice(film, tmp_path):
    with Loopback(speaking()) as server:
        server.behave(*["well"] * 5, *["500"] * 40)
        with pytest.raises(QuestionError, match="T_001: .*500.*; what was answered is recorded: run again to go on"):
            make(server, tmp_path / "store", film, tmp_path / "out")
        server._next.clear()
        make(server, tmp_path / "store", film, tmp_path / "out")
        first = (tmp_path / "out" / course.DRAFT).read_bytes()
        assert server.account.calls == 11  # 2 to the writer, 4 to each of 2 blind ones, one grouping
        make(server, tmp_path / "store", film, tmp_path / "again")
        assert server.account.calls == 11 and (tmp_path / "again" / course.DRAFT).read_bytes() == first


def test_groups_that_are_not_a_partition_are_asked_for_again_and_then_left_out(film, tmp_path):
    def answer(text):
        return {"groups": [["q1"]]} if "QUESTIONS:" in text else speaking()(text)

    with Loopback(answer) as server, pytest.raises(QuestionError, match="as nobody says which of them ask the same"):
        make(server, tmp_path / "store", film, tmp_path / "out")


def test_unknown_types_are_told():
    with pytest.raises(QuestionError, match="no type 'mood'; there are entity, attribute, action, event, setting, relation"):
        types_of(Maker.model_construct(types=["mood"]))
    assert len(types_of(Maker.model_construct(types=None))) == 10


def test_half_a_character_spoils_nothing(film, tmp_path):
    said = {"questions": [{"evidence": "e", "question": "What \ud83d?", "right": "a", "wrong": ["b", "c", "d", "e"]}]}

    def answer(text):
        return said if "all of the type" in text else grouper(text) if "QUESTIONS:" in text else {"evidence": "x", "choice": "A"}

    with Loopback(answer) as server:
        make(server, tmp_path / "store", film, tmp_path / "out", types=["action"])
    assert [type(one) for one in read_set(tmp_path / "out" / course.DRAFT)] == [Question]
