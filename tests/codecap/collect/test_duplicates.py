"""Which originals are left out: copies of drawn videos whose relations the test has made itself."""

from pathlib import Path

import pytest
from drawn import figures, letterboxed, squeezed

from codecap.clock import FPS
from codecap.collect.duplicates import sort_out
from codecap.collect.hashes import Hasher
from codecap.records import Candidate, Original, Survey

HELD = 3  # frames of the clock that show one picture


def hashed(shown):
    hasher = Hasher()
    for number, picture in enumerate(shown):
        hasher.add(picture, HELD * number, HELD * (number + 1))
    return hasher.hashes()


def scenes(*cuts):
    """(seed, start_s, seconds) one after the other, eight pictures a second."""
    found = []
    for seed, start_s, seconds in cuts:
        scene = figures(seed)
        found += [scene(start_s + HELD * number / FPS) for number in range(round(seconds * FPS / HELD))]
    return found


class Offered:
    """Originals and their surveys."""

    def __init__(self):
        self.originals, self.surveys = [], {}

    def add(self, name, frames, *, width_px=640, whole=False, sha256="", size_bytes=1000):
        frames = list(frames)
        sha256 = sha256 or name
        candidate = Candidate(candidate_id=name, source="s", locator=name, whole=whole)
        self.originals.append(Original(candidate=candidate, status="ok", path=Path(name), sha256=sha256, size_bytes=size_bytes))
        self.surveys[name] = Survey(
            candidate_id=name,
            sha256=sha256,
            status="ok",
            frames=HELD * len(frames),
            width_px=width_px,
            height_px=360,
            hashes=hashed(frames),
        )
        return self

    def twins(self):
        return {known.candidate_id: known.twin.twin for known in sort_out(self.originals, self.surveys) if known.twin}

    def barred(self):
        return {known.candidate_id: known.barred for known in sort_out(self.originals, self.surveys) if known.barred}


@pytest.fixture
def offered():
    return Offered()


def test_of_copies_the_largest_picture_is_kept_in_whatever_order_they_come(offered):
    film = scenes((0, 0, 12))
    offered.add("small", map(squeezed, film), width_px=320).add("other", scenes((1, 0, 12)))
    offered.add("large", film, width_px=1280).add("boxed", map(letterboxed, film))
    assert offered.twins() == {"small": "large", "boxed": "large"}
    offered.originals.reverse()
    assert offered.twins() == {"small": "large", "boxed": "large"}


def test_of_equal_sizes_the_one_without_bars_then_the_longer_then_the_larger_file_is_kept(offered):
    offered.add("boxed", map(letterboxed, scenes((0, 0, 12))), size_bytes=9000).add("short", scenes((0, 2, 7)))
    offered.add("light", scenes((0, 0, 11)), size_bytes=10).add("heavy", scenes((0, 0, 11)), size_bytes=20)
    assert offered.twins() == {"boxed": "heavy", "short": "heavy", "light": "heavy"}


def test_what_is_taken_whole_is_kept_before_what_is_larger(offered):
    offered.add("mine", scenes((0, 0, 12)), whole=True, width_px=320).add("found", scenes((0, 0, 12)), width_px=1920)
    assert offered.twins() == {"found": "mine"}


def test_a_row_says_where_a_piece_lies_in_its_twin(offered):
    offered.add("whole", scenes((0, 0, 14)), width_px=1280).add("piece", scenes((0, 4, 7)))
    (found,) = [known.twin for known in sort_out(offered.originals, offered.surveys) if known.twin]
    assert (found.candidate_id, found.twin, found.shared_s) == ("piece", "whole", 7)
    assert abs(found.offset_s - 4) <= 0.125 and found.likeness > 0.95


def test_a_collection_keeps_what_is_in_no_other_video(offered):
    """Two of its four pieces are offered alone: it is no duplicate, and they are kept where their pictures are larger."""
    offered.add("collection", scenes((1, 0, 8), (2, 0, 8), (3, 0, 8), (4, 0, 8)))
    offered.add("first", scenes((1, 0, 8)), width_px=1280).add("third", scenes((3, 0, 8)), width_px=1280)
    assert offered.twins() == {}
    assert offered.barred() == {"collection": [(0, 16), (32, 48)]}


def test_pieces_of_a_larger_collection_are_left_out(offered):
    offered.add("collection", scenes((1, 0, 8), (2, 0, 8), (3, 0, 8)), width_px=1280)
    offered.add("first", scenes((1, 0, 8))).add("third", scenes((3, 0, 8)))
    assert offered.twins() == {"first": "collection", "third": "collection"}


def test_what_several_others_show_together_is_left_out(offered):
    offered.add("collection", scenes((1, 0, 8), (3, 0, 8)))
    offered.add("first", scenes((1, 0, 8)), width_px=1280).add("third", scenes((3, 0, 8)), width_px=1280)
    assert set(offered.twins()) == {"collection"}


def test_intros_and_end_cards_are_barred_in_all_that_have_them(offered):
    intro, card = scenes((90, 0, 4)), scenes((91, 0, 5))
    offered.add("one", [*intro, *scenes((1, 0, 20)), *card]).add("two", [*intro, *scenes((2, 0, 25)), *card])
    assert offered.twins() == {}
    barred = {name: sorted(set(stretches)) for name, stretches in offered.barred().items()}
    assert barred == {"one": [(0, 8), (48, 58)], "two": [(0, 8), (58, 68)]}


def test_what_two_share_in_the_middle_is_barred_in_the_worse_one(offered):
    offered.add("one", scenes((1, 0, 25), (5, 0, 6), (2, 0, 25)), width_px=1280)
    offered.add("two", scenes((3, 0, 30), (5, 0, 6), (4, 0, 30)))
    assert offered.barred() == {"two": [(60, 72)]}


def test_the_very_same_file_is_kept_once_even_where_it_shows_nothing(offered):
    blank = [picture * 0 for picture in scenes((0, 0, 3))]
    offered.add("b", blank, sha256="same").add("a", blank, sha256="same").add("c", blank, sha256="another")
    assert offered.twins() == {"b": "a"}


def test_short_copies_are_found_too(offered):
    offered.add("icon", scenes((7, 0, 2)), width_px=1280).add("copy", map(squeezed, scenes((7, 0, 2)))).add(
        "other", scenes((8, 0, 2))
    )
    assert offered.twins() == {"copy": "icon"}


def test_all_may_be_kept(offered):
    offered.add("a", scenes((0, 0, 5))).add("b", scenes((0, 0, 5)))
    assert [known.twin for known in sort_out(offered.originals, offered.surveys, keep_all=True)] == [None, None]


def test_what_could_not_be_surveyed_is_not_compared(offered):
    offered.add("a", scenes((0, 0, 5))).add("b", scenes((0, 0, 5)))
    offered.surveys["a"] = Survey(candidate_id="a", sha256="a", status="failed", reason="is damaged")
    del offered.surveys["b"]
    assert sort_out(offered.originals, offered.surveys) == []


def test_many_alike_are_compared_piece_by_piece(offered, monkeypatch):
    film = scenes((0, 0, 5))
    offered.add("a", film, width_px=1280).add("b", map(squeezed, film)).add("c", map(letterboxed, film))
    monkeypatch.setattr("codecap.collect.duplicates.CELLS_AT_ONCE", 1)
    assert offered.twins() == {"b": "a", "c": "a"}
