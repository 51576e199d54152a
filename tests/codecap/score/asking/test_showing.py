import pytest

from codecap.records import Clip
from codecap.score.asking.answers import Unreadable
from codecap.score.asking.objects import _nearest
from codecap.score.asking.showing import Showing

ENDPOINT = {"api": "openai", "model": "m", "key_env": None}


@pytest.mark.parametrize(
    "other",
    [
        {"most_output_tokens": 4096},
        {"endpoint": {**ENDPOINT, "extra": {"seed": 7}}},
        {"endpoint": {**ENDPOINT, "structured": False}},
        {"endpoint": {**ENDPOINT, "output_limit": "max_tokens"}},
        {"endpoint": {**ENDPOINT, "api": "google"}},
        {"endpoint": {**ENDPOINT, "thinking": "high"}},
        {"picture": "png"},
    ],
)
def test_another_request_is_another_protocol(other):
    assert Showing(**{"endpoint": ENDPOINT, **other}).told != Showing(endpoint=ENDPOINT).told


@pytest.mark.parametrize("other", [{"base_url": "http://127.0.0.1:9"}, {"timeout_s": 5}, {"key_env": "MINE"}])
def test_where_and_how_long_is_asked_is_no_part_of_it(other):
    assert Showing(endpoint={**ENDPOINT, **other}).told == Showing(endpoint=ENDPOINT).told


@pytest.mark.parametrize("frames", [239, 240, 241, 3601])
def test_the_length_that_a_model_was_told_is_in_the_video(frames):
    clip = Clip(clip_id="A_001", category="A", mp4="a.mp4", sha256="0", frames=frames, width_px=2, height_px=2)
    assert _nearest(float(f"{frames / 24:.3f}"), [0, frames - 1], clip) == frames - 1
    with pytest.raises(Unreadable, match="outside of the video"):
        _nearest((frames + 1) / 24, [0, frames - 1], clip)
