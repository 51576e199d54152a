"""What numbers are made of, noted beside them when they are published, so that a later look can tell what has changed.

Renders and pages need no note: the store names its files by what is in them (see `codecap.store.layout`), and a render's
certificate has the digest of its video. Noted are the digests of the references, of what annotations say, of the objects' tracks;
and how each metric makes its numbers: its settings, its weights, and each module, prompt and library of its code digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from codecap.annotate.approved import content_digest
from codecap.fingerprint import code_parts
from codecap.records import Annotation, Clip, RecordError, Row, in_words
from codecap.score.engine import choice
from codecap.shots import ShotSettings

SHOTS, MATCHING = "shots", "shot matching"  # beside the metrics: what cuts references, and what aligns videos of another length
NONE = "none"  # in the place of a digest


class Making(Row):
    """How numbers are made.

    Attributes:
        name: of the metric's entry, or SHOTS, or MATCHING.
        parts: modules, scripts and prompts by their place, with digests; libraries by name, with versions.
        weights: what is known of the weights that its backends load.
    """

    name: str
    settings: dict[str, Any]
    parts: dict[str, str]
    weights: list[str]


class SealedClip(Row):
    clip_id: str
    sha256: str  # of the canonical video
    annotation: str  # digest of what it says, NONE without one


class Artefacts(Row):
    """What a comparison's numbers are made of."""

    makings: list[Making]
    clips: list[SealedClip]
    tracks: dict[str, dict[str, str]]  # by system, then clip: digest of the row


class _Head(BaseModel):
    """Of whom a row of tracks is; its boxes are passed over."""

    model_config = ConfigDict(extra="ignore")
    system: str
    clip_id: str


def seal(
    config: Mapping[str, Any], clips: Iterable[Clip], annotations: Iterable[Annotation], tracks: Iterable[str | Path]
) -> Artefacts:
    """Note what a comparison's numbers are made of.

    Args:
        config: of the run, checked.
        tracks: shards (JSON Lines) of the objects' tracks; read line by line.

    Raises:
        RecordError: a line of these is no row of tracks.
    """
    told = {row.clip_id: content_digest(row) for row in annotations}
    digests: dict[str, dict[str, str]] = {}
    for shard in sorted(map(Path, tracks)):
        for head, digest in track_digests(shard):
            digests.setdefault(head.system, {})[head.clip_id] = digest
    return Artefacts(
        makings=makings(config),
        clips=[SealedClip(clip_id=clip.clip_id, sha256=clip.sha256, annotation=told.get(clip.clip_id, NONE)) for clip in clips],
        tracks=digests,
    )


def makings(config: Mapping[str, Any]) -> list[Making]:
    """How each configured metric makes its numbers with the code that is here, and what cuts and aligns shots for it."""
    found = []
    for name in config["metrics"]:
        chosen = choice.metric(config, name)
        parts = code_parts(*choice.modules_of(chosen.plugin, chosen.settings))
        found.append(Making(name=name, settings=chosen.settings, parts=parts, weights=chosen.weights))
    shots = choice.shots(config)
    detector = ShotSettings.of(shots.settings).detector
    parts = code_parts("codecap.shots", f"codecap.shots.{detector}")
    found.append(Making(name=SHOTS, settings=shots.settings, parts=parts, weights=shots.weights))
    matching = choice.matching(config, config["metrics"])
    if matching is not None:
        parts = code_parts("codecap.score.engine.shot_matching", f"codecap.score.encoders.{matching.settings['encoder']}")
        found.append(Making(name=MATCHING, settings=matching.settings, parts=parts, weights=matching.weights))
    return found


def track_digests(shard: Path) -> Iterator[tuple[_Head, str]]:
    """Of whom each row of a shard of tracks is, and a digest of its line.

    Raises:
        RecordError: a line is no row of tracks; the message names file and line.
    """
    with shard.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                head = _Head.model_validate_json(line)
            except ValidationError as error:
                raise RecordError(f"{shard}:{number}: not ObjectTracks: {in_words(error)}") from error
            yield head, hashlib.sha256(line.strip()).hexdigest()
