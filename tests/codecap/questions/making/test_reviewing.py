"""People's reviews: the table they get, what is read of it, which questions stay, and how far they agree."""

import csv

import pytest
from questioned import question

from codecap.questions.making.reviewing import Review, decide, gwet_ac1, read_reviews, write_review
from codecap.questions.sets import QuestionError
from codecap.records import Clip

QUESTIONS = [question(1), question(2, question="=HYPERLINK(1)"), question(3)]
CLIP = Clip(clip_id="T_001", category="A", mp4="clips/T.mp4", sha256="0" * 64, frames=24, width_px=64, height_px=48)


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "review.csv"
    write_review(path, QUESTIONS, {"T_001": CLIP}, {"q1": "at 1 s"})
    return path


def filled(sheet, name, **told):
    """A copy that a person filled in: by question id the three criteria, as "yyn"."""
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    for row in rows:
        if row["question_id"] in told:
            row |= {"reviewer": name} | dict(zip(("relevant", "correct", "hard"), told[row["question_id"]], strict=True))
    path = sheet.with_name(f"{name}.csv")
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_table_is_text_and_no_formula(sheet):
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    assert [row["question_id"] for row in rows] == ["q1", "q2", "q3"]
    assert rows[0]["options"] == "A: left; B: right; C: up" and rows[0]["answer"] == "B" and rows[0]["evidence"] == "at 1 s"
    assert rows[1]["question"] == "'=HYPERLINK(1)" and rows[0]["clip"] == "clips/T.mp4" and rows[0]["reviewer"] == ""


def test_what_most_reviewers_approve_stays(sheet):
    files = [
        filled(sheet, "ann", q1="yyy", q2="yyn", q3="yyy"),
        filled(sheet, "ben", q1="yyy", q2="yyy", q3="yny"),
        filled(sheet, "cai", q1="yny", q2="yyn", q3="nny"),
    ]
    decided = decide(QUESTIONS, read_reviews(files, QUESTIONS), 3)
    assert [one.question_id for one in decided.kept] == ["q1"]
    assert decided.kept[0].source == ", reviewed by 3 people" and decided.kept[0].options[decided.kept[0].answer] == "right"
    assert decided.dropped == {"q2": ["hard"], "q3": ["correct"]}
    # by hand: "relevant" has 8 of 9 yes; agreeing pairs 1, 1, 1/3 -> p_a 7/9; q 8/9 -> p_e 16/81; (63-16)/(81-16)
    assert decided.agreement["relevant"] == pytest.approx(47 / 65)


def test_half_of_two_is_not_most():
    reviews = [
        Review("q1", name, {"relevant": True, "correct": right, "hard": True}) for name, right in (("a", True), ("b", False))
    ]
    assert decide(QUESTIONS[:1], reviews, 2).dropped == {"q1": ["correct"]}


def test_too_few_reviewers_are_told(sheet):
    with pytest.raises(QuestionError, match=r"2 of 3 questions have fewer than 1 reviewers, the first: q2 \(0\)"):
        decide(QUESTIONS, read_reviews([filled(sheet, "ann", q1="yyy")], QUESTIONS), 1)


def test_wrong_reviews_are_told_with_their_lines(sheet, tmp_path):
    wrong = filled(sheet, "ann", q1=["yes", "maybe", "no"], q3="yyy")
    with pytest.raises(QuestionError, match=rf"{wrong}:2: correct is 'maybe'; say yes or no"):
        read_reviews([wrong], QUESTIONS)
    twice = filled(sheet, "ben", q1="yyy")
    with pytest.raises(QuestionError, match="ben has reviewed q1 twice"):
        read_reviews([twice, twice], QUESTIONS)
    with pytest.raises(QuestionError, match="no question 'q3' in the draft"):
        read_reviews([filled(sheet, "cai", q3="yyy")], QUESTIONS[:2])
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(QuestionError, match="the columns question_id, reviewer, relevant, correct, hard, comment are missing"):
        read_reviews([tmp_path / "other.csv"], QUESTIONS)


@pytest.mark.parametrize(
    ("ratings", "value"),
    [
        ([[True, True], [False, False]], 1.0),  # p_a 1
        ([[True, False], [False, True]], -1.0),  # p_a 0, p_e 1/2
        ([[True, True], [True, True], [True, False], [True, True]], (3 / 4 - 14 / 64) / (1 - 14 / 64)),  # q 7/8
        ([[True], [False]], None),
        ([], None),
    ],
)
def test_agreement_by_hand(ratings, value):
    assert gwet_ac1(ratings) == (None if value is None else pytest.approx(value))
