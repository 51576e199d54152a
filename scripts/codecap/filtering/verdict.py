"""Keep or drop: which clips are structured 2D content, with the reasons in words.

Two plain rules come first: a clip is long enough, and something changes in it. Then the scorecard sums up what speaks for and
against it in three axes: scene geometry, appearance, motion structure. A model's vote may be the fourth, see `vote`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codecap.config import ConfigError
from codecap.filtering.axes import INPUTS
from codecap.filtering.features import measure
from codecap.filtering.scorecard import Scorecard, chance_of
from codecap.filtering.shipped import SHIPPED
from codecap.filtering.vote import Vote, VoteSettings, vote_on
from codecap.records import Clip, Verdict, in_words
from codecap.score import Unreached, Unscored
from codecap.store import ItemStore
from codecap.video import VideoError

LOG = logging.getLogger("codecap")

SHOWN = 3  # features that an axis' reason names


class FilterSettings(BaseModel):
    """The configuration's section `filter`.

    Attributes:
        shortest_s: a shorter clip is dropped.
        still_share: a clip is dropped when it stands still in at least this share of its half seconds.
        keep_above: a clip is kept when its chance of structured 2D content is above this.
        scorecard: how the chance is computed; see `codecap filter train`.
        vote: a model is asked about clips in doubt; None: none is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    shortest_s: float = Field(default=1.0, ge=0)
    still_share: float = Field(default=0.9, gt=0, le=1)
    keep_above: float = Field(default=0.38, gt=0, lt=1)  # under a half: people look at what is kept, and at nothing else
    scorecard: Scorecard = SHIPPED
    vote: VoteSettings | None = None

    @staticmethod
    def of(told: Mapping[str, Any]) -> FilterSettings:
        """From the configuration.

        Raises:
            ConfigError: a key is unknown or a value is wrong; the message says which.
        """
        try:
            return FilterSettings.model_validate(dict(told))
        except ValidationError as error:
            raise ConfigError(f"filter: {in_words(error)}") from error

    @property
    def protocol(self) -> str:
        """The readable fingerprint of a verdict."""
        voted = f"; {self.vote.protocol}" if self.vote else ""
        return f"{self.scorecard.protocol}, kept above {self.keep_above:g}{voted}"


def keep_chance(features: Mapping[str, float], settings: FilterSettings) -> float:
    """The scorecard's chance, in (0, 1), that a clip is structured 2D content."""
    return chance_of(settings.scorecard.log_odds(features))


def filter_clip(clip: Clip, settings: FilterSettings | Mapping[str, Any]) -> Verdict:
    """Measure a canonical clip and decide. Where the settings have a vote, a session of the exchange is open.

    Raises:
        VideoError: the clip cannot be read.
        ConfigError: the settings are wrong.
        codecap.score.Unreached: a vote could not be had this time.
    """
    checked = settings if isinstance(settings, FilterSettings) else FilterSettings.of(settings)
    features = measure(clip.mp4)
    return verdict_of(clip, features, checked, _vote(clip, checked) if asks_about(features, checked) else None)


def filter_shard(clips: Sequence[Clip], settings: Mapping[str, Any], code: str, durable: Path) -> Iterator[Verdict]:
    """One verdict a clip, in order. Features are kept in the store: another threshold measures nothing again.

    A clip that cannot be read is dropped with that reason; one whose vote cannot be had this time is marked to be tried again.
    """
    checked = FilterSettings.of(settings)
    store = ItemStore(durable, stage="filter_clips", salt=[code])
    if checked.vote is None:
        yield from (_decided(clip, _measured(clip, store), checked, None) for clip in clips)
        return
    from codecap.exchange import at_once

    measured = [_measured(clip, store) for clip in clips]
    with ThreadPoolExecutor(max_workers=at_once(checked.vote.endpoint)) as pool:
        votes = [
            pool.submit(_vote_or_failure, clip, checked)
            if not isinstance(features, VideoError) and asks_about(features, checked)
            else None
            for clip, features in zip(clips, measured, strict=True)
        ]
        for clip, features, vote in zip(clips, measured, votes, strict=True):
            yield _decided(clip, features, checked, vote.result() if vote else None)


def asks_about(features: Mapping[str, float], settings: FilterSettings) -> bool:
    """Whether a model is asked about a clip: one is set, the rules let the clip pass, and the axes leave it in doubt."""
    if settings.vote is None or _broken_rules(features, settings):
        return False
    return settings.vote.above < keep_chance(features, settings) < settings.vote.below


def verdict_of(
    clip: Clip, features: Mapping[str, float], settings: FilterSettings | Mapping[str, Any], vote: Vote | Unscored | None = None
) -> Verdict:
    """The verdict on a clip whose features, as `codecap.filtering.features.measure` gives them, are known.

    Args:
        vote: the model's, or why there is no readable one.
    """
    checked = settings if isinstance(settings, FilterSettings) else FilterSettings.of(settings)
    odds = checked.scorecard.log_odds(features)
    if isinstance(vote, Vote):
        odds += checked.vote.weight * vote.side
    chance = chance_of(odds)
    against = _broken_rules(features, checked)
    keep = not against and chance > checked.keep_above
    reasons = [*against, _summary(chance, checked), *_axes_in_words(features, checked, weightiest_first=1 if keep else -1)]
    if vote is not None:
        reasons.append(_vote_in_words(vote, checked))
    return Verdict(
        clip_id=clip.clip_id,
        decision="keep" if keep else "drop",
        features={**features, "keep_chance": chance},
        reasons=reasons,
        protocol=checked.protocol,
    )


def _measured(clip: Clip, store: ItemStore) -> dict[str, float] | VideoError:
    try:
        return store.get_or_make("features", clip.clip_id, store.key(clip.sha256), lambda _draft: measure(clip.mp4)).value
    except VideoError as error:
        return error


def _vote(clip: Clip, settings: FilterSettings) -> Vote | Unscored:
    try:
        return vote_on(clip, settings.vote)
    except Unreached:
        raise
    except Unscored as why:
        return why


def _vote_or_failure(clip: Clip, settings: FilterSettings) -> Vote | Unscored | VideoError:
    try:
        return _vote(clip, settings)
    except (Unreached, VideoError) as why:
        return why


def _decided(
    clip: Clip,
    features: dict[str, float] | VideoError,
    settings: FilterSettings,
    vote: Vote | Unscored | VideoError | None,
) -> Verdict:
    failure = next((told for told in (features, vote) if isinstance(told, (VideoError, Unreached))), None)
    if failure is None:
        return verdict_of(clip, features, settings, vote)
    LOG.error("%s: %s", clip.clip_id, failure)
    again = isinstance(failure, Unreached)
    return Verdict(
        clip_id=clip.clip_id,
        decision="drop",
        features={} if isinstance(features, VideoError) else features,
        reasons=[f"no vote this time: {failure}" if again else f"cannot be read: {failure}"],
        protocol=settings.protocol,
        retry=again,
    )


def _broken_rules(features: Mapping[str, float], settings: FilterSettings) -> list[str]:
    broken = []
    if features["duration_s"] < settings.shortest_s:
        broken.append(f"too short: {features['duration_s']:.2f} s, and {settings.shortest_s:g} s are asked for")
    if features["static_share"] >= settings.still_share:
        broken.append(f"a still picture: nothing moves in {100 * features['static_share']:.0f} % of its half seconds")
    return broken


def _summary(chance: float, settings: FilterSettings) -> str:
    looks = "looks like" if chance > settings.keep_above else "does not look like"
    return f"{looks} structured 2D content: chance {chance:.2f}, kept above {settings.keep_above:g}"


def _axes_in_words(features: Mapping[str, float], settings: FilterSettings, weightiest_first: int) -> list[str]:
    """A reason for each axis, those that speak most for the decision first, each with the features that count most in it."""
    card = settings.scorecard
    parts, axes = card.parts(features), card.axes(features)
    reasons = []
    for axis in sorted(axes, key=lambda name: -weightiest_first * axes[name]):
        names = [name for name, feature in INPUTS.items() if feature.axis == axis and card.coefficients[name]]
        names.sort(key=lambda name: -abs(parts[name]))
        speaks = "speaks for it" if axes[axis] > 0 else "speaks against it"
        told = [f"{INPUTS[name].said(features[name])} ({_usual(name, card)})" for name in names[:SHOWN]]
        reasons.append(f"{axis} {speaks} ({axes[axis]:+.1f}): {', '.join(told)}" if told else f"{axis} weighs nothing")
    return reasons


def _usual(name: str, card: Scorecard) -> str:
    feature = INPUTS[name]
    return f"kept clips {feature.number(card.kept[name])}, dropped ones {feature.number(card.dropped[name])}"


def _vote_in_words(vote: Vote | Unscored, settings: FilterSettings) -> str:
    who = f"the vote of {settings.vote.endpoint.model}"
    if not isinstance(vote, Vote):
        return f"{who} could not be read, and does not count: {vote}"
    said = {1: "speaks for it", -1: "speaks against it", 0: "is unsure"}[vote.side]
    return f"{who} {said} ({settings.vote.weight * vote.side:+.1f}): {vote.in_words}"
