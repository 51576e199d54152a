"""Trains the scorecard on clips whose label is known, and tells how well it does on families that it has not seen.

Logistic regression with a ridge penalty on standardised features; both labels weigh the same, whatever their numbers. No feature
may speak the other way than `axes` says: a chance pattern of the labelled clips cannot make noise a sign of drawings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from codecap.errors import UserError
from codecap.filtering.axes import INPUTS
from codecap.filtering.scorecard import Scorecard

PENALTY = 3.0  # ridge on the coefficients of standardised features, in units of one clip's likelihood


@dataclass(frozen=True)
class Labelled:
    """A measured clip whose label is known.

    Attributes:
        family: clips of one family are alike: they are left out together.
    """

    name: str
    family: str
    keep: bool
    features: dict[str, float]


def train(clips: Sequence[Labelled], penalty: float = PENALTY) -> Scorecard:
    """The scorecard of some clips.

    Raises:
        UserError: clips of only one label.
    """
    from scipy.optimize import minimize

    keep = np.array([clip.keep for clip in clips], float)
    if not 0 < keep.sum() < len(keep):
        raise UserError("to train the filter takes clips to keep and clips to drop, and one kind is missing")
    told = np.array([[clip.features[name] for name in INPUTS] for clip in clips])
    middle, spread = told.mean(axis=0), told.std(axis=0)
    spread = np.where(spread > 0, spread, np.inf)  # what is the same everywhere says nothing
    design = (told - middle) / spread
    weight = np.where(keep == 1, 0.5 / keep.mean(), 0.5 / (1 - keep.mean()))

    def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
        odds = slopes[0] + design @ slopes[1:]
        missed = weight * (1 / (1 + np.exp(-np.clip(odds, -500, 500))) - keep)
        likelihood = weight @ np.logaddexp(0, np.where(keep == 1, -odds, odds))
        return (
            likelihood + penalty / 2 * slopes[1:] @ slopes[1:],
            np.concatenate([[missed.sum()], design.T @ missed + penalty * slopes[1:]]),
        )

    bounds = [(None, None), *((0, None) if feature.sign > 0 else (None, 0) for feature in INPUTS.values())]
    found = minimize(loss, np.zeros(len(INPUTS) + 1), jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 2000})
    plain = found.x[1:] / spread
    return Scorecard(
        intercept=float(found.x[0] - plain @ middle),
        coefficients=dict(zip(INPUTS, plain.tolist(), strict=True)),
        kept=_medians(clip for clip in clips if clip.keep),
        dropped=_medians(clip for clip in clips if not clip.keep),
    )


def left_out(clips: Sequence[Labelled], penalty: float = PENALTY) -> list[float]:
    """Log-odds of each clip by the scorecard of all other families.

    Raises:
        UserError: a label has a single family, so that nothing is left of it without that one.
    """
    families = {clip.family for clip in clips}
    if any(len({clip.family for clip in clips if clip.keep == label}) < 2 for label in (True, False)):
        raise UserError("to leave families out in turn takes two of each label, to keep and to drop: add clips, or --specimens")
    cards = {family: train([clip for clip in clips if clip.family != family], penalty) for family in families}
    return [cards[clip.family].log_odds(clip.features) for clip in clips]


def _medians(clips: Iterable[Labelled]) -> dict[str, float]:
    measured = [clip.features for clip in clips]
    return {name: float(np.median([features[name] for features in measured])) for name in INPUTS}
