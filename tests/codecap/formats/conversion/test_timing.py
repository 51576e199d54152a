from pathlib import Path

import pytest

from codecap.formats import FormatError, Told
from codecap.formats.conversion.timing import Footage, check_end, frames_shown

FILE = Path("file")


def test_as_many_frames_as_the_clip_has_are_its_own(clip):
    assert frames_shown(FILE, Footage(frames=48), clip, Told()) == list(range(48))


@pytest.mark.parametrize(
    ("fps", "frames", "first"),
    [
        (30, 60, [0, 1, 2, 3, 5, 6]),
        (12, 24, [0, 0, 1, 1, 2, 2]),
        (60, 120, [0, 2, 5, 7, 10, 12]),
        (24000 / 1001, 48, [0, 0, 1, 2, 3, 4]),
    ],
)
def test_the_frame_on_screen_is_the_last_that_has_begun(clip, fps, frames, first):
    """Frame 1 of the clip is shown at 1/24 s = 41.67 ms: at 23.976 a second the second frame begins at 41.71 ms, a moment later."""
    found = frames_shown(FILE, Footage(frames=frames, fps=fps), clip, Told())
    assert found[:6] == first and len(found) == 48 and found[-1] < frames


def test_a_last_frame_too_few_is_held(clip):
    assert frames_shown(FILE, Footage(frames=59, fps=30), clip, Told())[-1] == 58


@pytest.mark.parametrize("footage", [Footage(frames=47, fps=24), Footage(frames=49, fps=24), Footage(frames=70, fps=30)])
def test_another_length_is_another_video(clip, footage):
    with pytest.raises(FormatError, match="another video"):
        frames_shown(FILE, footage, clip, Told())


def test_a_person_is_believed_before_the_file(clip):
    assert frames_shown(FILE, Footage(frames=60, fps=25), clip, Told(fps=30))[4] == 5


@pytest.mark.parametrize(("fps", "last"), [(24, 47), (30, 59), (60, 119), (12, 23), (25, 49)])
def test_a_file_without_a_length_must_not_go_on_behind_the_clip(clip, fps, last):
    frames = frames_shown(FILE, Footage(fps=fps), clip, Told())
    check_end(last, frames, FILE)
    with pytest.raises(FormatError, match=f"box on frame {last + 1} .*the clip ends with frame {last}"):
        check_end(last + 1, frames, FILE)


@pytest.mark.parametrize("fps", [0, -24, 0.01, 1e9, float("nan")])
def test_a_rate_that_cannot_be_is_refused(clip, fps):
    with pytest.raises(FormatError, match="cannot be"):
        frames_shown(FILE, Footage(), clip, Told(fps=fps))
