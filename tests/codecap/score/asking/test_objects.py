import pytest

from codecap.records import Clip
from codecap.score.asking.answers import Unreadable
from codecap.score.asking.objects import _nearest


@pytest.mark.parametrize("frames", [239, 240, 241, 3601])
def test_the_length_that_a_model_was_told_is_in_the_video(frames):
    clip = Clip(clip_id="A_001", category="A", mp4="a.mp4", sha256="0", frames=frames, width_px=2, height_px=2)
    assert _nearest(float(f"{frames / 24:.3f}"), [0, frames - 1], clip) == frames - 1
    with pytest.raises(Unreadable, match="outside of the video"):
        _nearest((frames + 1) / 24, [0, frames - 1], clip)
