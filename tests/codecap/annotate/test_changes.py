"""Measured changes of drawn clips: a square that slides, one that fades, one that is suddenly there, and a cut."""

import numpy as np
import pytest

from codecap.annotate.changes import ChangeWatcher, kept, measure
from codecap.records import Clip
from codecap.video import CanonicalWriter, VideoError, file_sha256

WIDTH_PX, HEIGHT_PX, FRAMES = 320, 180, 72
SLIDE, FADE, POP = (40, 40, 80, 80), (200, 40, 240, 80), (40, 120, 80, 160)


def picture(frame: int) -> np.ndarray:
    """Slides right by 4 px a frame from frame 13 to 24 (frame 12 is the last at rest); fades in by 3 levels a frame from 31 to 54;
    pops up at frame 40."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 40, np.uint8)
    left = 40 + 4 * min(max(frame - 12, 0), 12)
    rgb[40:80, left : left + 40] = (220, 60, 60)
    rgb[40:80, 200:240] = 40 + 3 * min(max(frame - 30, 0), 24)
    if frame >= 40:
        rgb[120:160, 40:80] = (60, 200, 90)
    return rgb


def watched(pictures):
    watcher = ChangeWatcher(WIDTH_PX, HEIGHT_PX)
    for frame, rgb in enumerate(pictures):
        watcher.see(frame, rgb)
    return watcher.changes()


@pytest.fixture(scope="module")
def changes():
    return watched([picture(frame) for frame in range(FRAMES)])


def test_a_slide_is_one_stretch_from_its_first_moved_frame_to_its_last(changes):
    assert changes.stretches(changes.cells([(40, 40, 128, 80)])) == [(13, 25)]


def test_a_slow_fade_is_one_stretch_though_no_two_frames_differ_by_much(changes):
    ((start, stop),) = changes.stretches(changes.cells([FADE]))
    assert 31 <= start <= 33 and 53 <= stop <= 55  # 3 levels a frame: two frames until more than 6 levels are seen


def test_what_is_suddenly_there_is_a_jump_at_its_frame(changes):
    cells = changes.cells([POP])
    assert changes.jumps(cells) == [40]
    assert changes.stretches(cells) == [(40, 41)]


def test_a_still_part_never_changes(changes):
    cells = changes.cells([(260, 120, 300, 160)])
    assert changes.stretches(cells) == changes.jumps(cells) == []
    assert not changes.curve(cells).any()


def test_the_curve_is_the_share_of_the_picture_that_differs_from_the_frame_before(changes):
    curve = changes.curve()
    assert curve[0] == 0 and curve[40] == pytest.approx(40 * 40 / (320 * 176), rel=0.1)  # the grid has 22 rows of 8 px
    assert len(curve) == changes.frames == FRAMES and changes.grid == (22, 40)


def test_how_much_of_an_interval_changes(changes):
    cells = changes.cells([(40, 40, 128, 80)])
    assert changes.changing_share(13, 25, cells) == 1
    assert changes.changing_share(1, 25, cells) == pytest.approx(12 / 24)
    assert changes.changing_share(30, 30) == 0


def test_a_cut_is_a_jump_of_the_whole_picture():
    pictures = [np.full((HEIGHT_PX, WIDTH_PX, 3), 30 if frame < 10 else 200, np.uint8) for frame in range(24)]
    assert watched(pictures).jumps() == [10]


def test_an_animation_that_moves_on_every_fifth_frame_is_one_stretch():
    """As a GIF of 5 frames a second does."""
    pictures = []
    for frame in range(48):
        rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 40, np.uint8)
        left = 40 + 8 * (frame // 5)
        rgb[40:80, left : left + 40] = 220
        pictures.append(rgb)
    ((start, _),) = watched(pictures).stretches()
    assert start == 5


def test_boxes_at_the_edges_have_cells(changes):
    rows, columns = changes.grid
    corner = changes.cells([(WIDTH_PX - 2, HEIGHT_PX - 2, WIDTH_PX, HEIGHT_PX)], around=0)
    assert corner.sum() == 1 and corner[rows - 1, columns - 1]
    assert changes.cells([(0, 0, WIDTH_PX, HEIGHT_PX)], around=0).all()
    assert not changes.cells([]).any()


def test_an_encoded_clip_is_measured_alike_and_once(tmp_path):
    mp4 = tmp_path / "a.mp4"
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(30):
            writer.add(picture(frame))
    clip = Clip(clip_id="A_1", category="A", mp4=mp4, sha256=file_sha256(mp4), frames=30, width_px=WIDTH_PX, height_px=HEIGHT_PX)
    first = kept(clip, tmp_path / "bulk")
    assert first.stretches() == [(13, 25)] and (first.width_px, first.frames) == (WIDTH_PX, 30)
    other = clip.model_copy(update={"clip_id": "A_2", "sha256": "0" * 64})
    with pytest.raises(VideoError, match="sha256 differs"):
        kept(other, tmp_path / "bulk")  # what is kept under a digest must be of that very file
    mp4.unlink()
    again = kept(clip, tmp_path / "bulk")
    assert np.array_equal(again.lagged, first.lagged) and np.array_equal(again.stepwise, first.stepwise)
    with pytest.raises(VideoError):
        measure(mp4)
