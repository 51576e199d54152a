"""When pictures come and go, by timestamps that are missing, rounded or wrong; what is right is worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import av
import pytest

from codecap.collect.timeline import Timeline

RATE = Fraction(25)


def timed(stamps: list[int | None], duration: int | None = 1, tick_s=Fraction(1, 25), **more) -> list[tuple[Fraction, Fraction]]:
    """Start and end, in pictures of 40 ms, of pictures with these timestamps."""
    pictures = []
    for stamp in stamps:
        frame = av.VideoFrame(16, 16, "gray")
        frame.pts = stamp
        pictures.append((frame, duration))
    return [(start_s * RATE, end_s * RATE) for start_s, end_s, _ in Timeline(tick_s, RATE, **more).timed(pictures)]


def starts(stamps: list[int | None], **more) -> list[Fraction]:
    return [start for start, _ in timed(stamps, **more)]


@pytest.mark.parametrize(
    ("stamps", "wanted"),
    [
        ([7, 8, 9, 10], [0, 1, 2, 3]),
        ([0, 1, 5, 6], [0, 1, 5, 6]),  # a picture that stays
        ([None, None, None], [0, 1, 2]),
        ([0, 1, None, 3], [0, 1, 2, 3]),
        ([0, 1, None, None, 8], [0, 1, 2, 3, 8]),
        ([None, 50, 51], [0, 1, 2]),  # the first one's is missing
        ([0, 1, 2, 7, 4, 5], [0, 1, 2, 3, 4, 5]),  # one is too late
        ([0, 1, 2, 0, 4, 5], [0, 1, 2, 3, 4, 5]),  # one is too early
        ([0, 1, 2, 3, 0], [0, 1, 2, 3, 4]),
        ([0, 1, 2, 0, 1, 2], [0, 1, 2, 3, 4, 5]),  # the count begins anew
        ([90, 91, 92, 10, 11, 20, 3, 4], [0, 1, 2, 3, 4, 13, 14, 15]),  # twice
        ([9, 0, 1, 2], [0, 1, 2, 3]),
        ([0, 1, 1, 2], [0, 1, 1, 2]),  # of two at one instant the later one is shown: `shown`
        ([0, 10, None, 10, 11], [0, 10, 10, 10, 11]),
    ],
)
def test_starts(stamps, wanted):
    assert starts(stamps) == wanted


def test_a_picture_without_a_length_lasts_as_the_rate_says():
    assert starts([0, None, None, 3], duration=None) == [0, 1, 2, 3]
    assert timed([0, 4], duration=None) == [(0, 0), (4, 4)]  # nothing is said of when the last one goes
    assert timed([0, None], duration=None)[1] == (1, 2)


def test_pictures_further_on_count_from_the_first_of_all():
    assert timed([17, 18], first_pts=7) == [(10, 11), (11, 12)]


def test_milliseconds_stand_for_what_was_rounded():
    tick_s = Fraction(1, 1000)
    rounded = [round(number * 1000 / 24) for number in range(30)]
    found = Timeline(tick_s, Fraction(24)).timed((frame_at(stamp), 42) for stamp in rounded)
    assert [start_s for start_s, *_ in found] == [Fraction(number, 24) for number in range(30)]


def test_hundredths_and_dividing_ticks_are_taken_at_their_word():
    for tick_s, stamps in ((Fraction(1, 100), [0, 4, 9]), (Fraction(1, 12_000), [0, 499, 1001])):
        found = Timeline(tick_s, Fraction(24)).timed((frame_at(stamp), 1) for stamp in stamps)
        assert [start_s for start_s, *_ in found] == [stamp * tick_s for stamp in stamps]


def frame_at(stamp: int) -> av.VideoFrame:
    frame = av.VideoFrame(16, 16, "gray")
    frame.pts = stamp
    return frame
