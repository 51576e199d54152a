"""COCO for videos: one JSON file with `videos`, `annotations` and `categories`, in the layout of YouTube-VIS.

Counts: frames from 0, one entry a frame in each list; boxes as left, top, width and height in pixels from 0 at the picture's top
left corner; null where the object is not visible. Each object is a category of its own. What the layout has no place for
(descriptions, focal points, seconds) stands in keys of our own, which other readers pass over; there are no masks, so
`segmentations` are null.

Also read: the layout with `images`, and one annotation a box (CocoVID; TAO where every frame has an image), whose frames are
`frame_id` or `frame_index` and whose tracks are `instance_id` or `track_id`.

Source: cocodataset.org, data format; youtube-vos.org, video instance segmentation; mmtracking, "customize datasets".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from codecap.clock import FPS
from codecap.formats import UNTOLD, FormatError, Part, Told
from codecap.formats.conversion.files import (
    as_json,
    box_of_corner_and_size,
    check_count,
    identity,
    intervals,
    keeping_last,
    listed,
    mapped,
    number,
    read_json,
    text,
    whole,
)
from codecap.formats.conversion.objects import annotation_of, distinct, object_of
from codecap.formats.conversion.timing import Footage, frames_shown
from codecap.records import AnnotatedObject, Annotation, Box, Clip, FocalPoint, in_words, write_whole

SUFFIX = ".json"
HOLDS: frozenset[Part] = frozenset({"boxes", "names", "descriptions", "visible_s", "amodal", "focal_points"})


def write(annotation: Annotation, clip: Clip, path: Path) -> None:
    video = {
        "id": 1,
        "name": clip.clip_id,
        "width": clip.width_px,
        "height": clip.height_px,
        "length": clip.frames,
        "fps": FPS,
        "file_names": [f"{clip.clip_id}/{frame:05d}.jpg" for frame in range(clip.frames)],
        "focal_points": [point.model_dump(mode="json") for point in annotation.focal_points],
    }
    told = {
        "info": {"description": f"Objects and focal points of clip {clip.clip_id}"},
        "videos": [video],
        "categories": [
            {"id": place, "name": item.name, "supercategory": "object"} for place, item in enumerate(annotation.objects, start=1)
        ],
        "annotations": [_row(place, item) for place, item in enumerate(annotation.objects, start=1)],
    }
    write_whole(path, [as_json(told)])


def _row(place: int, item: AnnotatedObject) -> dict[str, Any]:
    """An object, as an annotation of the format; its id is that of its category."""
    boxes = [_corner_and_size(box) for box in item.boxes_xyxy]
    row = {
        "id": place,
        "video_id": 1,
        "category_id": place,
        "iscrowd": 0,
        "bboxes": boxes,
        "areas": [None if box is None else box[2] * box[3] for box in boxes],
        "segmentations": [None] * len(boxes),
        "description": item.description,
        "visible_s": item.visible_s,
    }
    if item.amodal_xyxy is not None:
        row["amodal_bboxes"] = [_corner_and_size(box) for box in item.amodal_xyxy]
    return row


def names(path: Path) -> list[str]:
    data = _data(path)
    return [data.name_of(video) for video in data.videos]


def read(path: Path, clip: Clip, told: Told = UNTOLD) -> Annotation:
    data = _data(path)
    video = data.video_of(clip)
    tracks, length = data.tracks_by_image(video) if data.by_image else data.tracks_by_list(video)
    width_px, height_px = (whole(video[side], f"{path}: {side}") if video.get(side) else None for side in ("width", "height"))
    fps = number(video["fps"], f"{path}: fps") if video.get("fps") else None
    frames = frames_shown(path, Footage(length, width_px, height_px, fps), clip, told)
    labels = distinct([track.label for track in tracks], path)
    objects = []
    for name, track in zip(labels, tracks, strict=True):
        item = object_of(
            name,
            track.description,
            [track.boxes.get(frame) for frame in frames],
            clip,
            path,
            intervals(track.visible_s, f"{track.where}: visible_s"),
        )
        amodal = None if track.amodal is None else [track.amodal.get(frame) for frame in frames]
        objects.append(item.model_copy(update={"amodal_xyxy": amodal}))
    return annotation_of(clip, objects, path, _focal_points(video, path))


@dataclass
class _Track:
    where: str
    label: str
    description: str = ""
    visible_s: Any = ()
    boxes: dict[int, Box] = field(default_factory=dict)
    amodal: dict[int, Box] | None = None


Rows = Mapping[int | str | None, Sequence[dict[str, Any]]]


@dataclass(frozen=True)
class _Data:
    """The lists of a file.

    Attributes:
        by_image: there is an image a frame, and an annotation a box.
        images, annotations: by the id of their video.
    """

    path: Path
    by_image: bool
    videos: list[dict[str, Any]]
    images: Rows
    annotations: Rows
    categories: dict[int | str, str]

    def name_of(self, video: Mapping[str, Any]) -> str:
        where = f"{self.path}: video {video['id']}"
        files = listed(video.get("file_names") or [], where)
        folder = Path(text(files[0], where)).parent.name if files else ""
        return Path(text(video.get("name") or video.get("file_name") or folder, where)).stem

    def video_of(self, clip: Clip) -> dict[str, Any]:
        ours = [video for video in self.videos if self.name_of(video) == clip.clip_id]
        if not ours and len(self.videos) == 1:
            ours = self.videos
        if len(ours) != 1:
            raise FormatError(
                f"{self.path}: {len(ours) or 'none'} of its {len(self.videos)} videos are clip {clip.clip_id}; there must be one"
            )
        return ours[0]

    def tracks_by_list(self, video: Mapping[str, Any]) -> tuple[list[_Track], int | None]:
        """Tracks of the layout of YouTube-VIS, and how many frames there are."""
        ours = self.annotations.get(video["id"], ())
        check_count(ours, "objects", str(self.path))
        tracks, lengths = [], set()
        for each in ours:
            track = self._track(each, f"annotation {each['id']}")
            if "bboxes" not in each:
                raise FormatError(f"{track.where}: has no `bboxes`; masks alone are not read")
            track.boxes = _by_frame(each["bboxes"], track.where)
            track.amodal = _by_frame(each["amodal_bboxes"], track.where) if "amodal_bboxes" in each else None
            lengths |= {len(each[name]) for name in ("bboxes", "amodal_bboxes") if name in each}
            tracks.append(track)
        stated = video.get("length") or len(video.get("file_names") or []) or None
        lengths |= set() if stated is None else {whole(stated, f"{self.path}: length")}
        if len(lengths) > 1:
            raise FormatError(f"{self.path}: video {video['id']}: its lists have different lengths: {sorted(lengths)}")
        return tracks, next(iter(lengths), None)

    def tracks_by_image(self, video: Mapping[str, Any]) -> tuple[list[_Track], int | None]:
        """Tracks of the layout with an image a frame, counted from 0 or from 1, and how many frames there are."""
        frames: dict[int | str, int] = {}
        for image in self.images.get(video["id"], ()):
            frames[image["id"]] = whole(image.get("frame_id", image.get("frame_index")), f"{self.path}: image {image['id']}")
        first = min(frames.values(), default=0)
        if first not in (0, 1) or sorted(frames.values()) != list(range(first, first + len(frames))):
            raise FormatError(
                f"{self.path}: video {video['id']}: its {len(frames)} images are not all frames from 0 or 1 on; "
                "where only some frames are annotated, it is not known where an object is on the others"
            )
        tracks: dict[int | str, _Track] = {}
        for each in self.annotations.get(video["id"], ()):
            track_id = identity(each.get("instance_id", each.get("track_id")), f"{self.path}: annotation {each['id']}: instance_id")
            track = tracks.setdefault(track_id, self._track(each, f"track {track_id}"))
            frame = frames[each["image_id"]] - first
            if frame in track.boxes:
                raise FormatError(f"{track.where}: has two boxes on frame {frame} (counted from 0)")
            track.boxes[frame] = box_of_corner_and_size(each.get("bbox"), f"{track.where}, frame {frame}")
        return list(tracks.values()), len(frames)

    def _track(self, each: Mapping[str, Any], what: str) -> _Track:
        where = f"{self.path}: {what}"
        category = self.categories.get(identity(each.get("category_id"), f"{where}: category_id"))
        if category is None:
            raise FormatError(f"{where}: its category {each['category_id']} is not among the categories")
        return _Track(where, category, text(each.get("description") or "", where), each.get("visible_s") or [])


@keeping_last
def _data(path: Path) -> _Data:
    told = mapped(read_json(path), str(path))
    videos, images, annotations, categories = (
        _rows(told, name, path) for name in ("videos", "images", "annotations", "categories")
    )
    if not videos:
        raise FormatError(f"{path}: has no `videos`; it must be COCO for videos, such as YouTube-VIS, not for single images")
    if len({video["id"] for video in videos}) < len(videos):
        raise FormatError(f"{path}: two of its videos have one id, so that it is not known whose the annotations are")
    video_of_image = {row["id"]: _reference(row, "video_id", path) for row in images if row.get("video_id") is not None}

    def owner(row: Mapping[str, Any]) -> int | str | None:
        return video_of_image.get(_reference(row, "image_id", path)) if images else _reference(row, "video_id", path)

    return _Data(
        path,
        by_image=bool(images),
        videos=videos,
        images=_grouped((video_of_image.get(row["id"]), row) for row in images),
        annotations=_grouped((owner(row), row) for row in annotations),
        categories={row["id"]: text(row.get("name", ""), f"{path}: category {row['id']}") for row in categories},
    )


def _rows(told: Mapping[str, Any], name: str, path: Path) -> list[dict[str, Any]]:
    rows = [mapped(each, f"{path}: {name}") for each in listed(told.get(name) or [], f"{path}: {name}")]
    for row in rows:
        identity(row.get("id"), f"{path}: {name}: id")
    return rows


def _reference(row: Mapping[str, Any], name: str, path: Path) -> int | str:
    return identity(row.get(name), f"{path}: {name} of {row['id']}")


def _grouped(rows: Iterable[tuple[int | str | None, dict[str, Any]]]) -> Rows:
    groups = defaultdict(list)
    for video_id, row in rows:
        groups[video_id].append(row)
    return dict(groups)


def _by_frame(boxes: Any, where: str) -> dict[int, Box]:
    return {
        frame: box_of_corner_and_size(box, f"{where}, frame {frame}")
        for frame, box in enumerate(listed(boxes, where))
        if box is not None
    }


def _corner_and_size(box: Box | None) -> list[float] | None:
    return None if box is None else [box[0], box[1], box[2] - box[0], box[3] - box[1]]


def _focal_points(video: Mapping[str, Any], path: Path) -> list[FocalPoint]:
    try:
        points = [FocalPoint.model_validate(told) for told in listed(video.get("focal_points") or [], f"{path}: focal_points")]
    except ValidationError as error:
        raise FormatError(f"{path}: focal_points: {in_words(error)}") from error
    for point in points:
        for time_s in (point.start_s, point.end_s):
            number(time_s, f"{path}: focal point {point.focal_id}")
    return points
