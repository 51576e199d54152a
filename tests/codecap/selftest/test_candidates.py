"""Candidates are wrong in exactly the way that they say."""

import numpy as np
import pytest

from codecap import spoiled
from codecap.video import probe, read_frames


def numbered(frames: int) -> list[np.ndarray]:
    """Frames that carry their number as a grey level, 4 levels apart."""
    return [np.full((32, 48, 3), 4 * k, np.uint8) for k in range(frames)]


def numbers(frames) -> list[int]:
    return [round(float(rgb.mean()) / 4) for rgb in frames]


@pytest.fixture
def clip(clip_of):
    return clip_of("T_001", numbered(60))


def test_backwards_goes_over_the_edges_of_what_is_held_at_a_time(clip):
    assert numbers(spoiled.backwards(clip)) == list(range(59, -1, -1))


@pytest.mark.parametrize(("delay_s", "frames"), [(0.1, 2), (0.25, 6), (1.0, 24), (9.0, 59)])
def test_late_stands_first_and_loses_the_end(clip, delay_s, frames):
    found = numbers(spoiled.late(clip, delay_s))
    assert found[:60] == [0] * frames + list(range(60 - frames))


def test_frozen_and_black_have_the_clips_length(clip):
    assert numbers(spoiled.frozen(clip)) == [0] * 60
    assert len(list(spoiled.black(clip))) == 60


def test_unchanged_is_what_is_decoded(clip):
    for (_, first), second in zip(read_frames(clip.mp4), spoiled.unchanged(clip), strict=True):
        assert (first == second).all()


def test_shifted_moves_to_the_right_and_repeats_the_edge(clip_of):
    ramp = np.tile(np.arange(0, 200, 2, dtype=np.uint8)[None, :, None], (20, 1, 3))
    clip = clip_of("T_002", [ramp] * 2)
    _, whole = next(read_frames(clip.mp4))
    moved = next(spoiled.shifted(clip, 0.04))
    assert (moved[:, 4:] == whole[:, :-4]).all()
    assert (moved[:, :4] == whole[:, :1]).all()
    assert (next(spoiled.shifted(clip, 0.0)) == whole).all()


def test_painted_over_leaves_no_trace_on_a_plane():
    """A plane of colour is restored from the edges of the hole; nothing outside of it is touched."""
    y, x = np.mgrid[0:60, 0:80]
    plane = np.stack([x + y, 2 * x, np.full_like(x, 70)], axis=-1).astype(np.uint8)
    dirty = plane.copy()
    dirty[20:35, 30:50] = (255, 0, 255)
    box = (30.0, 20.0, 50.0, 35.0)
    assert np.abs(spoiled.painted_over(dirty, box).astype(int) - plane).max() <= 1
    assert (dirty[20:35, 30:50] == (255, 0, 255)).all()


@pytest.mark.parametrize("box", [(0.0, 0.0, 30.0, 20.0), (60.0, 30.0, 80.0, 60.0), (0.0, 10.0, 80.0, 30.0)])
def test_painted_over_at_the_edges_of_the_picture(box):
    flat = np.full((60, 80, 3), 90, np.uint8)
    dirty = flat.copy()
    x0, y0, x1, y1 = (int(edge) for edge in box)
    dirty[y0:y1, x0:x1] = 255
    assert (spoiled.painted_over(dirty, box) == flat).all()


def test_a_written_candidate_is_certified_as_captured(clip, tmp_path):
    frozen = spoiled.write("frozen", clip, spoiled.frozen(clip), tmp_path / "frozen.mp4")
    assert frozen.certificate.unique_frame_ratio == pytest.approx(1 / 60)
    assert frozen.certificate.frames == probe(frozen.mp4).frames == 60
    late = spoiled.write("late", clip, spoiled.late(clip, 0.25), tmp_path / "late.mp4")
    assert late.certificate.unique_frame_ratio == pytest.approx(54 / 60)
