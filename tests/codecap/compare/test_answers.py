"""Tables of questions from answers that were counted by hand: by subject and type, code against words, and what is not mixed."""

import csv

import pytest

from codecap.compare import answer_csv
from codecap.compare.answers import POOLED, summarise
from codecap.compare.comparison import ComparisonError
from codecap.questions.planned import ORIGINAL
from codecap.records import Answer

SOL, OPUS = {"model": "sol"}, {"model": "opus"}
MODELS = {
    "sol": {"label": "Sol", "harness": "direct", "endpoint": SOL},
    "filmed": {"label": "Filmed", "harness": "caption_to_video", "captions_of": "sol-words", "endpoint": SOL},
    "opus": {"label": "Opus", "harness": "direct", "endpoint": OPUS},
    "vtrace": {"label": "Trace", "harness": "vtrace"},
}
TEXTS = {"sol-words": {"label": "Sol, words", "harness": "describe", "endpoint": SOL}}
MEDIUM = {"sol-words": "caption", ORIGINAL: "original"}
QUESTIONS = [("A_1", "q1", "action"), ("A_1", "q2", "entity"), ("B_1", "q3", "action"), ("B_1", "q4", "entity")]
COUNTED = {  # by question: + right, - wrong, ? undetermined, x nothing was made, u unscored, i our failure
    "sol": "++-?",
    "sol-words": "+-u+",
    "opus": "++xx",
    "vtrace": "----",
    "filmed": "iiii",
    ORIGINAL: "++++",
}
TOLD = {
    "+": {"status": "ok", "correct": True, "option": "a"},
    "-": {"status": "ok", "correct": False, "option": "b"},
    "?": {"status": "ok", "correct": False, "undetermined": True},
    "x": {"status": "missing_seek", "correct": False},
    "u": {"status": "unscored"},
    "i": {"status": "infra_error"},
}


def answers(counted=None, **more):
    return [
        Answer(
            question_id=question,
            type=kind,
            system=system,
            clip_id=clip,
            medium=MEDIUM.get(system, "render"),
            **({"question_set": "quiz", "protocol": "p" if TOLD[sign]["status"] == "ok" else ""} | TOLD[sign] | more),
        )
        for system, signs in (counted or COUNTED).items()
        for (clip, question, kind), sign in zip(QUESTIONS, signs, strict=True)
    ]


@pytest.fixture(scope="module")
def found():
    return summarise(answers(), MODELS, TEXTS, resamples=200)


def row(found, system, kind=""):
    return next(row for row in found.rows if (row.system, row.type) == (system, kind))


def test_each_subject_is_counted_by_hand(found):
    sol = row(found, "sol")
    assert (sol.right, sol.wrong, sol.undetermined, sol.failed, sol.questions, sol.clips) == (2, 1, 1, 0, 4, 2)
    assert sol.accuracy.value == sol.cap_r.value == 50 and sol.cap_p.value == pytest.approx(200 / 3)
    assert sol.cap_f1.value == pytest.approx(400 / 7) and not sol.incomplete
    opus = row(found, "opus")
    assert (opus.failed, opus.accuracy.value, opus.cap_p.value) == (2, 50, 100)  # what was not made is not made up
    words = row(found, "sol-words")
    assert (words.unscored, words.accuracy.value, words.incomplete) == (1, pytest.approx(200 / 3), True)
    filmed = row(found, "filmed")
    assert (filmed.infra_error, filmed.accuracy.value, filmed.incomplete) == (4, None, True)
    assert row(found, "").label == "Original videos" and row(found, "").accuracy.value == 100


def test_types_are_apart(found):
    assert [row(found, "sol", kind).accuracy.value for kind in ("action", "entity")] == [50, 50]
    assert row(found, "sol", "action").cap_p.value == 50 and row(found, "sol", "entity").cap_p.value == 100
    (entry,) = found.sets
    assert (entry.questions, entry.clips, entry.types) == (4, 2, {"action": 2, "entity": 2})


def test_the_order_is_that_of_the_media_and_of_the_configuration(found):
    assert [row.system for row in found.rows if not row.type] == ["sol", "filmed", "opus", "vtrace", "sol-words", ""]


def test_code_stands_against_words_of_its_own_model_on_shared_questions(found):
    (pair,) = found.pairs  # opus has no words, a video made of words is no code
    assert (pair.model, pair.code, pair.words, pair.questions, pair.clips) == ("sol", "sol", "sol-words", 3, 2)
    assert pair.missing == 1 and pair.incomplete  # one that the words have no answer to
    assert (pair.code_accuracy.value, pair.words_accuracy.value) == (pytest.approx(200 / 3), pytest.approx(200 / 3))
    assert pair.difference.value == pytest.approx(0) and pair.difference.low < 0 < pair.difference.high and not pair.separated


def test_the_papers_numbers_are_accuracies_of_106_questions():
    """Table 2 has 81 of 106 and 78 of 106 for one model: 76.42 and 73.58 %, a difference of 2.83 points."""
    made = []
    for system, right in (("sol", 81), ("sol-words", 78)):
        for number in range(106):
            told = TOLD["+"] if number < right else TOLD["-"]
            place = {"question_set": "paper", "question_id": f"q{number}", "clip_id": f"A_{number % 100}", "type": "t"}
            made.append(Answer(**place, system=system, medium=MEDIUM.get(system, "render"), protocol="p", **told))
    found = summarise(made, MODELS, TEXTS, resamples=200)
    assert round(row(found, "sol").accuracy.value, 2) == 76.42 and round(row(found, "sol-words").accuracy.value, 2) == 73.58
    assert round(found.pairs[0].difference.value, 2) == 2.83


def test_sets_that_were_asked_alike_stand_together_too():
    both = [*answers({"sol": "++--", "sol-words": "+---"}), *answers({"sol": "++++", "sol-words": "++--"}, question_set="other")]
    found = summarise(both, MODELS, TEXTS, resamples=200)
    assert [entry.name for entry in found.sets] == [POOLED, "other", "quiz"] and found.sets[0].questions == 8
    assert [(told.question_set, told.accuracy.value) for told in found.rows if (told.system, told.type) == ("sol", "")] == [
        (POOLED, 75),
        ("other", 100),
        ("quiz", 50),
    ]
    assert [(pair.question_set, pair.questions, pair.difference.value) for pair in found.pairs] == [
        (POOLED, 8, pytest.approx(37.5)),
        ("other", 4, pytest.approx(50)),
        ("quiz", 4, pytest.approx(25)),
    ]
    otherwise = [*answers({"sol": "++--"}), *answers({"sol": "++++"}, question_set="other", protocol="with another option")]
    assert [entry.name for entry in summarise(otherwise, MODELS, TEXTS).sets] == ["other", "quiz"]
    part = [*answers({"sol": "xxxx", ORIGINAL: "++++"}), *answers({"sol": "++++", ORIGINAL: "++++"}, question_set="other")]
    assert summarise(part, MODELS, TEXTS, resamples=200).sets[0].name == POOLED  # a page that failed was asked in no other way


def test_the_order_of_the_rows_changes_nothing(found):
    assert summarise(reversed(answers()), MODELS, TEXTS, resamples=200) == found
    assert summarise([], MODELS, TEXTS) is None


def test_two_protocols_are_not_mixed_and_nothing_is_counted_twice():
    mixed = [*answers({"sol": "++++"}), *answers({"opus": "++++"}, protocol="other")]
    with pytest.raises(ComparisonError, match="'quiz', asked about the render, have answers of 2 protocols.*'other' of opus"):
        summarise(mixed, MODELS, TEXTS)
    with pytest.raises(ComparisonError, match="question 'q1' of 'quiz' has two answers about sol"):
        summarise([*answers({"sol": "++++"}), *answers({"sol": "++++"})], MODELS, TEXTS)


def test_tables(found, tmp_path):
    answer_csv.write_tables(tmp_path, found, answers())
    read = {path.name: list(csv.DictReader(path.read_text().splitlines())) for path in tmp_path.iterdir()}
    assert set(read) == {"question_answering.csv", "question_pairs.csv", "answers.csv"}
    sol = next(line for line in read["question_answering.csv"] if (line["system"], line["type"]) == ("sol", ""))
    assert (sol["accuracy"], sol["cap_p"], sol["cap_f1"], sol["protocol"]) == ("50", "66.6667", "57.1429", "p")
    assert len(read["answers.csv"]) == 24 and {line["counted"] for line in read["answers.csv"]} == {"right", "wrong", "missing", ""}
    assert read["question_pairs.csv"][0]["separated"] == "no"
    assert (read["question_pairs.csv"][0]["without_answer"], read["question_pairs.csv"][0]["incomplete"]) == ("1", "yes")


def test_what_a_model_says_is_no_formula_in_a_table(found, tmp_path):
    said = [row.model_copy(update={"detail": '=HYPERLINK("http://x")', "option": "-5"}) for row in answers({"sol": "++++"})]
    answer_csv.write_tables(tmp_path, found, said)
    line = next(csv.DictReader((tmp_path / "answers.csv").read_text().splitlines()))
    assert (line["detail"], line["option"]) == ('\'=HYPERLINK("http://x")', "-5")
