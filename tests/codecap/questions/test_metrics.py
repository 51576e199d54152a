"""CapP, CapR and CapF1 of answers that were counted by hand, and intervals whose ends are known."""

import math

import numpy as np
import pytest

from codecap.questions.metrics import Counts, cap_f1, cap_p, cap_r, counts_of, kind_of, values_of
from codecap.records import Answer


def answer(status="ok", correct=None, undetermined=False, **told):
    made = {"question_set": "s", "question_id": "q", "type": "t", "system": "a", "clip_id": "A_1", "medium": "render"}
    return Answer(**(made | told), status=status, correct=correct, undetermined=undetermined)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"correct": True}, "right"),
        ({"correct": False}, "wrong"),
        ({"correct": False, "undetermined": True}, "missing"),
        ({"correct": False, "status": "render_crash"}, "missing"),  # nothing to be shown
        ({"correct": False, "status": "refused"}, "missing"),
        ({"status": "unscored"}, None),
        ({"status": "infra_error"}, None),
    ],
)
def test_which_count_an_answer_is_in(told, kind):
    assert kind_of(answer(**told)) == kind


# By hand: 20 questions, 12 right, 3 cannot be determined, 5 wrong. CapP 12/17, CapR 12/20, CapF1 2*12/(20+17).
@pytest.mark.parametrize(
    ("counts", "p", "r", "f1"),
    [
        (Counts(12, 3, 5), 1200 / 17, 60.0, 2400 / 37),
        (Counts(20, 0, 0), 100.0, 100.0, 100.0),
        (Counts(0, 0, 4), 0.0, 0.0, 0.0),
        (Counts(0, 4, 0), None, 0.0, 0.0),
        (Counts(1, 9, 0), 100.0, 10.0, 200 / 11),
        (Counts(), None, None, None),
    ],
)
def test_hand_worked_cases(counts, p, r, f1):
    assert cap_p(counts) == (None if p is None else pytest.approx(p))
    assert cap_r(counts) == (None if r is None else pytest.approx(r))
    assert cap_f1(counts) == (None if f1 is None else pytest.approx(f1))


def test_the_harmonic_mean_is_that_of_both():
    counts = Counts(12, 3, 5)
    p, r = cap_p(counts), cap_r(counts)
    assert cap_f1(counts) == pytest.approx(2 * p * r / (p + r))


def test_answers_that_we_did_not_get_are_in_no_count():
    rows = [answer(correct=True), answer(status="unscored"), answer(status="infra_error"), answer(correct=False, undetermined=True)]
    assert counts_of(rows) == Counts(right=1, missing=1, wrong=0)


def test_numbers_are_pooled_over_questions_not_over_clips():
    (told,) = values_of([{"a": Counts(9, 0, 0), "b": Counts(0, 0, 1)}])
    assert told.accuracy.value == pytest.approx(90.0)  # the mean over clips would be 50
    assert (told.accuracy.low, told.accuracy.high) == (0.0, 100.0)  # a quarter of the draws has b twice, a quarter a twice


def test_one_clip_has_no_interval_and_no_table_no_number():
    one, none = values_of([{"a": Counts(1, 1, 0)}, {}])
    assert one.cap_r == (50.0, None, None) and one.cap_p == (100.0, None, None)
    assert all(value == (None, None, None) for value in none)


def test_a_number_that_many_draws_lack_has_no_interval():
    held = {"a": Counts(1, 0, 0)} | {f"b{number}": Counts(0, 1, 0) for number in range(3)}  # a is in 1 - (3/4)^4 = 68 % of draws
    (told,) = values_of([held])
    assert told.cap_p == (100.0, None, None) and told.cap_r.low == 0.0


def test_tables_get_the_same_intervals_alone_and_together():
    generator = np.random.default_rng(3)
    tables = [{f"c{clip}": Counts(*(int(n) for n in generator.integers(0, 4, 3))) for clip in range(clips)} for clips in (7, 4, 7)]
    together = values_of(tables, resamples=300)
    assert together == [values_of([table], resamples=300)[0] for table in tables]


def test_the_interval_covers_a_known_accuracy():
    """200 experiments of 60 clips with 5 questions each, right with probability 0.7, the clips alike within: about 95 % cover."""
    generator = np.random.default_rng(5)
    share = generator.beta(7, 3, (200, 60))
    right = generator.binomial(5, share)
    tables = [{f"c{clip}": Counts(int(n), 0, 5 - int(n)) for clip, n in enumerate(row)} for row in right]
    covered = [told.accuracy.low <= 70.0 <= told.accuracy.high for told in values_of(tables, resamples=1000)]
    assert 0.90 <= sum(covered) / 200 <= 0.99 and not math.isnan(sum(covered))
