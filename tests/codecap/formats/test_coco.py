"""COCO for videos, against files that are made by hand after the documentation of YouTube-VIS and CocoVID."""

import json

import pytest

from codecap.formats import FormatError, Told, coco
from codecap.records import AnnotatedObject, Annotation


def youtube_vis(bboxes, length=12, **video):
    files = [f"A_001/{5 * frame:05d}.jpg" for frame in range(length)]
    none = [None] * length
    return {
        "info": {},
        "videos": [
            {"id": 7, "width": 640, "height": 480, "length": length, "file_names": files, **video},
        ],
        "annotations": [
            {"id": 1, "video_id": 7, "category_id": 25, "segmentations": none, "areas": none, "bboxes": bboxes, "iscrowd": 0},
            {"id": 2, "video_id": 8, "category_id": 25, "bboxes": [[0, 0, 1, 1]], "iscrowd": 0},
        ],
        "categories": [{"id": 25, "name": "parrot", "supercategory": "object"}],
    }  # fmt: skip


def coco_vid(first=0, frames=12, boxes=((0, [1, 2, 3, 4]),)):
    return {
        "videos": [{"id": 1, "name": "A_001", "fps": 24, "width": 640, "height": 480}],
        "images": [{"id": 100 + i, "video_id": 1, "frame_id": first + i, "width": 640, "height": 480} for i in range(frames)],
        "annotations": [
            {"id": place, "image_id": 100 + frame, "video_id": 1, "category_id": 1, "instance_id": 3, "bbox": box, "area": 1}
            for place, (frame, box) in enumerate(boxes)
        ],
        "categories": [{"id": 1, "name": "car"}],
    }  # fmt: skip


def test_a_whole_file_of_youtube_vis(tmp_path, make_clip):
    """Masks as run lengths, null where the object is not to be seen, several videos and categories; ids from 0 or any."""
    told = {
        "info": {"description": "YouTube-VIS", "url": "", "version": "1.0", "year": 2019, "contributor": "", "date_created": ""},
        "licenses": [{"url": "", "id": 1, "name": ""}],
        "videos": [
            {"width": 640, "length": 3, "date_captured": "", "license": 1, "flickr_url": "", "coco_url": "", "height": 480, "id": 0,
             "file_names": ["A_001/00000.jpg", "A_001/00005.jpg", "A_001/00010.jpg"]},
            {"width": 320, "length": 2, "height": 240, "id": 1, "file_names": ["B_002/00000.jpg", "B_002/00005.jpg"]},
        ],
        "annotations": [
            {"video_id": 1, "iscrowd": 0, "height": 240, "width": 320, "length": 1, "id": 4, "category_id": 26, "areas": [2, None],
             "segmentations": [{"counts": [9, 2, 76789], "size": [240, 320]}, None], "bboxes": [[0.0, 9.0, 1.0, 2.0], None]},
            {"video_id": 0, "iscrowd": 0, "height": 480, "width": 640, "length": 1, "id": 9, "category_id": 1,
             "areas": [None, 4, 4],
             "segmentations": [None, {"counts": "abc", "size": [480, 640]}, {"counts": "abd", "size": [480, 640]}],
             "bboxes": [None, [638.0, 478.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0]]},
        ],
        "categories": [
            {"supercategory": "object", "id": 1, "name": "persön"},
            {"supercategory": "object", "id": 26, "name": "owl"},
        ],
    }  # fmt: skip
    path = tmp_path / "instances.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(told, indent=1).replace("\n", "\r\n").encode())
    assert coco.names(path) == ["A_001", "B_002"]
    (person,) = coco.read(path, make_clip(frames=3)).objects
    assert person.name == "persön" and person.boxes_xyxy == [None, (638.0, 478.0, 640.0, 480.0), (0.0, 0.0, 2.0, 2.0)]
    (owl,) = coco.read(path, make_clip(frames=2, width_px=320, height_px=240, clip_id="B_002")).objects
    assert owl.name == "owl" and owl.boxes_xyxy == [(0.0, 9.0, 1.0, 11.0), None]


def test_a_file_about_many_clips_is_sorted_once_and_anew_when_it_changes(tmp_path, make_clip):
    path = file(tmp_path, coco_vid())
    assert coco._data(path) is coco._data(path)
    assert coco.read(path, make_clip(frames=12)).objects[0].boxes_xyxy[0] == (1.0, 2.0, 4.0, 6.0)
    file(tmp_path, coco_vid(boxes=((0, [10, 20, 30, 40.5]),)))
    assert coco.read(path, make_clip(frames=12)).objects[0].boxes_xyxy[0] == (10.0, 20.0, 40.0, 60.5)


def file(folder, told):
    path = folder / "instances.json"
    path.write_text(json.dumps(told))
    return path


def test_a_box_is_corner_and_size_from_0_and_the_far_sides_are_exclusive(tmp_path, make_clip):
    path = file(tmp_path, youtube_vis([[0, 0, 640, 480], None, [10.5, 20, 30, 40.25]] + [None] * 9))
    (item,) = coco.read(path, make_clip(frames=12)).objects
    assert coco.names(path) == ["A_001"]
    assert item.name == "parrot"
    assert item.boxes_xyxy == [(0.0, 0.0, 640.0, 480.0), None, (10.5, 20.0, 40.5, 60.25)] + [None] * 9
    assert item.visible_s == [(0.0, 1 / 24), (2 / 24, 3 / 24)]


def test_a_rate_that_is_not_stated_is_asked_for(tmp_path, make_clip):
    told = youtube_vis([[i, 0, 10, 10] for i in range(60)], length=60)
    clip = make_clip(frames=48)
    with pytest.raises(FormatError, match="is about 60 frames.*--fps"):
        coco.read(file(tmp_path, told), clip)
    boxes = coco.read(file(tmp_path, told), clip, Told(fps=30)).objects[0].boxes_xyxy
    assert [box[0] for box in boxes[:5]] == [0, 1, 2, 3, 5]
    assert (
        coco.read(file(tmp_path, youtube_vis(told["annotations"][0]["bboxes"], length=60, fps=30)), clip).objects[0].boxes_xyxy
        == boxes
    )


@pytest.mark.parametrize("first", [0, 1])
def test_the_layout_with_images_counts_from_0_or_from_1(tmp_path, make_clip, first):
    path = file(tmp_path, coco_vid(first, boxes=((0, [1, 2, 3, 4]), (11, [5, 6, 7, 8]))))
    (item,) = coco.read(path, make_clip(frames=12)).objects
    assert item.name == "car"
    assert item.boxes_xyxy == [(1.0, 2.0, 4.0, 6.0)] + [None] * 10 + [(5.0, 6.0, 12.0, 14.0)]


def test_images_of_some_frames_only_do_not_say_where_an_object_is(tmp_path, make_clip):
    told = coco_vid()
    del told["images"][4]
    with pytest.raises(FormatError, match="its 11 images are not all frames"):
        coco.read(file(tmp_path, told), make_clip(frames=12))


def test_what_is_written_is_what_the_documentation_says(annotation, clip, tmp_path):
    path = tmp_path / "A_001.json"
    coco.write(annotation, clip, path)
    told = json.loads(path.read_text(encoding="utf-8"))
    (video,) = told["videos"]
    assert (video["id"], video["width"], video["height"], video["length"], video["fps"]) == (1, 640, 480, 48, 24)
    assert video["file_names"][0] == "A_001/00000.jpg" and len(video["file_names"]) == 48
    assert told["categories"][1] == {"id": 2, "name": "window", "supercategory": "object"}
    window = told["annotations"][1]
    assert (window["id"], window["video_id"], window["category_id"], window["iscrowd"]) == (2, 1, 2, 0)
    assert window["bboxes"][:4] == [[0, 0, 640, 480]] * 3 + [None]
    assert window["areas"][:4] == [307200.0] * 3 + [None]
    assert {len(window[name]) for name in ("bboxes", "areas", "segmentations")} == {48}


def test_whole_objects_are_kept(tmp_path, clip):
    item = AnnotatedObject(name="card", boxes_xyxy=[(0, 0, 10, 10)] * 48, amodal_xyxy=[(-5.5, 0, 10, 40)] * 47 + [None])
    coco.write(Annotation(clip_id="A_001", objects=[item]), clip, tmp_path / "x.json")
    assert coco.read(tmp_path / "x.json", clip).objects[0].amodal_xyxy == item.amodal_xyxy


POINT = {"focal_id": "p", "kind": "static", "description": "x", "start_s": 0}


def change(told, **keys):
    told["annotations"][0].update(keys)
    return told


@pytest.mark.parametrize(
    ("told", "says"),
    [
        (change(youtube_vis([None] * 12), bboxes=[None] * 11), r"different lengths: \[11, 12\]"),
        (change(youtube_vis([None] * 12), bboxes=[[0, 0, 0, 4]] + [None] * 11), "annotation 1, frame 0: the box 0, 0 to 0, 4"),
        (change(youtube_vis([None] * 12), bboxes=[[0, 0, 4]] + [None] * 11), "frame 0: a box is a list"),
        (change(youtube_vis([None] * 12), bboxes=["abcd"] + [None] * 11), "frame 0: a box is a list"),
        (change(youtube_vis([None] * 12), category_id=3), "its category 3 is not among"),
        (change(youtube_vis([None] * 12), category_id=[3]), "an id is a whole number or a text, not list"),
        (change(youtube_vis([None] * 12), visible_s=[[1]]), "visible_s: each interval"),
        (youtube_vis([None] * 12, focal_points=[{"kind": "slow"}]), "focal_points: .*kind"),
        (youtube_vis([None] * 12, focal_points=[{**POINT, "end_s": 1e308}]), "focal point p: 1e\\+308 is too large"),
        (change(youtube_vis([None] * 12), visible_s=[[0, 1e308]]), "visible_s: 1e\\+308 is too large"),
        (change(youtube_vis([None] * 12), visible_s=[[0, 1]] * 501), "visible_s: 501 intervals"),
        (change(youtube_vis([None] * 12), bboxes=[[1e308, 0, 1e308, 4]] * 12), "1e\\+308 is too large"),
        (change(youtube_vis([None] * 12), video_id=[7]), "video_id of 1: an id is a whole number or a text, not list"),
        ({"videos": [{"id": 1, "name": "A_001"}, {"id": 1, "name": "B_002"}]}, "two of its videos have one id"),
        (change(coco_vid(), image_id=None), "image_id of 0: an id is a whole number or a text, not NoneType"),
        (change(coco_vid(), instance_id=None), "an id is a whole number or a text, not NoneType"),
        (coco_vid(boxes=((0, [1, 2, 3, 4]), (0, [1, 2, 3, 4]))), "track 3: has two boxes on frame 0"),
        ({"images": [], "annotations": []}, "has no `videos`"),
        ([], "must be an object"),
        ({"videos": [{"id": {}}]}, "videos: id: an id is"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(tmp_path, make_clip, told, says):
    path = file(tmp_path, told)
    with pytest.raises(FormatError, match=says) as error:
        coco.read(path, make_clip(frames=12))
    assert str(path) in str(error.value)


def test_masks_alone_are_not_read(tmp_path, make_clip):
    told = youtube_vis([None] * 12)
    del told["annotations"][0]["bboxes"]
    with pytest.raises(FormatError, match="masks alone"):
        coco.read(file(tmp_path, told), make_clip(frames=12))


def test_of_several_videos_the_clips_own_is_read(tmp_path, make_clip):
    told = youtube_vis([None] * 12)
    told["videos"].append({"id": 8, "length": 1, "file_names": ["B_002/00000.jpg"]})
    assert coco.names(file(tmp_path, told)) == ["A_001", "B_002"]
    assert len(coco.read(file(tmp_path, told), make_clip(frames=1, clip_id="B_002")).objects) == 1
    with pytest.raises(FormatError, match="none of its 2 videos are clip C_003"):
        coco.read(file(tmp_path, told), make_clip(clip_id="C_003"))
