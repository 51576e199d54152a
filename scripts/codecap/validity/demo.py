"""The demo's clips, which the study is made on, whatever the run is about."""

from __future__ import annotations

from codecap import config as configuration
from codecap.clips_table import read_clips
from codecap.records import Annotation, Clip, read_record

DEMO = configuration.PROJECT / "resources" / "demo"
PAGES = DEMO / "pages"
TABLE = DEMO / "clips.tsv"


def clips() -> list[Clip]:
    """All of them; none where the project is there without its demo."""
    return read_clips(TABLE) if TABLE.is_file() else []


def clip(clip_id: str) -> Clip:
    return next(found for found in clips() if found.clip_id == clip_id)


def annotation(clip_id: str) -> Annotation:
    return read_record(DEMO / "annotations" / f"{clip_id}.json", Annotation)
