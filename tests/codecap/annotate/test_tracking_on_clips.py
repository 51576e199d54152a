"""Objects of real clips, each followed from one true box: the demo's, whose pages report all boxes, and third-party ones.

Which objects are fit is decided by the truth alone: rigid, 24 px and more on both sides, covered by nothing, without a look-alike.
"""

from pathlib import Path

import numpy as np
import pytest
from truths import EXTRA, Truth, demo_truth, extra_clips, known_demo_clips

from codecap import boxes
from codecap.annotate.tracking import ChosenSegmenter, Tracked, follow, prompt_of
from codecap.records import Clip

pytestmark = pytest.mark.slow

SOME = ("B_001", "C_001")  # of the demo: a game with look-alikes, a logo animation

Fit = list[tuple[str, Truth, list]]


def followed(clip: Clip, truth: list[Truth]) -> list[Tracked]:
    """Each from its box on one frame; when it is visible, nobody says."""
    prompts = [prompt_of(item.name, {item.prompt_frame: item.visible[item.prompt_frame]}) for item in truth]
    return follow(clip, prompts, ChosenSegmenter("color").load())


def check(fit: Fit) -> None:
    assert fit, "no object is fit for the test"
    values = {f"{clip} {item.name}": boxes.object_iou(item.visible, track) for clip, item, track in fit}
    print(values)
    assert min(values.values()) >= 0.85, values
    absent = [track[k] is not None for _, item, track in fit for k, box in enumerate(item.visible) if box is None]
    assert np.mean(absent or [0.0]) <= 0.05


def test_follows_the_demos_objects_from_one_true_box():
    """Of two clips, and of all where third-party ones are looked at too: a minute more."""
    fit: Fit = []
    for clip in known_demo_clips():
        if EXTRA is None and clip.clip_id not in SOME:
            continue
        truth = demo_truth(clip)
        chosen = [item for item in truth.values() if item.fit or item.twin_in_sight(truth)]
        for item, found in zip(chosen, followed(clip, chosen), strict=True):
            assert found.track.status == ("found" if item.fit else "ambiguous"), (clip.clip_id, item.name)
            if item.fit:
                fit.append((clip.clip_id, item, found.track.boxes_xyxy))
    assert len(fit) >= (9 if EXTRA is None else 18)
    check(fit)


@pytest.mark.skipif(EXTRA is None, reason="CODECAP_EXTRA_CLIPS names no folder of third-party clips")
def test_follows_third_party_objects_from_one_true_box(tmp_path: Path):
    fit: Fit = []
    for clip, truth in extra_clips(tmp_path):
        chosen = [item for item in truth.values() if item.fit]
        tracks = followed(clip, chosen) if chosen else []
        fit += [(clip.clip_id, item, found.track.boxes_xyxy) for item, found in zip(chosen, tracks, strict=True)]
    check(fit)
