"""Two tracks, and what speaks for it that one of them went over to the other's object."""

import numpy as np

from codecap.annotate.identity import swaps
from codecap.annotate.looks import Looks
from codecap.boxes import as_array

FRAMES = 60


def going(y, step=3.0, x=10.0):
    return [(x + step * k, y, x + step * k + 30, y + 20.0) for k in range(FRAMES)]


def told(one, other, looks=None):
    return list(swaps({"one": as_array(one), "other": as_array(other)}, looks))


def looks(one, other):
    """Plain pictures, by their grey levels frame by frame."""
    pictures = {
        name: np.broadcast_to(np.array(levels, np.float32)[:, None, None, None], (FRAMES, 6, 6, 3))
        for name, levels in (("one", one), ("other", other))
    }
    return Looks(pictures)


def test_two_that_go_their_ways_or_pass_one_another_are_not_doubted():
    assert told(going(20), going(100)) == []
    assert told(going(20), going(20, step=-3.0, x=190.0)) == []  # they meet in the middle
    assert told(going(20), [(x0 - 1, y0, x1, y1) for x0, y0, x1, y1 in going(20)]) == []  # one lies on the other all the way


def test_they_change_places_from_one_frame_to_the_next():
    one, other = going(20), going(100)
    found = told(one[:30] + other[30:], other[:30] + one[30:])
    assert [(swap.name, swap.frames, swap.value) for swap in found] == [("one", [30], 1.0), ("other", [30], 1.0)]
    assert found[0].told == "changes places with 'other' at frame 30"


def test_one_goes_on_with_the_other():
    one, other = going(20), going(100)
    found = told(one[:35] + other[35:], other)
    assert [(swap.name, swap.frames) for swap in found] == [("one", [35]), ("other", [35])]
    assert "25 frames" in found[0].told and found[0].value > 0.5


def test_a_track_that_shows_what_another_one_shows():
    red, blue = [200.0] * FRAMES, [40.0] * FRAMES
    found = told(going(20), going(100), looks(red[:40] + [50.0] * 20, blue))
    assert [(swap.name, swap.frames) for swap in found] == [("one", [40])] and "looks like 'other'" in found[0].told
    assert told(going(20), going(100), looks(red[:40] + [150.0] * 20, blue)) == []  # it changed, but not to the other's look
    assert told(going(20), going(100), looks([50.0] * 40 + [45.0] * 20, blue)) == []  # look-alikes cannot be told apart so


def test_what_is_covered_by_the_other_shows_it_and_is_no_swap():
    over = [(x0 + 5, y0, x1 + 25, y1) for x0, y0, x1, y1 in going(20)]
    assert told(going(20), over, looks([200.0] * 40 + [50.0] * 20, [40.0] * FRAMES)) == []


def test_a_part_of_a_thing_may_look_like_anything():
    part = going(20)[:40] + [(x0, y0, x0 + 8, y1) for x0, y0, _, y1 in going(20)[40:]]
    assert told(part, going(100), looks([200.0] * 40 + [50.0] * 20, [40.0] * FRAMES)) == []
