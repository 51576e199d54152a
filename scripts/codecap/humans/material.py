"""What a finished run offers to people: focal points of clips, and the renders that show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from codecap import plan
from codecap.errors import UserError
from codecap.records import Annotation, Clip, FocalPoint, Outcome, Render, Row, read_rows

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Material:
    """A run's results.

    Attributes:
        systems: entries of the config that take part, by name.
        clips: of the clips table, by id.
        points: focal points of each clip that has some, by focal id.
        renders: by system and clip.
    """

    systems: dict[str, dict[str, Any]]
    clips: dict[str, Clip]
    points: dict[str, dict[str, FocalPoint]]
    renders: dict[tuple[str, str], Render]

    def shows(self, system: str, clip_id: str) -> bool:
        """Whether there is a video to look at. One of a page that was salvaged after the deadline counts as failed."""
        render = self.renders.get((system, clip_id))
        return render is not None and render.outcome is Outcome.OK and not render.salvaged and render.mp4 is not None


def read_material(config: Mapping[str, Any]) -> Material:
    """Read the rows of a run in the working folder.

    Raises:
        UserError: the configuration is wrong, or there are no renders or no focal points yet.
    """
    made = plan.make(config)
    annotated = plan.RESULTS / "3_annotate" / config["annotations"]
    annotations = list(_rows([annotated / f"{bucket}.jsonl" for bucket in made.buckets], Annotation))
    rendered = [plan.RESULTS / "5_render" / system / f"{bucket}.jsonl" for system in made.systems for bucket in made.buckets]
    renders = {(render.system, render.clip_id): render for render in _rows(rendered, Render)}
    clips = {clip.clip_id: clip for held in made.buckets.values() for clip in held}
    points = {
        row.clip_id: {point.focal_id: point for point in row.focal_points}
        for row in annotations
        if row.focal_points and row.clip_id in clips
    }
    for what, found in (("renders", renders), ("focal points", points)):
        if not found:
            raise UserError(
                f"{plan.RESULTS.absolute()}: no {what} of this configuration; run the benchmark in this folder first "
                "(`snakemake`), or go to the folder where it ran, and name its configuration with --config"
            )
    return Material(made.systems, clips, points, renders)


def _rows(paths: list[Path], kind: type[R]) -> Iterator[R]:
    return (row for path in paths if path.is_file() for row in read_rows(path, kind))
