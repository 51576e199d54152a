"""Hashes of half seconds against means taken by hand."""

import numpy as np
import pytest
from drawn import figures, letterboxed, pictures, pillarboxed, resized

from codecap.collect.hashes import Hasher, read_hashes


def hashed(frames):
    hasher = Hasher()
    for number, picture in enumerate(frames):
        hasher.add(picture, number, number + 1)
    return hasher.hashes()


def test_a_hash_is_the_mean_luma_of_the_fields_over_half_a_second():
    picture = np.zeros((64, 128, 3), np.uint8)
    picture[:8, :16] = 200  # the first of 8 x 8 fields
    hasher = Hasher()
    hasher.add(picture, 0, 3)  # shown in three of the twelve frames
    hasher.add(np.zeros_like(picture), 3, 12)
    (fields,) = read_hashes(hasher.hashes())
    assert fields.shape == (1, 64)
    assert fields[0, 0] == 50 and fields[0, 1:].max() <= 1


@pytest.mark.parametrize(("frames", "halves"), [(1, 1), (12, 1), (13, 2), (24, 2), (100, 9)])
def test_each_begun_half_second_has_a_hash(frames, halves):
    assert len(hashed(pictures(figures(1), frames / 24))) == halves


def test_a_picture_held_for_long_is_that_picture_again_and_again():
    hasher = Hasher()
    hasher.add(np.full((90, 160, 3), 77, np.uint8), 0, 60)
    assert hasher.hashes() == ["4d" * 64] * 5


@pytest.mark.parametrize("packed", [letterboxed, pillarboxed, lambda picture: pillarboxed(letterboxed(picture))])
def test_bars_are_taken_off_and_the_whole_picture_is_told_too(packed):
    plain = read_hashes(hashed(pictures(figures(3), 3)))
    inside, whole = read_hashes(hashed(packed(picture) for picture in pictures(figures(3), 3)))
    assert len(plain) == 1
    assert np.abs(inside - plain[0]).mean() < 3  # the last row of a bar is cut within a pixel
    assert np.abs(whole - plain[0]).mean() > 10


def test_size_and_shape_of_the_pictures_do_not_count():
    (one,) = read_hashes(hashed(pictures(figures(3), 2)))
    (other,) = read_hashes(hashed(resized(picture, 100, 90) for picture in pictures(figures(3), 2)))
    assert np.abs(one - other).max() <= 4


def test_nothing_has_no_hashes():
    assert Hasher().hashes() == []
    assert [fields.shape for fields in read_hashes([])] == [(0, 64)]


@pytest.mark.parametrize("told", [["00" * 63], ["00" * 64, "00" * 128], ["xy"]])
def test_what_is_no_hash_is_refused(told):
    with pytest.raises(ValueError, match=r"hashes are 64|hexadecimal"):
        read_hashes(told)
