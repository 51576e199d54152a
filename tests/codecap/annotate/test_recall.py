"""How many of the true moving objects the embedded proposer drafts, and how much else: on real clips whose true boxes are known."""

import numpy as np
import pytest
import truths

from codecap import boxes
from codecap.annotate.proposers.embedded import load

pytestmark = pytest.mark.slow

MOVING_SHARE = 0.02  # of the picture's diagonal, that the centre of what moves is within
MOST_STRAYS = 2


def found_and_strays(clip, truth):
    """For each true moving object of at least 24 px its best IoU with a draft at some frame; and drafts that overlap no object."""
    drafts = [item.boxes_xyxy for item in load({}).propose(clip).objects]
    best = {
        item.name: max(np.nanmax(boxes.iou_series(item.visible, draft)) for draft in drafts)
        for item in truth.values()
        if item.large and moves(item.visible, np.hypot(clip.width_px, clip.height_px))
    }
    strays = [all(not np.nanmax(boxes.iou_series(item.visible, draft)) > 0 for item in truth.values()) for draft in drafts]
    return best, sum(strays)


def moves(visible, diagonal_px):
    box = boxes.as_array(visible)
    centres = (box[:, :2] + box[:, 2:]) / 2
    return np.linalg.norm(np.nanmax(centres, axis=0) - np.nanmin(centres, axis=0)) >= MOVING_SHARE * diagonal_px


def check(measured):
    """The line: 70 % of all of them at IoU 0.5, and in no clip more than two drafts beside the truth."""
    for name, (best, strays) in measured.items():
        print(f"{name}: {sum(value >= 0.5 for value in best.values())} of {len(best)}, {strays} beside", best)
    hits = [value >= 0.5 for best, _ in measured.values() for value in best.values()]
    assert np.mean(hits) >= 0.7
    assert {name: strays for name, (_, strays) in measured.items() if strays > MOST_STRAYS} == {}


def test_it_drafts_the_objects_of_a_logo_animation():
    (clip,) = (clip for clip in truths.known_demo_clips() if clip.clip_id == "C_001")
    check({clip.clip_id: found_and_strays(clip, truths.demo_truth(clip))})


@pytest.mark.skipif(truths.EXTRA is None, reason="CODECAP_EXTRA_CLIPS names no folder of third-party clips")
def test_it_drafts_most_moving_objects_of_the_demo_and_of_third_party_clips(tmp_path):
    """Minutes."""
    known = [*((clip, truths.demo_truth(clip)) for clip in truths.known_demo_clips()), *truths.extra_clips(tmp_path)]
    check({clip.clip_id: found_and_strays(clip, truth) for clip, truth in known})
