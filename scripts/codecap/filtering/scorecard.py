"""The scorecard: log-odds of structured 2D content as a sum over features, apart for each axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from codecap.filtering.axes import AXES, INPUTS, Axis

MOST = 500.0  # log-odds beyond which the chance is 0 or 1 anyway


class Scorecard(BaseModel):
    """A logistic model. Its sum is split at `middle`, where a feature speaks neither for nor against.

    Attributes:
        intercept: log-odds where all features are 0.
        coefficients: log-odds for each unit of a feature.
        kept, dropped: medians of the clips that were to be kept and to be dropped in training; they split the sum and are named in
            reasons, and decide nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    intercept: float = Field(allow_inf_nan=False)
    coefficients: dict[str, float]
    kept: dict[str, float]
    dropped: dict[str, float]

    @field_validator("coefficients", "kept", "dropped")
    @classmethod
    def _names_the_inputs(cls, told: dict[str, float]) -> dict[str, float]:
        if set(told) != set(INPUTS):
            raise ValueError(f"needs exactly these features: {', '.join(INPUTS)}")
        if not all(math.isfinite(value) for value in told.values()):
            raise ValueError("needs finite numbers")
        return {name: told[name] for name in INPUTS}

    def log_odds(self, features: Mapping[str, float]) -> float:
        return self.intercept + sum(slope * features[name] for name, slope in self.coefficients.items())

    def parts(self, features: Mapping[str, float]) -> dict[str, float]:
        """What each feature adds to the log-odds, against one in the middle between clips kept and dropped."""
        return {
            name: slope * (features[name] - (self.kept[name] + self.dropped[name]) / 2) for name, slope in self.coefficients.items()
        }

    def axes(self, features: Mapping[str, float]) -> dict[Axis, float]:
        """What each axis adds: the sums of its features' parts."""
        parts = self.parts(features)
        return {axis: sum(parts[name] for name, feature in INPUTS.items() if feature.axis == axis) for axis in AXES}

    @property
    def protocol(self) -> str:
        slopes = ", ".join(f"{name} {slope:g}" for name, slope in self.coefficients.items() if slope)
        return f"logistic of {self.intercept:g}, {slopes}"


def chance_of(log_odds: float) -> float:
    """The logistic function.

    >>> chance_of(0.0), chance_of(-1e9) < 1e-200
    (0.5, True)
    """
    return 1 / (1 + math.exp(-min(max(log_odds, -MOST), MOST)))


def as_section(card: Scorecard) -> dict[str, Any]:
    """The configuration's section `filter` that makes the filter use a scorecard; numbers are rounded to three decimals."""

    def rounded(numbers: Mapping[str, float]) -> dict[str, float]:
        return {name: round(number, 3) for name, number in numbers.items()}

    return {
        "scorecard": {
            "intercept": round(card.intercept, 3),
            "coefficients": rounded(card.coefficients),
            "kept": rounded(card.kept),
            "dropped": rounded(card.dropped),
        }
    }
