import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, mannwhitneyu

from codecap.filtering.evaluation import as_record, as_svg, curve_of, outcome_of, wilson
from codecap.filtering.training import Labelled


@pytest.mark.parametrize(("hits", "count"), [(0, 5), (5, 5), (37, 40), (1, 300)])
def test_intervals_are_those_of_scipy(hits, count):
    theirs = binomtest(hits, count).proportion_ci(0.95, method="wilson")
    assert wilson(hits, count) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_of_no_clips_nothing_is_known():
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_area_is_mann_whitneys_statistic():
    rng = np.random.default_rng(0)
    keep, odds = rng.random(80) < 0.4, np.round(rng.normal(0, 1, 80), 1)  # rounded: with ties
    theirs = mannwhitneyu(odds[keep], odds[~keep]).statistic / (keep.sum() * (~keep).sum())
    curve = curve_of(keep.tolist(), odds.tolist())
    assert curve.area == pytest.approx(theirs)
    assert (curve.false_kept[0], curve.true_kept[0], curve.false_kept[-1], curve.true_kept[-1]) == (0, 0, 1, 1)


def test_the_documentation_names_each_family_that_is_given_up():
    """By the cross-validation that ships."""
    project = Path(__file__).parents[3]
    wrong = json.loads((project / "resources/filter/roc.json").read_text())["wrong"]
    (given_up,) = (part for part in (project / "docs/filtering.md").read_text().split("\n\n") if part.startswith("Given up"))
    families = {name.rpartition("_")[0] for name in wrong}
    assert len(families) > 5 and all(f"`{family}`" in given_up for family in families)


def test_a_curve_takes_both_labels():
    with pytest.raises(ValueError, match="clips to drop"):
        curve_of([True], [1.0])


def test_the_record_and_the_picture_say_what_was_counted():
    clips = [Labelled(name, name, name in "ab", {}) for name in "abcd"]
    odds = [2.0, -1.0, -2.0, 0.5]
    curve, outcome = curve_of([clip.keep for clip in clips], odds), outcome_of(clips, [value > 0 for value in odds])
    assert outcome.wrong == ("b", "d") and outcome.kept.in_words == "1 of 2 (50 %, 95 % interval 9 to 91 %)"
    told = json.loads(json.dumps(as_record(curve, outcome, clips, odds), allow_nan=False))
    assert told["area"] == 0.75 and told["kept"]["of"] == 2 and told["families"] == 4
    picture = ElementTree.fromstring(as_svg(curve, outcome, len(clips)))
    assert "area 0.750" in "".join(picture.itertext())
