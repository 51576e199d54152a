"""What is read of a model's marks, and of which scale they are taken to be."""

import json

import pytest

from codecap.annotate.proposing.places import read_places
from codecap.annotate.proposing.questions import groups
from codecap.exchange import Reply
from codecap.records import Clip, Usage
from codecap.score.asking.answers import Unreadable

CLIP = Clip(clip_id="A_1", category="A", mp4="a.mp4", sha256="0", frames=48, width_px=1000, height_px=500)


def read(boxes, asked):
    marks = [
        {
            "name": name,
            "time_s": frame / 24,
            "shown": True,
            "box": dict(zip(("x0", "y0", "x1", "y1"), box, strict=True)),
            "positive": [{"x": (box[0] + box[2]) / 2, "y": (box[1] + box[3]) / 2}],
            "negative": [],
        }
        for name, frame, box in boxes
    ]
    return read_places(Reply(json.dumps({"marks": marks}), "end", Usage(), None, "0" * 64, False), asked, CLIP, 0.25)


def test_an_object_in_the_corner_may_lie_in_the_first_tenth_of_the_scale():
    """A logo, a button: its marks alone do not tell that a model thinks in percent."""
    reading = read([("logo", frame, (10, 20, 90, 80)) for frame in (0, 12, 24)], {"logo": [0, 12, 24]})
    assert reading.faults == ()
    assert [place.box_xyxy for place in reading.value["logo"]] == [(10, 10, 90, 40)] * 3


def test_several_objects_in_the_first_tenth_are_taken_for_percent():
    with pytest.raises(Unreadable, match="neither percent nor shares"):
        read([("ball", 0, (10, 20, 40, 80)), ("cup", 0, (50, 20, 95, 80))], {"ball": [0], "cup": [0]})


def test_objects_are_dealt_out_evenly():
    asked = {f"o{number}": [number] for number in range(9)}
    assert [len(group) for group in groups(asked, 8, 50)] == [5, 4]
    assert [len(group) for group in groups({"a": [0]}, 8, 50)] == [1] and groups({}, 8, 50) == []
    assert [name for group in groups(asked, 2, 50) for name in group] == list(asked)
