"""Keep or drop: which clips are structured 2D content, with the reasons in words.

Two plain rules come first: a clip is long enough, and something changes in it. Then a logistic model of the features in `INPUTS`
gives the odds that a clip is content which code can draw.

The shipped coefficients are those of `python -m codecap.filtering.fit --drawn`: logistic regression on the drawn specimens alone
(see `specimens`), both labels weighing the same. Fitted without their own family, 48 of 54 specimens to keep and 33 of 39 to drop
are right; the others are tiles that scroll, windows over a photograph, globes on plain ground, a flight and point clouds. Only the
coefficients are free of real clips: the specimens, the features in `INPUTS` and the ridge penalty were chosen among nineteen sets
of features while looking at eleven third-party clips and the seven of the demo. Verdicts on those are therefore no measure of how
good the filter is on others, and one of them, a perspective floor in pixel art, is dropped by a hair (chance 0.47).
Fit it again on labelled clips of your own with
`python -m codecap.filtering.fit FOLDER`, and put what it prints into the configuration's section `filter`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from codecap.filtering.features import measure
from codecap.records import Clip, Verdict, in_words
from codecap.store import ItemStore
from codecap.video import VideoError

LOG = logging.getLogger("codecap")

INPUTS = ("flat_share", "changed_share", "changing_texture", "root_unexplained")
INTERCEPT = -4.639
COEFFICIENTS = {"flat_share": 8.966, "changed_share": 11.398, "changing_texture": -15.369, "root_unexplained": -4.875}
TYPICAL = {"flat_share": 0.817, "changed_share": 0.385, "changing_texture": 0.146, "root_unexplained": 0.125}
SHOWN = 3  # features that a reason names


class FilterSettings(BaseModel):
    """The configuration's section `filter`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shortest_s: float = Field(default=1.0, ge=0, description="A shorter clip is dropped, in seconds.")
    still_share: float = Field(
        default=1.0, gt=0, le=1, description="A clip is dropped when at least this share of its half seconds shows no change."
    )
    keep_above: float = Field(
        default=0.5, gt=0, lt=1, description="A clip is kept when the model's chance of structured 2D is above this."
    )
    intercept: float = Field(default=INTERCEPT, description="Log-odds of keep where all features are 0.")
    coefficients: dict[str, float] = Field(
        default=COEFFICIENTS, description=f"Log-odds of keep for each unit of a feature: {', '.join(INPUTS)}."
    )
    typical: dict[str, float] = Field(
        default=TYPICAL, description="The same features of a typical clip to keep; what a reason compares with. It decides nothing."
    )

    @field_validator("coefficients", "typical")
    @classmethod
    def _names_the_inputs(cls, told: dict[str, float]) -> dict[str, float]:
        if set(told) != set(INPUTS):
            raise ValueError(f"needs exactly these features: {', '.join(INPUTS)}")
        return told

    @staticmethod
    def of(told: Mapping[str, Any]) -> FilterSettings:
        """From the configuration.

        Raises:
            ValueError: a key is unknown or a value is wrong; the message says which.
        """
        try:
            return FilterSettings.model_validate(dict(told))
        except ValidationError as error:
            raise ValueError(f"filter: {in_words(error)}") from error


def filter_clip(clip: Clip, settings: FilterSettings | Mapping[str, Any]) -> Verdict:
    """Measure a canonical clip and decide.

    Raises:
        VideoError: the clip cannot be read.
        ValueError: the settings are wrong.
    """
    return verdict_of(clip, measure(clip.mp4), settings)


def filter_shard(clips: Iterable[Clip], settings: Mapping[str, Any], code: str, durable: Path) -> Iterator[Verdict]:
    """One verdict a clip. Features are kept in the store: another threshold measures nothing again.

    A clip that cannot be read is dropped with that reason, and is tried again the next time.
    """
    checked = FilterSettings.of(settings)
    store = ItemStore(durable, stage="filter_clips", salt=[code])
    for clip in clips:
        try:
            key = store.key(clip.sha256)
            item = store.get_or_make("features", clip.clip_id, key, lambda _draft, clip=clip: measure(clip.mp4))
        except VideoError as error:
            LOG.error("%s", error)
            yield Verdict(
                clip_id=clip.clip_id, decision="drop", features={}, reasons=[f"cannot be read: {error}"], protocol=protocol(checked)
            )
            continue
        yield verdict_of(clip, item.value, checked)


def verdict_of(clip: Clip, features: Mapping[str, float], settings: FilterSettings | Mapping[str, Any]) -> Verdict:
    """The verdict on a clip whose features are known."""
    checked = settings if isinstance(settings, FilterSettings) else FilterSettings.of(settings)
    keep, reasons = decide(features, checked)
    return Verdict(
        clip_id=clip.clip_id,
        decision="keep" if keep else "drop",
        features={**features, "keep_chance": keep_chance(features, checked)},
        reasons=reasons,
        protocol=protocol(checked),
    )


def decide(features: Mapping[str, float], settings: FilterSettings) -> tuple[bool, list[str]]:
    """Whether a clip is kept, and why (not), the weightiest reason first.

    Args:
        features: as `codecap.filtering.features.measure` gives them.
    """
    against = []
    if features["duration_s"] < settings.shortest_s:
        against.append(f"too short: {features['duration_s']:.2f} s, and {settings.shortest_s:g} s are asked for")
    if features["static_share"] >= settings.still_share:
        against.append(f"a still picture: {features['static_share']:.0%} of its half seconds show no change")
    chance = keep_chance(features, settings)
    if chance <= settings.keep_above:
        telling = _telling(features, settings, sign=-1)
        against.append(f"does not look like structured 2D content (chance {chance:.2f}): {', '.join(telling)}")
    if against:
        return False, against
    return True, [f"structured 2D content (chance {chance:.2f}): {', '.join(_telling(features, settings, sign=1))}"]


def keep_chance(features: Mapping[str, float], settings: FilterSettings) -> float:
    """The model's chance, in (0, 1), that a clip is structured 2D content: the logistic function of the log-odds."""
    odds = settings.intercept + sum(slope * features[name] for name, slope in settings.coefficients.items())
    return 1 / (1 + math.exp(-min(max(odds, -500.0), 500.0)))


def protocol(settings: FilterSettings) -> str:
    """The readable fingerprint of a verdict."""
    slopes = ", ".join(f"{name} {slope:g}" for name, slope in settings.coefficients.items())
    return f"logistic above {settings.keep_above:g} of {settings.intercept:g}, {slopes}"


def _telling(features: Mapping[str, float], settings: FilterSettings, sign: int) -> list[str]:
    """The features that speak most for (+1) or against (-1) keeping, by how far they are from a typical kept clip's."""
    weight = {name: sign * slope * (features[name] - settings.typical[name]) for name, slope in settings.coefficients.items()}
    ranked = sorted(weight, key=lambda name: -weight[name])
    return [
        f"{_in_words(name, features[name])} (typical {_in_words(name, settings.typical[name], short=True)})"
        for name in ranked[:SHOWN]
    ]


def _in_words(name: str, value: float, short: bool = False) -> str:
    share = f"{value**2 if name == 'root_unexplained' else value:.0%}".replace("%", " %")
    what = {
        "flat_share": "of it is flat",
        "changed_share": "of it changes in half a second",
        "changing_texture": "is texture that changes",
        "root_unexplained": "is changing texture that no shift explains",
    }[name]
    return share if short else f"{share} {what}"
