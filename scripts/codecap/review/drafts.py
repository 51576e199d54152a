"""What there is to review: clips and the annotations that were drafted for them, read one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from codecap import config as configuration
from codecap import plan
from codecap.clips_table import read_clips
from codecap.errors import UserError
from codecap.records import Annotation, Box, Clip, RecordError, in_words, read_record
from codecap.review.state import FARTHEST

STAGE = plan.RESULTS / "3_annotate"


@dataclass(frozen=True)
class Drafted:
    """A clip, and where its draft is read.

    Attributes:
        draft: reads it; an empty annotation where there is none.
    """

    clip: Clip
    draft: Callable[[], Annotation]


@dataclass(frozen=True)
class Drafts:
    """Clips by id.

    Attributes:
        origin: where their drafts come from, in words.
        approved_first: an approved annotation is taken before a draft of the same clip; so one with reviews is approved.
    """

    clips: dict[str, Drafted]
    origin: str
    approved_first: bool


def find(config: Mapping[str, Any], folder: Path | None = None) -> Drafts:
    """The drafts of a folder, or of the run in the working folder.

    The run's are those of a data set that is being made (`snakemake dataset`), else what was proposed for the clips of the table,
    else the approved annotations themselves.

    An approved annotation goes before a draft of the run.

    Args:
        folder: holds `<clip_id>.json`, of clips of the table; these go before approved ones.

    Raises:
        UserError: there are no clips to review.
    """
    approved = configuration.find(config["annotations_folder"])
    table = STAGE / "clips.tsv"
    if folder is not None:
        if not folder.is_dir():
            raise UserError(
                f"{folder}: there is no such folder; name one that holds <clip_id>.json of the clips of {config['clips']}"
            )
        clips, read, origin = plan.all_clips(config), _of_folder(folder), str(folder)
    elif table.is_file():
        clips, read, origin = (
            read_clips(table, plan.clips_folder(config, table)),
            _of_folder(STAGE / "annotations"),
            str(STAGE / "annotations"),
        )
    else:
        clips, read, origin = _of_benchmark(config, approved)
    if not clips:
        raise UserError(
            f"{config['clips']}: no clips to review; run `snakemake dataset`, or name a clips table in the configuration"
        )
    readers = [_of_folder(approved), read] if folder is None else [read, _of_folder(approved)]
    return Drafts({clip.clip_id: Drafted(clip, _drafted(clip, readers)) for clip in clips}, origin, folder is None)


Read = Callable[[str], Annotation | None]


def _of_benchmark(config: Mapping[str, Any], approved: Path) -> tuple[list[Clip], Read, str]:
    clips = plan.all_clips(config)
    files = sorted((STAGE / "proposed").glob("*.jsonl"))
    if files:
        return clips, _of_rows(files), str(STAGE / "proposed")
    return clips, _of_folder(approved), str(approved)


def _drafted(clip: Clip, readers: Sequence[Read]) -> Callable[[], Annotation]:
    """Gives what the first reader that has the clip gives."""

    def draft() -> Annotation:
        found = next((one for read in readers if (one := read(clip.clip_id)) is not None), Annotation(clip_id=clip.clip_id))
        return fitted(found, clip)

    return draft


def _of_folder(folder: Path) -> Read:
    def read(clip_id: str) -> Annotation | None:
        try:
            return read_record(folder / f"{clip_id}.json", Annotation)
        except FileNotFoundError:
            return None

    return read


def _of_rows(files: list[Path]) -> Read:
    """Reads single rows; where each lies is found once."""
    places: dict[str, tuple[Path, int]] = {}
    for path in files:
        with path.open("rb") as rows:
            place = 0
            for number, row in enumerate(rows, start=1):
                places[_parsed(row, f"{path}:{number}").clip_id] = path, place
                place += len(row)

    def read(clip_id: str) -> Annotation | None:
        if clip_id not in places:
            return None
        path, place = places[clip_id]
        with path.open("rb") as rows:
            rows.seek(place)
            return _parsed(rows.readline(), str(path))

    return read


def _parsed(row: bytes, place: str) -> Annotation:
    try:
        return Annotation.model_validate_json(row)
    except ValidationError as error:
        raise RecordError(f"{place}: not a valid Annotation: {in_words(error)}") from error


def fitted(annotation: Annotation, clip: Clip) -> Annotation:
    """With as many boxes as the clip has frames: what is missing is None, what is beyond its end is left out.

    Raises:
        RecordError: a number in it is none, or lies beyond any picture and video.
    """
    for what, numbers in _numbers(annotation):
        for number in numbers:
            if not abs(number) <= FARTHEST:  # not so with a NaN
                raise RecordError(f"the draft of {clip.clip_id}: {what}: {number:g} is no place and no time; draft it anew")

    def fit(boxes: list[Box | None] | None) -> list[Box | None] | None:
        return None if boxes is None else [*boxes[: clip.frames], *[None] * (clip.frames - len(boxes))]

    objects = [
        item.model_copy(update={"boxes_xyxy": fit(item.boxes_xyxy), "amodal_xyxy": fit(item.amodal_xyxy)})
        for item in annotation.objects
    ]
    return annotation.model_copy(update={"objects": objects, "clip_id": clip.clip_id})


def _numbers(annotation: Annotation) -> Iterator[tuple[str, Iterable[float]]]:
    """All times and places, by what has them."""
    for item in annotation.objects:
        boxes = (box for box in (*item.boxes_xyxy, *(item.amodal_xyxy or [])) if box is not None)
        yield f"object {item.name!r}", chain(*item.visible_s, chain.from_iterable(boxes))
    for point in annotation.focal_points:
        yield f"focal point {point.focal_id!r}", (point.start_s, point.end_s)
