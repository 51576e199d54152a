"""Where two videos show the same: copies of drawn videos whose cuts the test has made itself."""

import itertools

import cv2
import numpy as np
import pytest
from drawn import HEIGHT_PX, WIDTH_PX, faded, figures, letterboxed, pillarboxed, resized, squeezed, still, with_logo

from codecap.clock import FPS
from codecap.collect.alignment import overlaps
from codecap.collect.hashes import Hasher

SCENES = {"ground": figures(0), "dull": figures(3), "white": figures(20, (255, 255, 255)), "black": figures(21, (0, 0, 0), count=3)}
COPIES = {
    "resized": lambda picture: resized(picture, 80, 46),
    "squeezed": squeezed,
    "letterboxed": letterboxed,
    "pillarboxed": pillarboxed,
    "with a logo": with_logo,
    "faded": faded,
}


RATE_HZ = 8  # pictures a second, which the clock of 24 shows for three frames each: as good as 24, and drawn in a third of the time


def seen(scene, seconds, start_s=0.0, rate_hz=RATE_HZ):
    """What a scene shows, of which only `rate_hz` pictures a second are new."""
    return (scene(start_s + int(number * rate_hz / RATE_HZ) / rate_hz) for number in range(round(seconds * RATE_HZ)))


def hashed(shown):
    hasher, held = Hasher(), FPS // RATE_HZ
    for number, picture in enumerate(shown):
        hasher.add(picture, held * number, held * (number + 1))
    return hasher.hashes()


@pytest.fixture(scope="module")
def whole():
    return {name: hashed(seen(scene, 12)) for name, scene in SCENES.items()}


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("name", SCENES)
def test_a_copy_is_found_from_its_beginning_to_its_end(whole, name, copy):
    (found,) = overlaps(hashed(map(COPIES[copy], seen(SCENES[name], 12))), whole[name])
    assert found.start <= 1 and found.stop >= 23
    assert abs(found.offset_s) <= 0.125


@pytest.mark.parametrize("start_s", [2.0, 2.13, 3.3, 4.75])
@pytest.mark.parametrize("name", ["ground", "dull", "white"])
def test_a_piece_is_found_where_it_was_cut_out(whole, name, start_s):
    piece = (letterboxed(squeezed(picture)) for picture in seen(SCENES[name], 7, start_s))
    (found,) = overlaps(hashed(piece), whole[name])
    assert found.shared_s >= 6
    assert abs(found.offset_s - start_s) <= 0.25


def test_another_frame_rate_is_the_same_video(whole):
    (found,) = overlaps(hashed(seen(SCENES["white"], 12, rate_hz=4)), whole["white"])
    assert found.shared_s == 12


def test_videos_of_one_style_are_not_the_same(whole):
    others = [hashed(seen(figures(seed, (255, 255, 255)), 12)) for seed in range(40, 48)]
    for one, other in itertools.permutations([*others, *whole.values()], 2):
        assert overlaps(one, other) == []


def test_the_same_stage_with_other_players_is_not_the_same():
    """The ground and what stands on it are equal, and only small figures move, each time others."""

    def played(seed):
        ground = figures(77, (255, 255, 255))(0.0)
        chance = np.random.default_rng(seed)
        players = [
            (chance.uniform(0.2, 0.8), chance.uniform(0.1, 0.9), chance.uniform(2, 5), chance.uniform(0, 6)) for _ in range(3)
        ]

        def at(time_s):
            picture = ground.copy()
            for x, y, pace, phase in players:
                left, top = int((x + 0.15 * np.sin(pace * time_s + phase)) * WIDTH_PX), int(y * HEIGHT_PX)
                cv2.rectangle(picture, (left, top), (left + 12, top + 8), (200, 30, 30), -1)
            return picture

        return at

    videos = [hashed(seen(played(seed), 10)) for seed in range(5)]
    for one, other in itertools.permutations(videos, 2):
        assert overlaps(one, other) == []
    copy = hashed(letterboxed(squeezed(picture)) for picture in seen(played(2), 7, 1.9))
    assert [round(found.offset_s, 1) for found in overlaps(copy, videos[2])] in ([1.9], [2.0], [1.8], [1.75])


def test_two_pieces_in_another_order_are_found_both(whole):
    mixed = [*seen(SCENES["ground"], 5, 6.0), *seen(SCENES["ground"], 5, 0.0)]
    first, second = overlaps(hashed(mixed), whole["ground"])
    assert abs(first.offset_s - 6) <= 0.25 and first.stop in (9, 10, 11)
    assert abs(second.offset_s + 5) <= 0.25 and second.start in (9, 10, 11)


def test_the_other_video_sees_the_same_stretch(whole):
    (found,) = overlaps(hashed(seen(SCENES["ground"], 5, 4.0)), whole["ground"])
    (theirs,) = overlaps(whole["ground"], hashed(seen(SCENES["ground"], 5, 4.0)))
    assert found.reversed().offset == theirs.offset == -found.offset
    assert (found.reversed().start, found.reversed().stop) == (theirs.start, theirs.stop) == (8, 18)


def test_blank_pictures_prove_nothing():
    white, black = (hashed([np.full((90, 160, 3), level, np.uint8)] * 80) for level in (255, 0))
    assert overlaps(white, white) == overlaps(white, black) == []


def test_still_pictures_must_be_nearly_equal():
    one, other = hashed(seen(still(5), 8)), hashed(seen(still(6), 8))
    assert overlaps(one, other) == []
    (found,) = overlaps(hashed(map(squeezed, seen(still(5), 8))), one)
    assert found.shared_s == 8


def test_no_hashes_share_nothing(whole):
    assert overlaps([], whole["ground"]) == overlaps(whole["ground"], []) == []


def test_long_videos_are_compared_piece_by_piece(whole, monkeypatch):
    """All with all at once would take gigabytes."""
    piece = hashed(seen(SCENES["ground"], 5, 4.0))
    at_once = overlaps(piece, whole["ground"])
    monkeypatch.setattr("codecap.collect.alignment.CELLS_AT_ONCE", 50)
    assert overlaps(piece, whole["ground"]) == at_once != []
