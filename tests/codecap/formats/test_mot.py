"""MOTChallenge, against files that are made by hand after its documentation."""

import pytest

from codecap.formats import FormatError, Told, mot
from codecap.records import AnnotatedObject, Annotation

INFO = "[Sequence]\nname=MOT16-09\nimDir=img1\nframeRate=30\nseqLength={frames}\nimWidth=1920\nimHeight=1080\nimExt=.jpg\n"
TWO_SECONDS = INFO.format(frames=60)


def folder(root, *lines, info=TWO_SECONDS, labels=None):
    path = root / "MOT16-09"
    (path / "gt").mkdir(parents=True, exist_ok=True)
    (path / "gt" / "gt.txt").write_text("\n".join(lines))
    if info is not None:
        (path / "seqinfo.ini").write_text(info)
    if labels is not None:
        (path / "gt" / "labels.txt").write_text(labels)
    return path


@pytest.fixture
def hd(make_clip):
    return make_clip(frames=48, width_px=1920, height_px=1080)


def test_frames_and_pixels_are_from_1(tmp_path, hd):
    """The line of the paper's example: the box begins at the 1363rd pixel, which is 1362 from 0, and is 103 px wide."""
    path = folder(tmp_path, "1, 1, 1363, 569, 103, 241, 1, 1, 0.86")
    (item,) = mot.read(path, hd).objects
    assert mot.names(path) == ["MOT16-09"]
    assert item.name == "pedestrian"
    assert item.boxes_xyxy == [(1362.0, 568.0, 1465.0, 809.0)] + [None] * 47
    assert mot.read(path, hd, Told(first_pixel=0)).objects[0].boxes_xyxy[0] == (1363.0, 569.0, 1466.0, 810.0)


def test_a_file_as_other_tools_write_it(tmp_path, hd):
    """Lines ended as on Windows, a byte order mark; tracks from 0; frames and classes in any order; one that leaves and returns."""
    path = folder(tmp_path, info=TWO_SECONDS.replace("\n", "\r\n"), labels="\ufeffHändler\r\nauto\r\n")
    lines = ["3,1,11,21,10,10,1,2,0.25", "1,0,1,1,5.5,6,1,1,1.0", "1,1,1,1,10,10,1,2,1", "40,0,1911,1071,10,10,1,1,0"]
    (path / "gt" / "gt.txt").write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    (path / "seqinfo.ini").write_text(INFO.format(frames=48).replace("frameRate=30", "frameRate=24"))
    first, second = mot.read(path, hd).objects
    assert (first.name, second.name) == ("Händler", "auto")
    assert first.boxes_xyxy[:2] == [(0.0, 0.0, 5.5, 6.0), None] and first.boxes_xyxy[39] == (1910.0, 1070.0, 1920.0, 1080.0)
    assert second.boxes_xyxy[:4] == [(0.0, 0.0, 10.0, 10.0), None, (10.0, 20.0, 20.0, 30.0), None]


def test_of_ten_values_the_last_three_are_a_place_in_the_world(tmp_path, hd):
    """As in the ground truth of 3D MOT 2015, where the eighth value is metres, not a class."""
    path = folder(tmp_path, "1,1,11,11,10,10,1,3.25,7.5,0", "2,1,11,11,10,10,1,2,7.5,0")
    assert [item.name for item in mot.read(path, hd).objects] == ["track 1"]


def test_the_rate_is_that_of_seqinfo(tmp_path, hd):
    path = folder(tmp_path, *(f"{frame},1,{frame},1,10,10,1,1,1" for frame in range(1, 61)))
    boxes = mot.read(path, hd).objects[0].boxes_xyxy
    assert [box[0] for box in boxes[:5]] == [0, 1, 2, 3, 5]
    (path / "seqinfo.ini").unlink()
    with pytest.raises(FormatError, match="does not say how many frames there are.*--fps"):
        mot.read(path, hd)
    assert mot.read(path / "gt" / "gt.txt", hd, Told(fps=30)).objects[0].boxes_xyxy == boxes
    with pytest.raises(FormatError, match=r"has a box on frame 59 \(counted from 0\); the clip ends with frame 47; .*--fps"):
        mot.read(path, hd, Told(fps=24))


def test_boxes_that_pass_the_picture_are_cut_and_it_is_said(tmp_path, hd, caplog):
    path = folder(tmp_path, "1,1,-49,1001,100,200,1,1,0.5", "2,1,2001,1,50,50,1,1,0")
    boxes = mot.read(path, hd).objects[0].boxes_xyxy
    assert boxes[0] == (0.0, 1000.0, 50.0, 1080.0)
    assert boxes[1] is None
    assert "2 boxes pass the picture" in caplog.text


def test_what_is_not_to_be_considered_is_left_out_and_said(tmp_path, hd, caplog):
    path = folder(tmp_path, "1,1,11,11,10,10,1,1,1", "1,2,11,11,10,10,0,12,1")
    assert len(mot.read(path, hd).objects) == 1
    assert "1 boxes are marked as not to be considered" in caplog.text


def test_names_are_those_of_labels_txt_else_of_the_benchmark_else_the_tracks(tmp_path, hd):
    lines = ["1,1,11,11,10,10,1,2,1", "1,4,11,11,10,10,1,1,1", "1,7,11,11,10,10,1,2,1"]
    assert [item.name for item in mot.read(folder(tmp_path, *lines, labels="dog\ncat\n"), hd).objects] == ["cat 1", "dog", "cat 2"]
    (tmp_path / "MOT16-09" / "gt" / "labels.txt").unlink()
    lines = ["1,1,11,11,10,10,1,2,1", "1,4,11,11,10,10,1,-1,-1,-1"]
    assert [item.name for item in mot.read(folder(tmp_path, *lines), hd).objects] == ["person on vehicle", "track 4"]


def test_what_is_written_is_what_the_documentation_says(annotation, clip, tmp_path):
    mot.write(annotation, clip, tmp_path / "A_001")
    lines = (tmp_path / "A_001" / "gt" / "gt.txt").read_text().splitlines()
    assert lines[0] == "1,1,11.0000,21.1235,30.0000,31.3765,1,1,1.0000"
    assert lines[48] == "1,2,1.0000,1.0000,640.0000,480.0000,1,2,1.0000"
    assert lines[-1] == "48,3,601.2500,471.0000,39.7500,10.0000,1,3,1.0000"
    assert (tmp_path / "A_001" / "gt" / "labels.txt").read_text(encoding="utf-8") == 'ball "β" & <co>\nwindow\npixel\n'
    info = (tmp_path / "A_001" / "seqinfo.ini").read_text()
    assert info == "[Sequence]\nname=A_001\nimDir=img1\nframeRate=24\nseqLength=48\nimWidth=640\nimHeight=480\nimExt=.jpg\n"


def test_visibility_is_the_share_of_the_whole_object(tmp_path, clip):
    item = AnnotatedObject(name="card", boxes_xyxy=[(0, 0, 10, 10)] * 48, amodal_xyxy=[(0, 0, 10, 40)] * 47 + [None])
    mot.write(Annotation(clip_id="A_001", objects=[item]), clip, tmp_path / "A_001")
    lines = (tmp_path / "A_001" / "gt" / "gt.txt").read_text().splitlines()
    assert lines[0].endswith(",0.2500") and lines[-1].endswith(",1.0000")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1,1,1,1,10", "gt.txt:2: 5 values"),
        ("0,1,1,1,10,10,1,1,1", r"gt.txt:2: frame 0 \(counted from 1\): before the first frame"),
        ("61,1,1,1,10,10,1,1,1", "frame 61.*behind the last frame; the video has 60"),
        ("1,-1,1,1,10,10,0.8,-1,-1,-1", "a file of detections"),
        ("1,1,5,5,10,10,1,1,1", "track 1 has two boxes on frame 1"),
        ("2,1,5,5,0,10,1,1,1", "the box 4, 4 to 4, 14 is empty"),
        ("2,1,5,5,1e300,10,1,1,1", "1e\\+300 is too large"),
        ("2,1,5,5,inf,10,1,1,1", "'inf' is no finite number"),
        ("2,1,x,5,10,10,1,1,1", "'x' is no finite number"),
        ("2,1.5,5,5,10,10,1,1,1", "1.5 is no whole number"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path, hd, line, says):
    with pytest.raises(FormatError, match=says):
        mot.read(folder(tmp_path, "1,1,1,1,10,10,1,1,1", line), hd)


def test_another_video_and_a_broken_seqinfo_are_refused(tmp_path, hd, clip):
    with pytest.raises(FormatError, match="1920 px wide"):
        mot.read(folder(tmp_path, "1,1,1,1,10,10,1,1,1"), clip)
    with pytest.raises(FormatError, match="90 frames at 30 a second, 3.00 s"):
        mot.read(folder(tmp_path, "1,1,1,1,10,10,1,1,1", info=INFO.format(frames=90)), hd)
    with pytest.raises(FormatError, match=r"section \[Sequence\]"):
        mot.read(folder(tmp_path, "1,1,1,1,10,10,1,1,1", info="frameRate=30"), hd)


def test_a_name_of_two_lines_cannot_stand_in_labels_txt(tmp_path, clip):
    item = AnnotatedObject(name="two\nlines", boxes_xyxy=[(0, 0, 9, 9)] * 48)
    with pytest.raises(FormatError, match="is one line"):
        mot.write(Annotation(clip_id="A_001", objects=[item]), clip, tmp_path / "A_001")
