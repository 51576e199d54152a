"""Where the objects of rendered pages are: the boxes that a page itself gives, kept beside its video."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from codecap.collect.fetching import ORIGINALS
from codecap.records import AnnotatedObject, Annotation, Box, Clip, Row, read_record, write_record
from codecap.video import file_sha256

SUFFIX = ".boxes.json"
PROPOSER = "page"


class KnownBoxes(Row):
    """Of one rendered page.

    Attributes:
        sha256: of its video; with another one, these are not its boxes.
        objects: by name; visible and whole, one box or None a frame.
    """

    sha256: str
    visible_xyxy: dict[str, list[Box | None]]
    amodal_xyxy: dict[str, list[Box | None]]


def keep(mp4: Path, boxes: Mapping[str, Mapping[str, Sequence[Box | None]]]) -> None:
    """Write what `codecap.demo.render_page` gives for a video."""
    kinds = {kind: {name: list(both[kind]) for name, both in boxes.items()} for kind in ("visible_xyxy", "amodal_xyxy")}
    write_record(mp4.with_suffix(SUFFIX), KnownBoxes(sha256=file_sha256(mp4), **kinds))


def annotation_of(clip: Clip, bulk: Path) -> Annotation | None:
    """The draft of a clip that is a whole rendered page, with true boxes; None for any other clip.

    Args:
        bulk: the config's `store.bulk`.
    """
    from codecap.demo import visible_intervals

    digest = clip.source.rpartition("sha256:")[2]
    for path in sorted((Path(bulk) / ORIGINALS).glob(f"*/{clip.clip_id}{SUFFIX}")):
        known = read_record(path, KnownBoxes)
        lengths = {len(boxes) for boxes in known.visible_xyxy.values()}
        if known.sha256 != digest or lengths - {clip.frames}:
            continue
        seen = {name: boxes for name, boxes in known.visible_xyxy.items() if any(boxes)}
        return Annotation(
            clip_id=clip.clip_id,
            objects=[
                AnnotatedObject(
                    name=name, visible_s=visible_intervals(boxes), boxes_xyxy=boxes, amodal_xyxy=known.amodal_xyxy[name]
                )
                for name, boxes in seen.items()
            ],
            proposer=PROPOSER,
        )
    return None
