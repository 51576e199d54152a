"""Masks as text, against pycocotools and by hand."""

import numpy as np
import pytest

from codecap.score.masks import rle


def test_counts_and_text_by_hand():
    mask = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0]], bool)
    assert rle.counts_of(mask) == [4, 4, 1]  # down the columns: 000 011 110
    assert rle.encode(mask) == "441"
    assert rle.counts_of(np.ones((2, 2), bool)) == [0, 4]
    assert rle.counts_of(np.zeros((2, 2), bool)) == [4]


def test_from_the_fourth_count_on_the_difference_is_written():
    mask = np.array([[0, 1, 0, 1, 0, 1]], bool)
    assert rle.counts_of(mask) == [1, 1, 1, 1, 1, 1]
    assert rle.encode(mask) == "111000"
    assert rle.encode(np.array([[1, 0, 0, 0, 1]], bool)) == "0130"  # [0, 1, 3, 1]: the last is one less one


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_as_pycocotools_writes_and_reads_it(density):
    coco = pytest.importorskip("pycocotools.mask", reason="pip install pycocotools to compare with it")
    random = np.random.default_rng(int(density * 100))
    for _ in range(60):
        height, width = (int(side) for side in random.integers(1, 50, 2))
        mask = random.random((height, width)) < density
        theirs = coco.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"].decode()
        assert rle.encode(mask) == theirs
        assert (rle.decode(theirs, height, width) == mask).all()


def test_a_large_mask_with_long_runs_as_pycocotools():
    coco = pytest.importorskip("pycocotools.mask", reason="pip install pycocotools to compare with it")
    rows, columns = np.mgrid[:1080, :1920]
    disc = (rows - 500) ** 2 + (columns - 900) ** 2 < 300**2
    told = coco.encode(np.asfortranarray(disc.astype(np.uint8)))
    assert rle.encode(disc) == told["counts"].decode() and len(rle.encode(disc)) < 1500
    x, y, width, height = coco.toBbox(told)
    assert rle.box_of(disc) == (x, y, x + width, y + height)


def test_box_of_known_masks():
    mask = np.zeros((40, 70), bool)
    assert rle.box_of(mask) is None
    mask[39, 69] = True
    assert rle.box_of(mask) == (69.0, 39.0, 70.0, 40.0)  # x1 and y1 are exclusive
    mask[3:5, 10:20] = True
    assert rle.box_of(mask) == (10.0, 3.0, 70.0, 40.0)
    assert rle.box_of(np.ones((2, 3), bool)) == (0.0, 0.0, 3.0, 2.0)


@pytest.mark.parametrize("text", ["441", "44", "4411", "é", "\x00", "P", ""])
def test_text_that_is_no_mask_of_the_size(text):
    with pytest.raises(ValueError, match="run-length"):
        rle.decode(text, 3, 4)
