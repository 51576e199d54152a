"""Signals on tracks that are made by hand."""

import numpy as np
import pytest

from codecap.annotate.quality import doubt, signals, why
from codecap.records import AnnotatedObject, Clip
from codecap.score.masks import rle

FRAMES = 60
CLIP = Clip(clip_id="A_1", category="A", mp4="a.mp4", sha256="0", frames=FRAMES, width_px=320, height_px=200)


def moving(step=2.0, size=(30.0, 20.0)):
    """A box that goes right by `step` a frame."""
    return [(10 + step * k, 50.0, 10 + step * k + size[0], 50.0 + size[1]) for k in range(FRAMES)]


def thing(boxes, name="ball", **told):
    return AnnotatedObject(name=name, boxes_xyxy=boxes, **told)


def found(boxes, **told):
    """The signals about one object, by name."""
    return {signal.signal: signal for signal in signals([thing(boxes, **told)], CLIP).get("ball", [])}


@pytest.mark.parametrize("step", [0.0, 2.0, 4.7])
def test_a_steady_track_is_not_doubted(step):
    assert found(moving(step)) == {}


def test_a_bounce_and_a_slow_start_are_no_doubts():
    falling = [(100.0, 20 + 0.4 * k**2, 130.0, 40 + 0.4 * k**2) for k in range(18)]
    there = [*falling, *falling[::-1], *[falling[0]] * (FRAMES - 36)]
    assert found(there) == {}


def test_a_jump_is_measured_from_the_objects_course():
    boxes = moving()
    for k in range(40, FRAMES):
        boxes[k] = tuple(np.add(boxes[k], (25, 0, 25, 0)))
    jump = found(boxes)["jump"]
    assert jump.frames == [40] and "25 px" in jump.told and "frame 40" in jump.told
    assert jump.value == pytest.approx(25 / np.sqrt(600) / 2)


def test_at_a_cut_nothing_jumps():
    boxes = moving()[:30] + [(200.0, 100.0, 230.0, 120.0)] * 30
    assert signals([thing(boxes)], CLIP)["ball"][0].frames == [30]
    assert signals([thing(boxes)], CLIP, cuts=[30]) == {}


def test_a_sudden_size_is_a_jump_too():
    boxes = moving(0.0)
    boxes[20:] = [(10.0, 50.0, 80.0, 70.0)] * 40
    assert found(boxes)["jump"].frames == [20]


def test_a_gap_counts_only_where_the_object_should_be_visible():
    boxes = moving()
    boxes[20:30] = [None] * 10
    gap = found(boxes, visible_s=[(0.0, 2.5)])["gap"]
    assert (gap.value, gap.frames) == (pytest.approx(10 / 60), [20]) and "10 of the 60 frames" in gap.told
    assert found(boxes, visible_s=[(0.0, 20 / 24), (30 / 24, 2.5)]) == {}
    assert found(boxes) == {}  # without intervals a long gap is a way to say that it is not there


def test_a_flicker_is_doubted_more_than_its_length_says():
    boxes = moving()
    boxes[20] = boxes[40] = None
    gap = found(boxes)["gap"]
    assert gap.frames == [20, 40] and gap.value == pytest.approx(2 / 60 + 0.3)


def test_trembling_boxes():
    steady = moving()
    rough = [tuple(np.add(box, (0, 0, 3 * (k % 2), 0))) for k, box in enumerate(steady)]
    signal = found(rough)["rough_boxes"]
    assert 0.3 < signal.value < 1 and 0 < len(signal.frames) <= 20
    assert "rough_boxes" not in found([tuple(np.add(box, (0, 0, 0.4 * (k % 2), 0))) for k, box in enumerate(steady)])


def test_an_unsteady_mask():
    masks = {}
    for k, (x0, y0, x1, y1) in enumerate(moving()):
        mask = np.zeros((200, 320), bool)
        mask[int(y0) : int(y1), int(x0) : int(x1)] = True
        masks[k] = mask
    steady = {"ball": {k: rle.encode(mask) for k, mask in masks.items()}}
    assert signals([thing(moving())], CLIP, masks=steady) == {}
    for k in range(0, FRAMES, 2):
        masks[k][50:60] = False
    unsteady = {"ball": {k: rle.encode(mask) for k, mask in masks.items()}}
    (signal,) = signals([thing(moving())], CLIP, masks=unsteady)["ball"]
    assert signal.signal == "unstable_mask" and "50%" in signal.told and signal.value == 1.0


def test_the_gravest_doubt_comes_first_and_a_clip_is_doubted_by_its_worst():
    bad = moving()
    bad[20] = None
    bad[40:] = [tuple(np.add(box, (80, 40, 80, 40))) for box in bad[40:]]
    told = signals([thing(bad), thing([(1.0, 1.0, 9.0, 9.0)] * FRAMES, "still")], CLIP)
    assert list(told) == ["ball"] and [signal.signal for signal in told["ball"]] == ["jump", "gap"]
    assert why(told)[0].startswith("ball: jumps")
    worst = told["ball"][0].value
    assert doubt(told, 1) == pytest.approx(worst) and doubt(told, 2) == pytest.approx(worst / np.sqrt(2)) and doubt({}, 0) == 0


def test_tracks_that_are_nothing_are_passed_over():
    assert signals([thing([None] * FRAMES), thing([(1, 1, 9, 9)] * 3, "short")], CLIP) == {}
    assert signals([], CLIP) == {}


@pytest.mark.parametrize("bad", [(np.nan, 1, 9, 9), (0, 0, np.inf, np.inf), (-np.inf, 0, 9, 9), (30, 30, 10, 10), (0, 0, 1e308, 9)])
def test_boxes_that_are_none_stop_nothing(bad):
    boxes = moving()
    boxes[20:25] = [bad] * 5
    assert all(0 < signal.value <= 1 for signal in found(boxes, visible_s=[(0.0, np.inf)]).values())
