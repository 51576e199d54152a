"""A clip's file must be the one that the table tells of."""

import numpy as np
import pytest

from codecap.clips import check_file
from codecap.score.engine.single import clip_of
from codecap.video import CanonicalWriter, VideoError


@pytest.fixture
def clip(tmp_path):
    with CanonicalWriter(tmp_path / "a.mp4", 64, 48) as writer:
        for level in (0, 100, 200):
            writer.add(np.full((48, 64, 3), level, np.uint8))
    return clip_of(tmp_path / "a.mp4", "A_001")


def test_the_right_file_passes(clip):
    check_file(clip)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sha256": "0" * 64}, "sha256 differs"),
        ({"frames": 5}, "has 3 frames of 64x48 px, the clips table says 5 frames of 64x48 px"),
        ({"width_px": 32}, "the clips table says 3 frames of 32x48 px"),
    ],
)
def test_another_file_or_wrong_facts_are_told(clip, wrong, words):
    with pytest.raises(VideoError, match=words):
        check_file(clip.model_copy(update=wrong))


def test_a_missing_file_and_a_folder_are_told(clip, tmp_path):
    for path, words in ((tmp_path / "gone.mp4", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(VideoError, match=words):
            check_file(clip.model_copy(update={"mp4": path}))
