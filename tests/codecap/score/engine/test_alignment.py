"""The alignment of shots against all alignments that there are, on cases small enough to try them all."""

import itertools

import numpy as np
import pytest

from codecap.score.engine.alignment import PULL, align, cells, given, is_given, segment_value


def shots_of(*lengths: int) -> list[tuple[int, int]]:
    return list(itertools.pairwise(itertools.accumulate(lengths, initial=0)))


def worth(shots, likeness, bounds, count, pull) -> float:
    """The sum that is maximised, term by term."""
    segments = list(itertools.pairwise(bounds))
    values = sum(segment_value(likeness[number], *segment) for number, segment in enumerate(segments))
    going = sum(abs(bound / count - stop / shots[-1][1]) for bound, (_, stop) in zip(bounds[1:-1], shots, strict=False))
    return values - pull * going


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("lengths", "count"), [((3, 5), 7), ((4, 1, 2), 9), ((2, 2, 2, 2), 6), ((5, 1, 1), 3)])
def test_no_other_alignment_is_worth_more(lengths, count, seed):
    generator = np.random.default_rng(seed)
    shots = shots_of(*lengths)
    likeness = [generator.uniform(0, 1, (min(length, 4), count)) for length in lengths]
    found, mean = align(shots, list(range(count + 1)), likeness)
    inner = itertools.combinations(range(1, count), len(shots) - 1)
    best = max(((0, *bounds, count) for bounds in inner), key=lambda bounds: worth(shots, likeness, bounds, count, PULL))
    assert found == list(itertools.pairwise(best))
    assert mean == pytest.approx(np.mean([segment_value(likeness[n], *segment) for n, segment in enumerate(found)]))


def test_a_known_optimum():
    """Two shots of 4 frames each; the candidate shows the first in 2 of its 8 cells and the second in 6."""
    first = np.tile([1.0, 1, 0, 0, 0, 0, 0, 0], (4, 1))
    found, mean = align(shots_of(4, 4), list(range(9)), [first, 1 - first])
    assert found == [(0, 2), (2, 8)]
    assert mean == 1.0


def test_boundaries_are_proportional_where_nothing_is_gained_by_moving_them():
    flat = [np.full((3, 12), 0.7)] * 3
    assert align(shots_of(2, 2, 4), list(range(13)), flat)[0] == [(0, 3), (3, 6), (6, 12)]


def test_a_shot_that_is_not_shown_costs_the_others_nothing():
    """Each boundary is at its proportional place, 3.3 and 6.7 of 10 cells, as near as cells allow: the others are found there."""
    shown = np.repeat(np.eye(2), [5, 5], axis=1)  # the candidate shows the first shot, then the third
    likeness = [np.tile(row, (4, 1)) for row in (shown[0], np.zeros(10), shown[1])]
    segments, mean = align(shots_of(4, 4, 4), list(range(11)), likeness)
    assert segments == [(0, 3), (3, 7), (7, 10)]
    assert mean == pytest.approx(2 / 3)


@pytest.mark.parametrize(("count", "frames"), [(2, 3), (3, 400), (300, 301), (7, 2000)])
def test_no_segment_is_empty_and_all_of_the_candidate_is_used(count, frames):
    shots = shots_of(*[10] * count)
    edges = cells(shots, frames)
    assert edges[0] == 0 and edges[-1] == frames and all(a < b for a, b in itertools.pairwise(edges))
    likeness = [np.random.default_rng(number).uniform(0, 1, (8, len(edges) - 1)) for number in range(count)]
    segments, _ = align(shots, edges, likeness)
    assert len(segments) == count
    assert segments[0][0] == 0 and segments[-1][1] == frames
    assert all(start < stop for start, stop in segments)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(segments))


def test_boundaries_are_tried_at_240_places_at_most_unless_there_are_more_shots():
    assert cells(shots_of(10, 10), 7) == list(range(8))
    assert len(cells(shots_of(10, 10), 5000)) == 241
    assert len(cells(shots_of(*[1] * 300), 5000)) == 301


@pytest.mark.parametrize(("count", "frames"), [(1, 1), (1, 50), (3, 3), (5, 2), (4, 1), (1000, 7)])
def test_where_there_is_no_choice_no_encoder_is_needed(count, frames):
    shots = shots_of(*[6] * count)
    assert is_given(shots, frames)
    segments = given(shots, frames)
    assert len(segments) == count
    assert all(0 <= start < stop <= frames for start, stop in segments)
    assert segments == sorted(segments)
    if count == frames:
        assert segments == [(frame, frame + 1) for frame in range(frames)]
