"""CVAT for video 1.1, against files that are made by hand after its documentation."""

import xml.etree.ElementTree as ET

import pytest

from codecap.formats import FormatError, Told, cvat
from codecap.records import AnnotatedObject, Annotation

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><task><id>5</id><name>interpolation</name><size>{frames}</size><mode>interpolation</mode>
<overlap>5</overlap><bugtracker></bugtracker><flipped>False</flipped><labels><label><name>car</name><attributes></attributes></label></labels>
<original_size><width>{width}</width><height>{height}</height></original_size>{more}</task>
<dumped>2018-09-25 16:05:07.134046+03:00</dumped></meta>
"""


def box(frame, sides, outside=0, key=1, more=""):
    named = " ".join(f'{name}="{side:.2f}"' for name, side in zip(("xtl", "ytl", "xbr", "ybr"), sides, strict=True))
    return f'<box frame="{frame}" {named} outside="{outside}" occluded="0" keyframe="{key}"{more}></box>'


def file(folder, *tracks, frames=12, width=640, height=480, more=""):
    path = folder / "annotations.xml"
    told = "".join(
        f'<track id="{place}" label="car" source="manual">{"".join(boxes)}</track>' for place, boxes in enumerate(tracks)
    )
    path.write_text(HEAD.format(frames=frames, width=width, height=height, more=more) + told + "</annotations>")
    return path


def test_frames_are_from_0_and_corners_are_ends_not_pixels(tmp_path, make_clip):
    path = file(tmp_path, [box(0, (0, 0, 640, 480)), box(1, (0, 0, 640, 480), outside=1)])
    (item,) = cvat.read(path, make_clip(frames=12)).objects
    assert item.name == "car"
    assert item.boxes_xyxy == [(0.0, 0.0, 640.0, 480.0)] + [None] * 11
    assert item.visible_s == [(0.0, 1 / 24)]


def test_key_frames_are_interpolated_up_to_the_box_that_is_outside(tmp_path, make_clip):
    path = file(
        tmp_path, [box(2, (0, 0, 10, 10)), box(6, (8, 4, 18, 14)), box(8, (10, 4, 20, 14), outside=1), box(10, (100, 0, 110, 10))]
    )
    boxes = cvat.read(path, make_clip(frames=12)).objects[0].boxes_xyxy
    assert boxes[:2] == [None, None]
    assert boxes[4] == (4.0, 2.0, 14.0, 12.0)
    assert boxes[7] == (9.0, 4.0, 19.0, 14.0)
    assert boxes[8:10] == [None, None]
    assert boxes[10:] == [(100.0, 0.0, 110.0, 10.0)] * 2  # the last one goes on to the end


def test_frames_of_a_task_that_begins_later_are_counted_from_its_start(tmp_path, make_clip):
    part = "<start_frame>100</start_frame><stop_frame>111</stop_frame><frame_filter></frame_filter>"
    path = file(tmp_path, [box(103, (0, 0, 9, 9)), box(104, (0, 0, 9, 9), outside=1)], more=part)
    boxes = cvat.read(path, make_clip(frames=12)).objects[0].boxes_xyxy
    assert [frame for frame, found in enumerate(boxes) if found] == [3]


def test_of_another_rate_the_frame_on_screen_is_taken(tmp_path, make_clip):
    path = file(tmp_path, [box(0, (0, 0, 10, 10)), box(59, (59, 0, 69, 10))], frames=60)
    clip = make_clip(frames=48)
    with pytest.raises(FormatError, match="60 frames.*48 at 24 a second.*--fps"):
        cvat.read(path, clip)
    boxes = cvat.read(path, clip, Told(fps=30)).objects[0].boxes_xyxy
    assert [box[0] for box in boxes[:5]] == pytest.approx([0, 1, 2, 3, 5])  # frame 4 is shown at 1/6 s: of 30 a second the fifth
    with pytest.raises(FormatError, match="another video"):
        cvat.read(path, clip, Told(fps=25))


def test_two_tracks_of_a_label_get_names_of_their_own(tmp_path, make_clip):
    one = [box(0, (0, 0, 9, 9))]
    assert [item.name for item in cvat.read(file(tmp_path, one, one), make_clip(frames=12)).objects] == ["car 1", "car 2"]


WHOLE_EXPORT = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta>
    <task>
      <id>31</id>
      <name>A_001</name>
      <size>6</size>
      <mode>interpolation</mode>
      <overlap>5</overlap>
      <bugtracker></bugtracker>
      <created>2026-03-02 10:00:00.000000+00:00</created>
      <updated>2026-03-02 11:00:00.000000+00:00</updated>
      <subset>default</subset>
      <start_frame>0</start_frame>
      <stop_frame>5</stop_frame>
      <frame_filter></frame_filter>
      <segments>
        <segment><id>40</id><start>0</start><stop>5</stop><url>http://localhost:8080/api/jobs/40</url></segment>
      </segments>
      <owner><username>zoë</username><email>zoe@example.org</email></owner>
      <assignee></assignee>
      <labels>
        <label><name>object</name><color>#ff0000</color><type>rectangle</type><attributes>
          <attribute><name>name</name><mutable>False</mutable><input_type>text</input_type><default_value></default_value>
          <values></values></attribute>
          <attribute><name>lit</name><mutable>True</mutable><input_type>checkbox</input_type><default_value>false</default_value>
          <values>false</values></attribute></attributes></label>
        <label><name>Wagen</name><color>#00ff00</color><type>any</type><attributes></attributes></label>
      </labels>
      <original_size><width>640</width><height>480</height></original_size>
      <source>A_001.mp4</source>
    </task>
    <dumped>2026-03-02 11:05:00.000000+00:00</dumped>
  </meta>
  <track id="0" label="object" source="manual" group_id="2">
    <box frame="0" keyframe="1" outside="0" occluded="0" xtl="0.00" ytl="10.50" xbr="20.00" ybr="30.25" z_order="0">
      <attribute name="lit">false</attribute><attribute name="name">Mühle &amp; Söhne</attribute></box>
    <box frame="1" keyframe="0" outside="0" occluded="0" xtl="5.00" ytl="10.50" xbr="25.00" ybr="30.25" z_order="0">
      <attribute name="lit">false</attribute><attribute name="name">Mühle &amp; Söhne</attribute></box>
    <box frame="2" keyframe="1" outside="0" occluded="1" xtl="10.00" ytl="10.50" xbr="30.00" ybr="30.25" z_order="0">
      <attribute name="lit">true</attribute><attribute name="name">Mühle &amp; Söhne</attribute></box>
    <box frame="3" keyframe="1" outside="1" occluded="0" xtl="10.00" ytl="10.50" xbr="30.00" ybr="30.25" z_order="0">
      <attribute name="lit">true</attribute><attribute name="name">Mühle &amp; Söhne</attribute></box>
    <box frame="5" keyframe="1" outside="0" occluded="0" xtl="620.00" ytl="10.50" xbr="640.00" ybr="30.25" z_order="0">
      <attribute name="lit">true</attribute><attribute name="name">Mühle &amp; Söhne</attribute></box>
  </track>
  <track id="1" label="Wagen" source="semi-auto">
    <box frame="2" keyframe="1" outside="0" occluded="0" xtl="1.00" ytl="2.00" xbr="3.00" ybr="4.00" z_order="1"></box>
    <box frame="3" keyframe="1" outside="1" occluded="0" xtl="1.00" ytl="2.00" xbr="3.00" ybr="4.00" z_order="1"></box>
  </track>
</annotations>
"""


@pytest.mark.parametrize(("mark", "line"), [("", "\n"), ("\ufeff", "\r\n")])
def test_a_whole_export_of_a_task(tmp_path, make_clip, mark, line):
    """A track that is partly hidden, leaves and comes back; a shape of one frame, which CVAT exports as a track of two boxes."""
    path = tmp_path / "annotations.xml"
    path.write_bytes((mark + WHOLE_EXPORT.replace("\n", line)).encode())
    mill, wagon = cvat.read(path, make_clip(frames=6)).objects
    assert cvat.names(path) == ["A_001"]
    assert (mill.name, wagon.name) == ("Mühle & Söhne", "Wagen")
    assert mill.boxes_xyxy == [
        (0.0, 10.5, 20.0, 30.25), (5.0, 10.5, 25.0, 30.25), (10.0, 10.5, 30.0, 30.25), None, None, (620.0, 10.5, 640.0, 30.25),
    ]  # fmt: skip
    assert mill.visible_s == [(0.0, 3 / 24), (5 / 24, 6 / 24)]
    assert wagon.boxes_xyxy == [None, None, (1.0, 2.0, 3.0, 4.0), None, None, None]


def test_an_export_of_a_job_about_a_part_of_the_clip_is_refused(tmp_path, make_clip):
    path = tmp_path / "annotations.xml"
    told = WHOLE_EXPORT.replace("task>", "job>").replace("      <name>A_001</name>\n", "").replace("<source>A_001.mp4</source>", "")
    path.write_text(told, encoding="utf-8")
    assert cvat.names(path) == ["annotations"]
    assert len(cvat.read(path, make_clip(frames=6)).objects) == 2
    with pytest.raises(FormatError, match="is about 6 frames; clip A_001 has 12 .* a part of the clip, export the whole"):
        cvat.read(path, make_clip(frames=12))


def test_of_each_nth_frame_the_ones_between_are_interpolated(tmp_path, make_clip):
    """Every fifth of 13 frames is 0, 5 and 10: CVAT says that the last frame is 10."""
    kept = "<start_frame>0</start_frame><stop_frame>10</stop_frame><frame_filter>step=5</frame_filter>"
    path = file(tmp_path, [box(0, (0, 0, 9, 9)), box(5, (10, 0, 19, 9)), box(10, (10, 0, 19, 9))], frames=3, more=kept)
    with pytest.raises(FormatError, match="does not say how many frames there are.*--fps"):
        cvat.read(path, make_clip(frames=13))
    boxes = cvat.read(path, make_clip(frames=13), Told(fps=24)).objects[0].boxes_xyxy
    assert [found[0] for found in boxes] == [0, 2, 4, 6, 8, 10, 10, 10, 10, 10, 10, 10, 10]


def test_every_key_frame_bears_the_attributes(annotation, clip, tmp_path):
    """CVAT's importer takes key frames alone, and of attributes that do not change what the last one of a track says."""
    path = tmp_path / "A_001.xml"
    cvat.write(annotation, clip, path)
    for track, item in zip(ET.parse(path).getroot().findall("track"), annotation.objects, strict=True):
        keys = track.findall("box[@keyframe='1']")
        assert {key.findtext("attribute[@name='name']") for key in keys} == {item.name}
        assert {key.findtext("attribute[@name='description']") for key in keys} == {item.description}


def test_what_is_written_is_what_the_documentation_says(annotation, clip, tmp_path):
    path = tmp_path / "A_001.xml"
    cvat.write(annotation, clip, path)
    root = ET.parse(path).getroot()
    assert root.findtext("version") == "1.1"
    assert [root.findtext(f"meta/task/{name}") for name in ("name", "size", "mode", "stop_frame")] == [
        "A_001",
        "48",
        "interpolation",
        "47",
    ]
    assert root.findtext("meta/task/original_size/width") == "640" and root.findtext("meta/fps") == "24"
    ball, window, pixel = root.findall("track")
    assert [one.get("frame") for one in ball.findall("box")] == [str(frame) for frame in range(48)]
    first = ball.find("box")
    assert (first.get("xtl"), first.get("ytl"), first.get("xbr"), first.get("ybr")) == ("10.0000", "20.1235", "40.0000", "51.5000")
    assert first.find("attribute[@name='name']").text == 'ball "β" & <co>'
    keys = [int(one.get("frame")) for one in ball.findall("box") if one.get("keyframe") == "1"]
    assert keys[:3] == [0, 29, 30] and keys[-1] == 47  # the straight way needs no key frames between
    told = [(one.get("frame"), one.get("outside")) for one in window.findall("box")]
    assert told == [
        ("0", "0"), ("1", "0"), ("2", "0"), ("3", "1"), ("10", "0"), ("11", "1"), ("20", "0"), ("21", "0"), ("22", "1"),
    ]  # fmt: skip
    assert [one.get("outside") for one in pixel.findall("box")] == ["0"]  # nothing stands behind the last frame


STRANGE = '><attribute name="visible_s">0 to 1e308</attribute></box><box frame="9" xtl="0" ytl="0" xbr="1" ybr="1"'


@pytest.mark.parametrize(
    ("tracks", "says"),
    [
        ([[box(0, (0, 0, 9, 9), more=' rotation="30.00"')]], "track 0, frame 0: the box is rotated"),
        ([['<polygon frame="3" points="1,2;3,4;5,6" outside="0" occluded="0" keyframe="1"/>']], "frame 3: is drawn as polygon"),
        ([[box(0, (9, 0, 9, 9))]], "frame 0: the box 9, 0 to 9, 9 is empty"),
        ([[box(12, (0, 0, 9, 9))]], "frame 12: behind the last frame; the video has 12"),
        ([[box(3, (0, 0, 9, 9)), box(3, (1, 0, 9, 9))]], "frame 3: has two boxes"),
        ([['<box frame="0" xtl="nan" ytl="0" xbr="1" ybr="1" outside="0"/>']], "'nan' is no finite number"),
        ([['<box frame="0" xtl="0" ytl="0" xbr="1e300" ybr="1" outside="0"/>']], "1e\\+300 is too large"),
        ([[box(0, (0, 0, 9, 9), more=STRANGE)]], "1e\\+308 is too large"),
        ([[]] * 501, "501 tracks in one clip; at most 500"),
        ([['<box frame="x" xtl="0" ytl="0" xbr="1" ybr="1" outside="0"/>']], "'x' is no finite number"),
    ],
)
def test_a_wrong_track_is_named_with_its_place(tmp_path, make_clip, tracks, says):
    with pytest.raises(FormatError, match=says) as error:
        cvat.read(file(tmp_path, *tracks), make_clip(frames=12))
    assert str(tmp_path / "annotations.xml") in str(error.value)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ("<annotations><image id='0' name='a.jpg' width='9' height='9'/></annotations>", "CVAT for images"),
        ("<annotations><meta><project/></meta></annotations>", "export each task"),
        ("<html/>", "begins with <html>"),
        ("not xml", "not XML"),
        ("<annotations><track>", "not XML"),
        (
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotations><version>&x;</version></annotations>',
            "document type",
        ),
        ('<!DOCTYPE annotations SYSTEM "http://127.0.0.1/a.dtd"><annotations/>', "document type"),
        ('<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><annotations>&y;</annotations>', "document type"),
        ('<?xml version="1.0" encoding="no-such"?><annotations/>', "not XML"),
    ],
)
def test_what_is_not_of_the_format_is_refused(tmp_path, clip, told, says):
    path = tmp_path / "file.xml"
    path.write_text(told)
    with pytest.raises(FormatError, match=says):
        cvat.read(path, clip)


def test_another_size_is_refused_but_not_the_odd_one_that_was_padded(tmp_path, make_clip):
    track = [box(0, (0, 0, 9, 9))]
    assert cvat.read(file(tmp_path, track, width=639), make_clip(frames=12)).objects
    with pytest.raises(FormatError, match="1280 px wide, clip A_001 is 640"):
        cvat.read(file(tmp_path, track, width=1280), make_clip(frames=12))


def test_what_it_cannot_hold_is_said(tmp_path, clip):
    def write(**item):
        told = {"name": "ball", "boxes_xyxy": [(0, 0, 9, 9)] * 48, **item}
        cvat.write(Annotation(clip_id="A_001", objects=[AnnotatedObject(**told)]), clip, tmp_path / "file.xml")

    with pytest.raises(FormatError, match="'ball': holds the character U\\+0007"):
        write(description="a bell \x07")
    with pytest.raises(FormatError, match="'ball' has no box in any frame"):
        write(boxes_xyxy=[None] * 48)
    assert not (tmp_path / "file.xml").exists()
