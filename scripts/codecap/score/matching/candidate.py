"""Where an object may be on one frame of a candidate, and which of several like places is its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codecap.score.matching.reference import Sample, centre
from codecap.score.segmenting.following import places
from codecap.score.segmenting.pictures import Picture
from codecap.score.segmenting.placing import Match, match_near

NEAR_PRESENT = 0.5  # likeness that is enough near the reference's place; a degraded copy reaches 0.6 to 0.95
FAR_PRESENT = 0.65  # and anywhere else
CERTAIN = 0.85  # near the reference's place: not looked for elsewhere
NEAR_SIZE = 0.3  # near: within this part of the object's longer side,
NEAR_PX = 6.0  # and at least so far
MOST_PLACES = 8
OWN_SHARE = 0.45  # an object is nearer to its place than this share of the way to its next look-alike


@dataclass(frozen=True)
class Finding:
    """What may be an object on one frame: separate places, the best first (one near the reference's place before others)."""

    frame: int
    sample: Sample
    places: tuple[Match, ...]


def find(frame: int, picture: Picture, sample: Sample, twins: bool) -> Finding:
    """Look for an object near where the reference has it and, unless that is certain, in the whole picture."""
    size = float(max(sample.box_xyxy[2:] - sample.box_xyxy[:2]))
    near = match_near(picture, sample.look.fine, sample.box_xyxy, max(NEAR_SIZE * size, NEAR_PX))
    if near.likeness >= CERTAIN and not twins:
        return Finding(frame, sample, (near,))
    found = [near] if near.likeness >= NEAR_PRESENT else []
    for place in places(picture, sample.look, MOST_PLACES, FAR_PRESENT):
        if all(np.abs(centre(place.box_xyxy) - centre(other.box_xyxy)).max() > 0.3 * size for other in found):
            found.append(place)
    return Finding(frame, sample, tuple(sorted(found, key=lambda match: -match.likeness)))


def displacement(findings: Sequence[Finding]) -> np.ndarray | None:
    """How far objects without look-alikes are from their places in the reference: median step `(2,)`, None without any."""
    steps = [
        centre(finding.places[0].box_xyxy) - finding.sample.centre_xy
        for finding in findings
        if finding.places and finding.places[0].likeness >= CERTAIN - 0.1
    ]
    return np.median(np.array(steps), axis=0) if steps else None


@dataclass(frozen=True)
class Told:
    """Which place is the object's: a match, or None when none is (`unsure`: there are some, but they may be look-alikes')."""

    frame: int
    match: Match | None
    unsure: bool = False


def tell_apart(finding: Finding, moved: np.ndarray) -> Told:
    """Give each place to the nearest of the object and its look-alikes, as the reference has them after a common step.

    Args:
        moved: the step `(2,)` of what has no look-alikes.
    """
    if not finding.places:
        return Told(finding.frame, None)
    twins = finding.sample.twins_xy
    if not len(twins):
        return Told(finding.frame, finding.places[0])
    own = finding.sample.centre_xy + moved
    others = twins + moved
    room = OWN_SHARE * float(np.linalg.norm(others - own, axis=1).min())
    centres = np.array([centre(place.box_xyxy) for place in finding.places])
    from_own = np.linalg.norm(centres - own, axis=1)
    nearest = int(from_own.argmin())
    if from_own[nearest] <= room:
        return Told(finding.frame, finding.places[nearest])
    to_others = np.linalg.norm(centres[:, None] - others[None], axis=2).min(axis=1)
    unexplained = to_others > room
    return Told(finding.frame, None, unsure=bool(unexplained.any()))
