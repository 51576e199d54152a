"""Agreement of two reviewers: coefficients by hand and from the literature, and works that are made by hand."""

import doctest

import numpy as np
import pytest

from codecap.annotate import agreement as module
from codecap.annotate import runs
from codecap.annotate.agreement import Work, agreed, agreement, cohen_kappa, compare, gwet_ac1
from codecap.records import AnnotatedObject, Annotation, FocalPoint

FRAMES = 24
BOX = (0.0, 0.0, 20.0, 20.0)


def thing(name, boxes=None, **told):
    return AnnotatedObject(name=name, boxes_xyxy=boxes or [BOX] * FRAMES, **told)


def point(focal_id, start_s=0.0, end_s=1.0):
    return FocalPoint(focal_id=focal_id, kind="static", description=focal_id, start_s=start_s, end_s=end_s)


def work(who, objects, points=(), rejected=(), clip_id="A_1"):
    draft = Annotation(clip_id=clip_id, objects=[thing("ball"), thing("cup")], focal_points=[point("f1"), point("f2")])
    made = Annotation(clip_id=clip_id, objects=objects, focal_points=list(points))
    return Work(clip_id=clip_id, who=who, draft=draft, annotation=made, rejected=frozenset(rejected))


@pytest.mark.parametrize(
    "table, observed, kappa, ac1",
    [
        # both, first alone, second alone, neither. By hand: p_e of kappa is 0.5 and 0.78, that of AC1 0.49875 and 0.21875
        ((40, 9, 6, 45), 0.85, 0.35 / 0.5002, 0.35125 / 0.50125),
        ((80, 10, 5, 5), 0.85, 0.07 / 0.22, 0.63125 / 0.78125),  # kappa's paradox: the same agreement, hardly any kappa
        # the worked example of Cohen's kappa in many textbooks: 20 yes-yes, 5, 10, 15 no-no
        ((20, 5, 10, 15), 0.70, 0.40, 0.2050 / 0.5050),
        ((118, 5, 2, 0), 0.944, -0.0234, 0.9408),  # Gwet 2002, on kappa's paradoxes: kappa -0.023, AC1 0.941
        ((10, 0, 0, 10), 1.0, 1.0, 1.0),
    ],
)
def test_coefficients(table, observed, kappa, ac1):
    table = np.array(table)
    assert float(agreed(table)) == pytest.approx(observed)
    assert float(cohen_kappa(table)) == pytest.approx(kappa, abs=1e-3)
    assert float(gwet_ac1(table)) == pytest.approx(ac1, abs=1e-3)


def test_where_everything_is_wanted_kappa_is_not_defined_and_ac1_is_one():
    everything = np.array([12, 0, 0, 0])
    assert np.isnan(cohen_kappa(everything)) and float(gwet_ac1(everything)) == 1.0
    assert np.isnan(gwet_ac1(np.zeros(4)))


def test_overlaps_of_what_both_have():
    half = [(10.0, 0.0, 20.0, 20.0)] * FRAMES  # half of the other's box
    first = work("ann", [thing("ball", visible_s=[(0.0, 0.5)])], [point("f1", 0.0, 2.0)])
    second = work("ben", [thing("ball", half, visible_s=[(0.25, 1.0)])], [point("f1", 1.0, 4.0)])
    told = compare(first, second)
    assert told.interval_iou == {"f1": pytest.approx(1 / 4)}
    assert told.visible_iou == {"ball": pytest.approx(6 / 24)}
    assert told.box_iou == {"ball": pytest.approx(0.5)}


def test_a_box_that_one_does_not_have_counts_as_no_overlap():
    first, second = work("ann", [thing("ball")]), work("ben", [thing("ball", [BOX] * 12 + [None] * 12)])
    assert compare(first, second).box_iou == {"ball": 0.5}
    nowhere = work("ben", [thing("ball", [None] * FRAMES)])
    assert compare(nowhere, nowhere).box_iou == {"ball": 1.0}


def test_what_was_renamed_or_added_by_both_is_paired_by_its_place():
    moved = [(1.0, 0.0, 21.0, 20.0)] * FRAMES
    first = work("ann", [thing("red ball"), thing("new", [(50.0, 50.0, 60.0, 60.0)] * FRAMES)], [point("f9", 0.0, 1.0)])
    second = work("ben", [thing("ball", moved), thing("other", [(90.0, 50.0, 99.0, 60.0)] * FRAMES)], [point("g", 0.2, 1.0)])
    told = compare(first, second)
    assert told.box_iou == {"red ball": pytest.approx(19 / 21)} and told.interval_iou == {"f9": pytest.approx(0.8)}
    assert (told.unpaired_first, told.unpaired_second) == (["objects/new"], ["objects/other"])


def test_what_both_added_under_the_next_free_name_is_not_the_same_for_that():
    """The page calls the first point that anybody adds to this draft f3."""
    first = work("ann", [thing("ball")], [point("f1"), point("f3", 0.0, 0.4)])
    second = work("ben", [thing("ball")], [point("f1"), point("f3", 0.6, 1.0), point("f4", 0.0, 0.5)])
    told = compare(first, second)
    assert told.interval_iou == {"f1": 1.0, "f3": pytest.approx(0.8)}
    assert (told.unpaired_first, told.unpaired_second) == ([], ["focal_points/f3"])


def test_decisions_on_the_drafts_items():
    first = work("ann", [thing("ball")], [point("f1"), point("f2")], rejected=["objects/cup"])
    second = work("ben", [thing("ball")], [point("f1")], rejected=["objects/cup", "focal_points/f2"])
    told = compare(first, second)
    assert (told.both, told.only_first, told.only_second, told.neither) == (2, 1, 0, 1)
    assert told.unpaired_first == []  # f2 is told by the decisions
    whole = agreement([(first, second)])
    assert (whole.agreed.value, whole.agreed.n) == (0.75, 4)
    assert whole.cohen_kappa.value == pytest.approx(0.5) and whole.cohen_kappa.low is None  # of one clip there is no interval


def test_all_clips_together_with_intervals():
    pairs = []
    for number in range(6):
        clip_id = f"A_{number}"
        rejected = ["focal_points/f2"] if number % 2 else []
        first = work("ann", [thing("ball"), thing("cup")], [point("f1")], rejected=rejected, clip_id=clip_id)
        second = work("ben", [thing("ball"), thing("cup", [(0.0, 0.0, 20.0, 10.0)] * FRAMES)], [point("f1")], clip_id=clip_id)
        pairs.append((first, second))
    told = agreement(pairs, resamples=500)
    assert told == agreement(pairs, resamples=500)
    assert told.box_iou.value == pytest.approx(0.75) and told.box_iou.n == 12 and told.interval_iou.value == 1.0
    assert told.agreed.value == pytest.approx(1 - 3 / 24) and told.agreed.low < told.agreed.value < told.agreed.high
    assert told.gwet_ac1.value > told.cohen_kappa.value == 0


def test_nothing_to_compare():
    told = agreement([])
    assert told.clips == [] and (told.box_iou.n, told.box_iou.value) == (0, None) and told.cohen_kappa.value is None
    with pytest.raises(ValueError, match="two clips"):
        compare(work("ann", []), work("ben", [], clip_id="B_1"))


@pytest.mark.parametrize("told", [module, runs])
def test_examples_in_docstrings(told):
    assert doctest.testmod(told).failed == 0
