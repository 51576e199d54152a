"""What one clip's page shows: the videos and boxes for its player, and the tables below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codecap.clock import FPS
from codecap.compare.comparison import ClipEntry, Column, Comparison, ItemScore, System, TaskEntry
from codecap.records import Annotation, Box, FocalPoint, ObjectTracks

Runs = list[list[Any]]  # [count, [x0, y0, x1, y1] or null], one after another
SHOWN_AT_FIRST = 3  # renders; more videos at once are the reader's choice


@dataclass(frozen=True)
class Files:
    """Paths from a clip's page to what it shows of each system, by system, where there is such.

    Attributes:
        pages: what the system wrote, as text; codes: the script with the same and its highlighting.
        masks: the script with its masks.
        reference: whether the clip itself is there.
    """

    videos: dict[str, str] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    masks: dict[str, str] = field(default_factory=dict)
    reference: bool = True


def runs_of(boxes: Sequence[Box | None]) -> Runs:
    """Boxes of consecutive frames as runs of equal ones, to a tenth of a pixel: most objects rest most of the time.

    >>> runs_of([None, (0, 0, 4.04, 2), (0, 0, 4.01, 2)])
    [[1, None], [2, [0.0, 0.0, 4.0, 2.0]]]
    """
    runs: Runs = []
    before: Box | None = None
    for box in boxes:
        if runs and box == before:  # as it is: rounding is most of the work
            runs[-1][0] += 1
            continue
        before = box
        rounded = None if box is None else [round(float(side), 1) for side in box]
        if runs and runs[-1][1] == rounded:
            runs[-1][0] += 1
        else:
            runs.append([1, rounded])
    return runs


def lanes_of(points: Sequence[FocalPoint]) -> list[int]:
    """A lane for each focal point on the timeline, the first where it overlaps none before it.

    >>> spans = [(0, 2), (1, 3), (2, 4)]
    >>> lanes_of([FocalPoint(focal_id=str(a), kind="static", description="x", start_s=a, end_s=b) for a, b in spans])
    [0, 1, 0]
    """
    ends: list[float] = []
    lanes = [0] * len(points)
    for place in sorted(range(len(points)), key=lambda place: (points[place].start_s, place)):
        point = points[place]
        lane = next((lane for lane, end_s in enumerate(ends) if end_s <= point.start_s), len(ends))
        ends[lane : lane + 1] = [point.end_s]
        lanes[place] = lane
    return lanes


def player_data(
    clip: ClipEntry,
    annotation: Annotation | None,
    tracks: Mapping[str, ObjectTracks],
    files: Files,
) -> dict[str, Any]:
    """What the page's script needs.

    Args:
        tracks: by system.
    """
    objects = annotation.objects if annotation else []
    return {
        "fps": FPS,
        "frames": clip.frames,
        "width": clip.width_px,
        "height": clip.height_px,
        "objects": [item.name for item in objects],
        "reference": [runs_of(item.boxes_xyxy) for item in objects],
        "candidates": {
            system: {track.name: runs_of(track.boxes_xyxy) for track in tracks[system].tracks}
            for system in files.videos
            if system in tracks
        },
        "masks": {system: script for system, script in files.masks.items() if system in files.videos},
    }


def context(
    comparison: Comparison,
    clip: ClipEntry,
    annotation: Annotation | None,
    entries: Sequence[TaskEntry],
    tracks: Mapping[str, ObjectTracks],
    files: Files,
    neighbours: tuple[str | None, str | None],
) -> dict[str, Any]:
    """All that the template of a clip's page names.

    Args:
        entries: the clip's tasks, in the order of the systems.
        neighbours: ids of the clips before and after it.
    """
    systems = {system.name: system for system in comparison.systems}
    ranked = sorted(entries, key=lambda entry: _rank(systems[entry.system], entry, comparison.columns))
    playable = [entry.system for entry in ranked if entry.system in files.videos]
    by_object = [column for column in comparison.columns if column.items == "objects"]
    by_point = {column.metric: column for column in comparison.columns if column.items == "focal_points"}
    return {
        "comparison": comparison,
        "clip": clip,
        "duration_s": clip.frames / FPS,
        "annotation": annotation,
        "lanes": lanes_of(annotation.focal_points) if annotation else [],
        "entries": ranked,
        "systems": systems,
        "reference": files.reference,
        "sources": files.videos,
        "pages": files.pages,
        "codes": files.codes,
        "shown": set(playable[:SHOWN_AT_FIRST]),
        "player": player_data(clip, annotation, tracks, files),
        "track_status": _track_status(tracks),
        "object_columns": by_object,
        "point_columns": list(by_point.values()),
        "item_scores": {entry.system: _by_item(entry.items) for entry in ranked},
        "whole_notes": {entry.system: [item for item in entry.items if item.item is None] for entry in ranked},
        "before": neighbours[0],
        "after": neighbours[1],
    }


def _rank(system: System, entry: TaskEntry, columns: Sequence[Column]) -> tuple[int, float]:
    """Systems before floors and ceilings, and the better on this clip first (by the last main column that ranks)."""
    group = {"floor": 1, "ceiling": 2}.get(system.group, 0)
    ranking = [column for column in columns if column.table == "main" and column.higher_is_better]
    value = entry.values.get(ranking[-1].name) if ranking else None
    return group, -(value if value is not None else -1.0)


def _by_item(items: Sequence[ItemScore]) -> dict[str, dict[str, ItemScore]]:
    """Scores by metric, then by item."""
    found: dict[str, dict[str, ItemScore]] = {}
    for item in items:
        if item.item is not None:
            found.setdefault(item.metric, {})[item.item] = item
    return found


def _track_status(tracks: Mapping[str, ObjectTracks]) -> dict[str, dict[str, str]]:
    """What the segmenter says of each object, by system: found, absent or ambiguous, with its reason."""
    return {
        system: {track.name: f"{track.status}: {track.detail}" if track.detail else track.status for track in of.tracks}
        for system, of in tracks.items()
    }
