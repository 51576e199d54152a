"""What a prompt asks for, and the track that comes of it."""

import numpy as np
import pytest

from codecap.records import ObjectPrompt, PromptFrame
from codecap.score.masks.aims import NOT_SEEN, Aim, prompted_frames, signed_points


def prompt(*frames: int, status="found", visible_s=((0.0, 1.0),), detail="") -> ObjectPrompt:
    shown = [PromptFrame(frame=frame, box_xyxy=(1, 2, 3, 4)) for frame in frames]
    return ObjectPrompt(name="it", status=status, visible_s=list(visible_s), frames=shown, detail=detail)


def disc(box=(2, 1, 5, 4)) -> np.ndarray:
    mask = np.zeros((6, 8), bool)
    mask[box[1] : box[3], box[0] : box[2]] = True
    return mask


def test_a_mask_outside_the_visible_intervals_is_nothing():
    aim = Aim.of(prompt(3, visible_s=[(2 / 24, 4 / 24), (8 / 24, 9 / 24)]), frames=12, there=12)
    for frame in range(12):
        aim.note(frame, disc())
    boxes = aim.track().boxes_xyxy
    assert [frame for frame, box in enumerate(boxes) if box is not None] == [2, 3, 8]
    assert boxes[2] == (2.0, 1.0, 5.0, 4.0)


def test_a_prompted_frame_is_always_wanted():
    aim = Aim.of(prompt(7, visible_s=[(0, 2 / 24)]), frames=12, there=12)
    assert (aim.first, aim.last, aim.first_anchor) == (0, 7, 7)
    assert np.flatnonzero(aim.wanted).tolist() == [0, 1, 7]


def test_an_object_whose_mask_is_always_empty_is_absent():
    for status in ("found", "ambiguous"):
        aim = Aim.of(prompt(3, status=status, detail="said"), frames=12, there=12)
        aim.note(3, np.zeros((6, 8), bool))
        track = aim.track()
        assert (track.status, track.detail) == ("absent", f"said; {NOT_SEEN}") and not any(track.boxes_xyxy)


def test_absent_stays_absent_and_ambiguous_stays_ambiguous():
    absent = Aim.of(prompt(3, status="absent"), frames=12, there=12)
    absent.note(3, disc())
    assert absent.track().status == "absent" and not any(absent.track().boxes_xyxy) and not absent.anchors
    ambiguous = Aim.of(prompt(3, status="ambiguous"), frames=12, there=12)
    ambiguous.note(3, disc())
    assert ambiguous.track().status == "ambiguous"
    unprompted = Aim.of(prompt(status="ambiguous", detail="which one?"), frames=4, there=4)
    assert unprompted.track().status == "ambiguous" and unprompted.track().detail == "which one?"


def test_nothing_is_wanted_after_the_video_ends():
    aim = Aim.of(prompt(3), frames=20, there=10)
    assert aim.last == 9 and len(aim.track().boxes_xyxy) == 20
    with pytest.raises(ValueError, match="frame 10 in a video of 10 frames"):
        Aim.of(prompt(10), frames=20, there=10)


def test_points_carry_their_signs_in_order():
    anchor = PromptFrame(frame=0, box_xyxy=(0, 0, 9, 9), positive_xy=[(1, 2), (3, 4)], negative_xy=[(8, 8)])
    assert signed_points(anchor) == ([(1, 2), (3, 4), (8, 8)], [1, 1, 0])
    assert signed_points(PromptFrame(frame=0, box_xyxy=(0, 0, 9, 9))) == ([], [])


def test_prompted_frames_come_in_order_with_all_their_objects():
    aims = [Aim.of(prompt(*frames), frames=24, there=24) for frames in ((9, 2), (5,), (2, 5))]
    assert prompted_frames(aims) == {2: [0, 2], 5: [1, 2], 9: [0]}
