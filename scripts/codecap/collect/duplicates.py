"""Which originals show the same, within a source and across sources: one is kept, and what others share with it is not taken twice.

An original is left out when better ones show most of what it shows. Where they show less, the shared stretches alone are barred. A
stretch that two originals begin with, or end with, is an intro or an end card, and is barred in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from codecap.collect.alignment import SHADES, SHORTEST, Overlap, overlaps, shades
from codecap.collect.hashes import BYTES, RATE_HZ, read_hashes
from codecap.records import Duplicate, Original, Survey

COVERED = 0.6  # of the telling half seconds of an original: what better ones show more of than this is left out
MARGIN_S = 20.0  # intros and end cards lie so near the beginning or the end,
CARD = 0.5  # and are no more than this of either original
PARTS, PART_BITS = 4, 16  # of a picture's signature
NEAR_BITS = 5  # by which signatures of the same picture differ at most, mostly
CELLS_AT_ONCE = 1 << 20  # of the comparison of all with all


@dataclass
class Known:
    """What is known of an original.

    Attributes:
        twin: set where it is left out.
        barred: stretches in half seconds that no clip should be of, since another original shows them too.
    """

    original: Original
    survey: Survey
    twin: Duplicate | None = None
    barred: list[tuple[int, int]] = field(default_factory=list)

    @property
    def candidate_id(self) -> str:
        return self.survey.candidate_id


def sort_out(originals: Sequence[Original], surveys: Mapping[str, Survey], keep_all: bool = False) -> list[Known]:
    """Compare all originals that could be surveyed.

    Args:
        surveys: by candidate id.
        keep_all: none is compared with another.

    Returns:
        One for each, the better ones first: a candidate that is taken whole comes before one of which parts are chosen, then the
        larger picture, the one without bars, the longer one, the larger file, the first id.
    """
    told = [(original, surveys.get(original.candidate.candidate_id)) for original in originals]
    every = [Known(original, survey) for original, survey in told if survey is not None and survey.status == "ok"]
    every.sort(key=_rank)
    shared = {} if keep_all else {(first, second): found for first, second, found in _compared(every)}
    for place, known in enumerate(every):
        better = {other: shared[other, place] for other in range(place) if every[other].twin is None and (other, place) in shared}
        known.twin = _twin(known, [(every[other], found) for other, found in better.items()])
        for other, found in better.items() if known.twin is None else ():
            _bar(every[other], known, found)
    return every


def _rank(known: Known) -> tuple:
    survey, original = known.survey, known.original
    bars = max((len(one) for one in survey.hashes), default=0)
    area = survey.width_px * survey.height_px
    return (not original.candidate.whole, -area, bars, -survey.frames, -original.size_bytes, survey.candidate_id)


def _compared(every: Sequence[Known]) -> Iterator[tuple[int, int, list[Overlap]]]:
    """Pairs of originals that share stretches; these are of the second one, the worse."""
    for first, second in sorted(_same_files(every) | _likely_pairs([known.survey for known in every])):
        ours, theirs = every[second].survey, every[first].survey
        if ours.sha256 == theirs.sha256:
            yield first, second, [Overlap(0, len(ours.hashes), 0.0, 1.0)]
            continue
        shortest = max(2, min(SHORTEST, round(COVERED * min(len(ours.hashes), len(theirs.hashes)))))
        found = overlaps(ours.hashes, theirs.hashes, shortest)
        if found:
            yield first, second, found


def _same_files(every: Sequence[Known]) -> set[tuple[int, int]]:
    """Pairs of the very same file, each with the best one that has it."""
    first: dict[str, int] = {}
    found = [(first.setdefault(known.survey.sha256, place), place) for place, known in enumerate(every)]
    return {(best, place) for best, place in found if best != place}


def _likely_pairs(surveys: Sequence[Survey]) -> set[tuple[int, int]]:
    """Pairs that have nearly the same signature of some picture in common, the first one first.

    Signatures that differ little have one of their parts in common, mostly: only those are compared.
    """
    told = [_signatures(survey) for survey in surveys]
    signatures = np.concatenate([np.empty(0, np.uint64), *told])
    places = np.repeat(np.arange(len(told)), [len(one) for one in told])
    pairs: set[tuple[int, int]] = set()
    for part in range(PARTS):
        keys = (signatures >> np.uint64(part * PART_BITS)) & np.uint64((1 << PART_BITS) - 1)
        order = np.argsort(keys, kind="stable")
        for alike in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
            pairs |= _near(signatures[alike], places[alike])
    return pairs


def _near(signatures: np.ndarray, places: np.ndarray) -> set[tuple[int, int]]:
    """Pairs of places whose signatures differ in at most `NEAR_BITS`."""
    found: set[tuple[int, int]] = set()
    if len(places) < 2 or places[0] == places[-1]:  # places ascend
        return found
    step = max(CELLS_AT_ONCE // len(places), 1)
    for row in range(0, len(places), step):
        rows = slice(row, row + step)
        near = np.bitwise_count(signatures[rows, None] ^ signatures[None, :]) <= NEAR_BITS
        first, second = np.nonzero(near & (places[rows, None] < places[None, :]))
        found.update(zip(places[rows][first].tolist(), places[second].tolist(), strict=True))
    return found


def _signatures(survey: Survey) -> np.ndarray:
    """Of each picture that tells something, each once: which of its 64 fields are lighter than their mean. uint64.

    Neighbouring bits are of fields far from each other, so that each part of a signature is of fields all over the picture.
    """
    found = []
    for fields in read_hashes(survey.hashes):
        telling = fields[shades(fields) >= SHADES]
        light = (
            (telling > telling.mean(axis=1, keepdims=True)).reshape(len(telling), -1, PARTS)
            if len(telling)
            else np.empty((0, 1, 1))
        )
        found.append(np.packbits(light.swapaxes(1, 2).reshape(len(telling), BYTES).astype(bool), axis=1))
    return np.unique(np.concatenate(found).view(np.uint64))


def _twin(known: Known, better: Sequence[tuple[Known, list[Overlap]]]) -> Duplicate | None:
    """What stands for an original that better ones show most of: the one that shows the most."""
    same = [(other, found) for other, found in better if other.survey.sha256 == known.survey.sha256]
    covered = np.zeros(len(known.survey.hashes), bool)
    for _, found in better:
        for overlap in found:
            covered[overlap.start : overlap.stop] = True
    telling = shades(read_hashes(known.survey.hashes)[0]) >= SHADES
    if not same and (not telling.any() or covered[telling].mean() <= COVERED):
        return None
    other, found = (same or sorted(better, key=lambda pair: -sum(overlap.shared_s for overlap in pair[1])))[0]
    longest = max(found, key=lambda overlap: overlap.shared_s)
    return Duplicate(
        candidate_id=known.candidate_id,
        twin=other.candidate_id,
        offset_s=longest.offset_s,
        shared_s=sum(overlap.shared_s for overlap in found),
        likeness=round(min(longest.likeness, 1.0), 4),
    )


def _bar(better: Known, known: Known, found: Sequence[Overlap]) -> None:
    """Bar what two originals share in the worse one, and in both where both begin or end with it."""
    margin = round(MARGIN_S * RATE_HZ)
    ours, theirs = len(known.survey.hashes), len(better.survey.hashes)
    for overlap in found:
        known.barred.append((overlap.start, overlap.stop))
        there = overlap.reversed()
        begins = overlap.stop <= margin and there.stop <= margin
        ends = overlap.start >= ours - margin and there.start >= theirs - margin
        if (begins or ends) and overlap.stop - overlap.start <= CARD * min(ours, theirs):
            better.barred.append((there.start, there.stop))
