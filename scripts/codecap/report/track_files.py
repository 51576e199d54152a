"""Object tracks by clip, read from their shards when a page needs them: all of a run's boxes do not fit in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from codecap.records import ObjectTracks, RecordError, in_words


class _Head(BaseModel):
    """Of whom a row is; its boxes are passed over."""

    model_config = ConfigDict(extra="ignore")
    system: str
    clip_id: str


class TrackFiles:
    """Knows in which line of which shard the tracks of a clip are."""

    def __init__(self, shards: Iterable[Path]) -> None:
        """Read all shards once, keeping places only.

        Raises:
            RecordError: a line is not a row of tracks; the message names file and line.
        """
        self._places: dict[str, list[tuple[Path, int, int]]] = defaultdict(list)
        for shard in sorted(Path(shard) for shard in shards):
            with shard.open("rb") as lines:
                start = 0
                for number, line in enumerate(lines, start=1):
                    try:
                        head = _Head.model_validate_json(line)
                    except ValidationError as error:
                        raise RecordError(f"{shard}:{number}: not ObjectTracks: {in_words(error)}") from error
                    self._places[head.clip_id].append((shard, number, start))
                    start += len(line)

    def of_clip(self, clip_id: str) -> dict[str, ObjectTracks]:
        """Tracks in all candidates of a clip, by system."""
        found = {}
        for shard, number, start in self._places.get(clip_id, []):
            with shard.open("rb") as lines:
                lines.seek(start)
                try:
                    tracks = ObjectTracks.model_validate_json(lines.readline())
                except ValidationError as error:
                    raise RecordError(f"{shard}:{number}: not ObjectTracks: {in_words(error)}") from error
            found[tracks.system] = tracks
        return found
