import numpy as np
import pytest

from codecap.annotate.looks import LooksWatcher
from codecap.records import AnnotatedObject


def picture(frame, width_px=64):
    """A red card that goes right over grey, its right half darker."""
    scale = width_px // 64
    rgb = np.full((36 * scale, width_px, 3), 128, np.uint8)
    left = (4 + 2 * frame) * scale
    rgb[8 * scale : 20 * scale, left : left + 12 * scale] = (200, 0, 0)
    rgb[8 * scale : 20 * scale, left + 6 * scale : left + 12 * scale] = (100, 0, 0)
    return rgb


@pytest.mark.parametrize("width_px", [64, 1280])
def test_a_thing_that_moves_keeps_its_look(width_px):
    scale = width_px // 64
    boxes = [((4 + 2 * k) * scale, 8 * scale, (16 + 2 * k) * scale, 20 * scale) for k in range(10)]
    watcher = LooksWatcher([AnnotatedObject(name="card", boxes_xyxy=[*boxes[:9], None])], 10)
    for frame in range(10):
        watcher.see(frame, picture(frame, width_px))
    looks = watcher.looks()
    assert looks.pictures["card"].shape == (10, 6, 6, 3) and np.isnan(looks.pictures["card"][9]).all()
    typical = looks.typical("card")
    assert typical[2, 1].tolist() == [200, 0, 0] and typical[2, 4].tolist() == [100, 0, 0]
    assert np.nanmax(looks.apart("card", typical)) < 1 and np.isnan(looks.apart("card", typical)[9])


def test_boxes_that_hold_nothing_have_no_look():
    odd = [(90.0, 8.0, 99.0, 20.0), (4.0, 8.0, 4.2, 20.0), (-9.0, -9.0, 200.0, 200.0)]
    watcher = LooksWatcher([AnnotatedObject(name="odd", boxes_xyxy=odd), AnnotatedObject(name="short", boxes_xyxy=[])], 3)
    for frame in range(3):
        watcher.see(frame, picture(0))
    pictures = watcher.looks().pictures
    assert list(pictures) == ["odd"] and np.isnan(pictures["odd"][:2]).all() and not np.isnan(pictures["odd"][2]).any()
    assert np.isnan(LooksWatcher([AnnotatedObject(name="a", boxes_xyxy=[None])], 1).looks().typical("a")).all()
