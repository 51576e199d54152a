import numpy as np
import pytest

from codecap.errors import UserError
from codecap.filtering.axes import INPUTS
from codecap.filtering.training import Labelled, left_out, train

NAMES = list(INPUTS)


def drawn_from(slopes, count=3000, families=4):
    """Clips whose labels are drawn with known odds."""
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 1, (count, len(NAMES)))
    keep = rng.random(count) < 1 / (1 + np.exp(-rows @ slopes))
    return [
        Labelled(str(number), str(number % families), bool(label), dict(zip(NAMES, row, strict=True)))
        for number, (row, label) in enumerate(zip(rows.tolist(), keep, strict=True))
    ]


def test_the_odds_that_labels_were_drawn_with_are_found():
    slopes = np.array([INPUTS[name].sign * (0.5 + 0.2 * place) for place, name in enumerate(NAMES)])
    assert list(train(drawn_from(slopes), penalty=0.1).coefficients.values()) == pytest.approx(slopes.tolist(), abs=0.3)


def test_a_feature_may_not_speak_the_wrong_way():
    slopes = np.zeros(len(NAMES))
    slopes[0], slopes[1] = -INPUTS[NAMES[0]].sign * 2.0, INPUTS[NAMES[1]].sign * 1.0
    found = train(drawn_from(slopes)).coefficients
    assert found[NAMES[0]] == 0 and found[NAMES[1]] * INPUTS[NAMES[1]].sign > 0.4


def test_labels_of_unlike_number_weigh_the_same():
    clips = drawn_from(np.zeros(len(NAMES)), 400)
    few = [clip for clip in clips if clip.keep][:20] + [clip for clip in clips if not clip.keep]
    middle = train(few, penalty=1e6)  # all slopes nought: the intercept alone speaks
    assert middle.intercept == pytest.approx(0.0, abs=1e-3)


def test_a_family_is_judged_by_the_others():
    """Whatever is said of a family's own clips, its log-odds stay as they are."""
    clips = drawn_from(np.array([feature.sign for feature in INPUTS.values()]), 200)
    turned = [Labelled(c.name, c.family, c.keep != (c.family == "0"), c.features) for c in clips]
    ours = [place for place, clip in enumerate(clips) if clip.family == "0"]
    before, after = left_out(clips), left_out(turned)
    assert [before[place] for place in ours] == pytest.approx([after[place] for place in ours])


def test_of_one_family_nothing_is_left_when_it_is_left_out():
    clips = drawn_from(np.zeros(len(NAMES)), 8, families=8)
    one = [clip for clip in clips if clip.keep][:1] + [clip for clip in clips if not clip.keep]
    with pytest.raises(UserError, match="two of each label"):
        left_out(one)


def test_a_feature_that_is_the_same_everywhere_says_nothing():
    clips = [Labelled(c.name, c.family, c.keep, c.features | {"noise_levels": 0.0}) for c in drawn_from(np.ones(len(NAMES)), 200)]
    assert train(clips).coefficients["noise_levels"] == 0


def test_clips_of_one_label_train_nothing():
    clips = [clip for clip in drawn_from(np.zeros(len(NAMES)), 40) if clip.keep]
    with pytest.raises(UserError, match="one kind is missing"):
        train(clips)
