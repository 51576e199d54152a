"""What stands beside the scores: bytes of the page, unique frames of the render."""

import numpy as np
import pytest

from codecap.records import Certificate, Outcome
from codecap.score import Unscored, code_size, unique_frames

VIDEO = [np.zeros((8, 8, 3), np.uint8)]


def test_code_size_counts_bytes_not_letters(measure, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>größer</p>", encoding="utf-8")
    assert measure(code_size.load({}), VIDEO, VIDEO, page=page)[0].value == 15.0


def test_a_video_has_no_code_size(measure):
    with pytest.raises(Unscored, match="there is no page"):
        measure(code_size.load({}), VIDEO, VIDEO)


def test_unique_frames_are_the_renderers_count(measure):
    certificate = Certificate(outcome=Outcome.OK, unique_frame_ratio=1 / 96)
    assert measure(unique_frames.load({}), VIDEO, VIDEO, certificate=certificate)[0].value == 1 / 96


@pytest.mark.parametrize("certificate", [None, Certificate(outcome=Outcome.OK)])
def test_a_video_that_was_not_rendered_here_has_none(measure, certificate):
    with pytest.raises(Unscored, match="not rendered here"):
        measure(unique_frames.load({}), VIDEO, VIDEO, certificate=certificate)
