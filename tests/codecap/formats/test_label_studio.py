"""Label Studio, against files that are made by hand after its documentation and its editor's example."""

import json

import pytest

from codecap.formats import FormatError, Told, label_studio
from codecap.records import AnnotatedObject, Annotation

EDITORS_EXAMPLE = {
    "value": {
        "framesCount": 131,
        "duration": 5.425,
        "sequence": [
            {"frame": 1, "enabled": True, "rotation": 0, "x": 20.5, "y": 15.6, "width": 58.9, "height": 68.6, "time": 1 / 24},
            {"frame": 3, "enabled": False, "rotation": 0, "x": 22.5, "y": 15.6, "width": 58.9, "height": 68.6, "time": 0.125},
        ],
        "labels": ["Label 1"],
    },
    "id": "RRxnu061g3",
    "from_name": "box",
    "to_name": "video",
    "type": "videorectangle",
    "origin": "manual",
}
MOVING = {
    "value": {"ranges": [{"start": 3, "end": 5}], "timelinelabels": ["Dynamic"]},
    "id": "a1",
    "from_name": "t",
    "type": "timelinelabels",
}
SAID = {"id": "a1", "from_name": "description", "type": "textarea", "value": {"text": ["It moves"]}}


def task(*results, video="/data/upload/1/0a1b2c3d-A_001.mp4", **more):
    return {
        "id": 1,
        "data": {"video": video},
        "annotations": [{"id": 1001, "result": list(results), "was_cancelled": False, **more}],
    }


def sequence(*keys, frames=48, duration=2.0):
    named = [dict(zip(("frame", "enabled", "x", "y", "width", "height"), key, strict=True), rotation=0) for key in keys]
    return {
        "id": "r",
        "type": "videorectangle",
        "value": {"framesCount": frames, "duration": duration, "sequence": named, "labels": ["a"]},
    }


def file(folder, *tasks):
    path = folder / "export.json"
    path.write_text(json.dumps(tasks))
    return path


def test_frames_are_from_1_sides_in_percent_and_the_disabled_key_is_the_last_that_is_shown(tmp_path, make_clip):
    path = file(tmp_path, task(EDITORS_EXAMPLE))
    clip = make_clip(frames=131, width_px=1000, height_px=500)
    (item,) = label_studio.read(path, clip).objects
    assert item.name == "Label 1"
    assert item.boxes_xyxy[0] == pytest.approx((205, 78, 794, 421))
    assert item.boxes_xyxy[1] == pytest.approx((215, 78, 804, 421))
    assert item.boxes_xyxy[2] == pytest.approx((225, 78, 814, 421))
    assert item.boxes_xyxy[3:] == [None] * 128
    assert item.visible_s == [(0.0, 0.125)]


def test_a_region_goes_on_after_its_last_key_and_comes_back_where_it_is_enabled(tmp_path, clip):
    keys = [
        (3, True, 0, 0, 10, 10),
        (5, False, 0, 0, 10, 10),
        (6, True, 50, 0, 10, 10),
        (8, False, 50, 0, 10, 10),
        (40, True, 0, 0, 5, 5),
    ]
    boxes = label_studio.read(file(tmp_path, task(sequence(*keys))), clip).objects[0].boxes_xyxy
    shown = [frame for frame, box in enumerate(boxes) if box is not None]
    assert shown == [2, 3, 4, 5, 6, 7, *range(39, 48)]
    assert boxes[4][0] == 0 and boxes[5][0] == 320


def test_ranges_are_frames_from_1_with_the_last_one_included(tmp_path, clip):
    (point,) = label_studio.read(file(tmp_path, task(sequence((1, True, 0, 0, 9, 9)), MOVING, SAID)), clip).focal_points
    assert (point.kind, point.description, point.focal_id) == ("dynamic", "It moves", "a1")
    assert (point.start_s, point.end_s) == (2 / 24, 5 / 24)


def test_a_player_that_tells_the_video_a_little_too_long_is_understood(tmp_path, clip):
    path = file(tmp_path, task(sequence((1, True, 0, 0, 9, 9), frames=49, duration=2.0001)))
    assert len(label_studio.read(path, clip).objects[0].boxes_xyxy) == 48


def test_another_rate_is_told_by_frames_and_duration(tmp_path, clip):
    path = file(tmp_path, task(sequence((1, True, 0, 0, 10, 10), (60, True, 59, 0, 10, 10), frames=60, duration=2.0), MOVING, SAID))
    found = label_studio.read(path, clip)
    assert [round(box[0] / 6.4) for box in found.objects[0].boxes_xyxy[:5]] == [0, 1, 2, 3, 5]
    assert (found.focal_points[0].start_s, found.focal_points[0].end_s) == pytest.approx((2 / 30, 5 / 30))
    with pytest.raises(FormatError, match="another video"):
        label_studio.read(path, clip, Told(fps=24))


def textarea(region, name, *lines):
    """As the editor exports it: with what the region has, beside the text."""
    value = {"framesCount": 300, "duration": 10.01, "sequence": [], "text": list(lines)}
    return {"id": region, "from_name": name, "to_name": "video", "type": "textarea", "origin": "manual", "value": value}


def test_a_whole_export_of_a_project(tmp_path, clip, caplog):
    """Tasks that are done, skipped and not begun; relations, choices, predictions, several labels; a clip of 300 frames at 30 a
    second whose length the player tells a hundredth of a second too long, so that there is a frame 301."""
    box = {
        "id": "a1", "from_name": "box", "to_name": "video", "type": "videorectangle", "origin": "manual",
        "meta": {"text": ["note"]},
        "value": {
            "framesCount": 301, "duration": 10.01, "labels": ["Auto", "rot"],
            "sequence": [
                {"frame": 1, "enabled": True, "rotation": 0, "x": 0, "y": 50, "width": 25, "height": 50, "time": 1 / 30},
                {"frame": 301, "enabled": True, "rotation": 0, "x": 75, "y": 0, "width": 25, "height": 50, "time": 301 / 30},
            ],
        },
    }  # fmt: skip
    point = {"id": "t1", "from_name": "focal", "to_name": "video", "type": "timelinelabels", "origin": "manual",
             "value": {"ranges": [{"start": 31, "end": 60}], "timelinelabels": ["static"]}}  # fmt: skip
    relation = {"from_id": "a1", "to_id": "t1", "type": "relation", "direction": "right", "labels": ["is in"]}
    choice = {"id": "c1", "from_name": "quality", "to_name": "video", "type": "choices", "origin": "manual",
              "value": {"choices": ["good"]}}  # fmt: skip
    results = [box, point, textarea("a1", "name", "café ☕"), textarea("a1", "description", "one", "two"), relation, choice]
    results += [textarea("t1", "description", "It stands still"), textarea("t1", "objects", "café ☕")]
    done = task(*results, ground_truth=False, lead_time=31.5, completed_by=1, result_count=2)
    done |= {
        "predictions": [{"id": 7, "result": [box], "score": 0.5}],
        "drafts": [],
        "file_upload": "0a1b2c3d-A_001.mp4",
        "meta": {},
    }
    skipped = task(video="/data/upload/1/99999999-B_002.mp4", was_cancelled=True)
    path = file(tmp_path, skipped, {**task(video="C_003.mp4"), "annotations": []}, done)

    assert label_studio.names(path) == ["A_001"]
    assert "of 3 tasks, 2 are not annotated; passed over" in caplog.text
    found = label_studio.read(path, clip.model_copy(update={"frames": 240}))
    (item,) = found.objects
    assert (item.name, item.description) == ("café ☕", "one\ntwo")
    assert item.boxes_xyxy[0] == (0.0, 240.0, 160.0, 480.0)
    assert item.boxes_xyxy[239][0] == pytest.approx(480 * 298 / 300)  # of 30 a second, frame 298 (from 0) is on screen at 239/24 s
    (still,) = found.focal_points
    assert (still.start_s, still.end_s, still.objects) == (1.0, 2.0, ["café ☕"])


def test_the_task_is_found_by_the_name_of_its_video(tmp_path, clip):
    region = sequence((1, True, 0, 0, 9, 9))
    path = file(
        tmp_path,
        task(video="/data/local-files/?d=videos/B_002.mp4"),
        task(region, video="https://host/a%20b/A_001.mp4?token=x.y/z"),
        task(video="s3://bucket/C_003.mp4"),
    )
    assert label_studio.names(path) == ["B_002", "A_001", "C_003"]
    assert len(label_studio.read(path, clip).objects) == 1
    with pytest.raises(FormatError, match="none of its 3 tasks are about clip D_004"):
        label_studio.read(path, clip.model_copy(update={"clip_id": "D_004"}))


def test_of_several_annotations_the_ground_truth_counts(tmp_path, clip):
    told = task(sequence((1, True, 0, 0, 9, 9)))
    told["annotations"].append({"result": [], "was_cancelled": True})
    assert len(label_studio.read(file(tmp_path, told), clip).objects) == 1
    told["annotations"].append({"result": [sequence((1, True, 0, 0, 9, 9))]})
    with pytest.raises(FormatError, match="2 annotations that count; mark one as ground truth"):
        label_studio.read(file(tmp_path, told), clip)
    told["annotations"][0]["ground_truth"] = True
    assert len(label_studio.read(file(tmp_path, told), clip).objects) == 1


def test_what_is_written_is_what_its_editor_reads(annotation, clip, tmp_path):
    path = tmp_path / "A_001.json"
    label_studio.write(annotation, clip, path)
    (told,) = json.loads(path.read_text(encoding="utf-8"))
    assert told["data"] == {"video": "A_001.mp4", "clip_id": "A_001", "frames": 48, "fps": 24}
    results = told["annotations"][0]["result"]
    window = next(each for each in results if each["id"] == "object-1" and each["type"] == "videorectangle")
    assert window["value"]["framesCount"] == 48 and window["value"]["duration"] == 2.0
    assert [(key["frame"], key["enabled"]) for key in window["value"]["sequence"]] == [
        (1, True), (3, False), (11, False), (21, True), (22, False),
    ]  # fmt: skip
    first = window["value"]["sequence"][0]
    assert [first[name] for name in ("x", "y", "width", "height", "rotation", "time")] == [0, 0, 100, 100, 0, 1 / 24]
    bounce = next(each for each in results if each["type"] == "timelinelabels")
    assert bounce["value"] == {"ranges": [{"start": 13, "end": 48}], "timelinelabels": ["dynamic"]}


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ([sequence((0, True, 0, 0, 9, 9))], "region r: frame 0: before the first frame"),
        ([sequence((49, True, 0, 0, 9, 9))], "region r: frame 49: behind the last frame; the video has 48"),
        ([sequence((1, True, 0, 0, 0, 9))], "frame 1: the box 0, 0 to 0, 43.2 is empty"),
        ([sequence((1, True, 0, 0, 9, 9), (1, True, 0, 0, 9, 9))], "frame 1: stands twice"),
        ([sequence((1, True, 0, 0, 9, None))], "height: 'None' is no finite number"),
        ([{**MOVING, "value": {"ranges": [{"start": 3, "end": 5}], "timelinelabels": ["Moving"]}}], "its label is 'Moving'"),
        ([MOVING], "region a1: has no text `description`"),
        (
            [{**MOVING, "value": {"ranges": [{"start": 3, "end": 50}], "timelinelabels": ["static"]}}],
            "range: behind the last frame",
        ),
        ([{**MOVING, "value": {"ranges": [{"start": 3, "end": None}], "timelinelabels": ["static"]}}], "end: 'None' is no finite"),
        ([sequence((1, True, 1e300, 0, 9, 9))], "x: 1e\\+300 is too large"),
        ([sequence((1, True, 0, 0, 9, 9)) | {"meta": {"visible_s": [[0, 1e308]]}}], "meta.visible_s: 1e\\+308 is too large"),
        ([{**MOVING, "value": {"ranges": [{"start": 3, "end": 5}] * 2, "timelinelabels": ["static"]}}], "has 2 ranges"),
        ([{"type": "videorectangle", "id": "r", "value": {"sequence": {}}}], "region r: sequence: must be a list"),
        (["x"], "result 1: must be an object"),
    ],
)
def test_a_wrong_region_is_named_with_its_place(tmp_path, clip, results, says):
    path = file(tmp_path, task(sequence((1, True, 0, 0, 9, 9)) | {"id": "good"}, *results))
    with pytest.raises(FormatError, match=says) as error:
        label_studio.read(path, clip)
    assert str(path) in str(error.value)


def test_a_rotated_box_is_refused(tmp_path, clip):
    told = sequence((1, True, 0, 0, 9, 9))
    told["value"]["sequence"][0]["rotation"] = 12
    with pytest.raises(FormatError, match="rotated"):
        label_studio.read(file(tmp_path, task(told)), clip)


def test_two_focal_points_of_one_id_are_named(tmp_path, clip):
    regions = [
        {**part, "id": region}
        for region in ("a1", "a2")
        for part in (MOVING, SAID, {**SAID, "from_name": "focal_id", "value": {"text": ["p"]}})
    ]
    with pytest.raises(FormatError, match="focal point p occurs more than once; give each its own"):
        label_studio.read(file(tmp_path, task(sequence((1, True, 0, 0, 9, 9)), *regions)), clip)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ('{"video": "A_001.mp4", "box": []}', "JSON-MIN"),
        ("{", "not JSON"),
        ('[{"data": {}, "annotations": [{"result": [NaN]}]}]', "NaN is no number"),
        ("[" * 200_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "not JSON|must be an object"),
        ('[{"data": {"video": "A_001.mp4"}, "annotations": []}]', "no annotations that count"),
        ("PK\x03\x04", "is a zip archive"),
    ],
)
def test_what_is_not_of_the_format_is_refused(tmp_path, clip, told, says):
    path = tmp_path / "file.json"
    path.write_text(told)
    with pytest.raises(FormatError, match=says):
        label_studio.read(path, clip)


def test_an_object_without_a_box_has_no_region(tmp_path, clip):
    unseen = Annotation(clip_id="A_001", objects=[AnnotatedObject(name="ghost", boxes_xyxy=[None] * 48)])
    with pytest.raises(FormatError, match="'ghost' has no box"):
        label_studio.write(unseen, clip, tmp_path / "file.json")
