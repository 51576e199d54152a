"""What is read of a model's outline, and what of it is a fault."""

import copy
import json
import random

import pytest
from loopback import annotator

from codecap.annotate.changes import Changes
from codecap.annotate.following import followed
from codecap.annotate.proposers.mllm import focal_points, proposed
from codecap.annotate.proposing.outlines import Bounds, Seen, read_outline
from codecap.annotate.proposing.places import read_places
from codecap.annotate.validate import problems
from codecap.clock import grid
from codecap.exchange import Reply
from codecap.records import Clip, ObjectTrack, Proposal, Usage
from codecap.score.asking.answers import Unreadable

CLIP = Clip(
    clip_id="T_001",
    category="F",
    mp4="none.mp4",
    sha256="0",
    frames=annotator.FRAMES,
    width_px=annotator.WIDTH_PX,
    height_px=annotator.HEIGHT_PX,
)
BOUNDS = Bounds(CLIP, grid(2, CLIP.frames), objects=3, points=4, frames_each=2)


def reply(told) -> Reply:
    text = told if isinstance(told, str) else json.dumps(told)
    return Reply(text, "end", Usage(), None, "0" * 64, False)


def read(told):
    return read_outline(reply(told), BOUNDS)


def outline(**item):
    told = copy.deepcopy(annotator.SECOND)
    told["objects"][0] |= item
    return told


def test_an_interval_knows_the_shown_frames_beside_it():
    reading = read(outline(visible=[{"first_s": 0.5, "last_s": 1.0}], frames_s=[0.5]))
    assert reading.faults == ()
    ball, sign = reading.value.objects
    assert ball.seen == (Seen(before=0, first=12, last=24, after=36),)
    assert sign.seen == (Seen(before=36, first=48, last=60, after=72),)  # 72: the clip's end


def test_intervals_without_a_shown_frame_between_them_are_one():
    spans = [{"first_s": 2.0, "last_s": 2.5}, {"first_s": 0.0, "last_s": 0.5}, {"first_s": 1.0, "last_s": 1.0}]
    (ball, _) = read(outline(visible=spans, frames_s=[2.5])).value.objects
    assert ball.seen == (Seen(-1, 0, 24, 36), Seen(36, 48, 60, 72))


def test_times_between_shown_frames_are_the_nearest_ones():
    (ball, _) = read(outline(frames_s=[0.7, 2.31])).value.objects
    assert ball.frames == (12, 60)


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        ({"frames_s": [0.5, 1.0, 2.0]}, "ball: 3 times in frames_s, at most 2 were asked for"),
        ({"frames_s": [9.0]}, "9 s is outside of the video, which is 3.000 s long; times are in seconds"),
        ({"frames_s": [-0.1]}, "-0.1 s is outside"),
        ({"frames_s": "0.5"}, "object 1: frames_s: "),
        ({"visible": [{"first_s": 0, "last_s": 1}], "frames_s": [2.0]}, "ball: 2.000 s of frames_s is in none of its intervals"),
        ({"visible": [{"first_s": 2, "last_s": 1}]}, "ball: an interval ends before it begins"),
        ({"name": "sign"}, "two objects are called sign"),
        ({"description": "A BLUE bar at the top right"}, "sign: another object has the same description"),
        ({"description": " \n"}, "its description is empty"),
        ({"name": None}, "object 1: name: "),
        ({"frames_s": [10**400]}, "object 1: frames_s.0"),
    ],
)
def test_a_wrong_object_is_a_fault_and_does_not_spoil_the_other(item, fault):
    reading = read(outline(**item))
    assert fault in reading.faults[0]
    assert len(reading.value.objects) == 1


def test_more_than_were_asked_for_are_told_and_the_first_ones_taken():
    told = copy.deepcopy(annotator.SECOND)
    told["objects"] = [told["objects"][0] | {"name": f"ball{number}", "description": f"Ball {number}"} for number in range(5)]
    reading = read(told)
    assert reading.faults[0] == "5 objects, at most 3 were asked for"
    assert [item.name for item in reading.value.objects] == ["ball0", "ball1", "ball2"]


@pytest.mark.parametrize("told", ["[]", "{}", '{"objects": [], "focal_points": []}', '{"objects": 3, "focal_points": []}', "null"])
def test_what_is_no_outline_is_unreadable(told):
    with pytest.raises(Unreadable):
        read(told)


def test_an_outline_is_told_to_the_second_pass_as_it_was_asked_for():
    first = {"objects": annotator.FIRST["objects"], "focal_points": annotator.FIRST["focal_points"]}
    reading = read(first)
    assert reading.faults == () and reading.value.told() == first


JUNK = (None, "", "abc", -1, 0, 5, 1e9, 1e308, [], {}, True, [[]], "\ud83d", "ball")


def spoilt(told, chance: random.Random):
    """The same with one place of it replaced, left out, doubled, or joined by a key that nobody asked for."""
    told = copy.deepcopy(told)
    places = []

    def walk(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    walk(told)
    for _ in range(chance.randint(1, 4)):
        node, key = chance.choice(places)
        if (isinstance(node, list) and key >= len(node)) or (isinstance(node, dict) and key not in node):
            continue
        way = chance.randrange(4)
        if way == 0:
            del node[key]
        elif way == 1 and isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        elif way == 2 and isinstance(node[key], int | float):
            node[key] = node[key] * chance.choice([-1, 0, 0.001, 0.1, 10, 1000])
        else:
            node[key] = copy.deepcopy(chance.choice(JUNK))
    return told


class Finding:
    """A segmenter that finds all objects in one and the same place, or none."""

    proxy, protocol = True, "none"

    def __init__(self, boxes):
        self.boxes = boxes

    def segment(self, mp4, frames, prompts):
        status = "absent" if self.boxes is None else "found"
        return [ObjectTrack(name=prompt.name, status=status, boxes_xyxy=[self.boxes] * frames) for prompt in prompts]


def test_whatever_a_model_says_what_comes_out_is_valid(measured):
    chance, drafts = random.Random(8), 0
    for number in range(100):
        try:
            outline = read(spoilt(annotator.SECOND, chance) if number % 2 else annotator.SECOND).value
            asked = {item.name: item.frames for item in outline.objects}
            marked = {"marks": [annotator.mark("ball", frame / 24) | {"name": name} for name in asked for frame in asked[name]]}
            places = read_places(reply(spoilt(marked, chance)), asked, CLIP, 0.25).value
        except Unreadable:
            continue
        objects = [proposed(item, places[item.name], measured) for item in outline.objects if places.get(item.name)]
        told = focal_points(outline.points, objects, measured)
        proposal = Proposal(clip_id=CLIP.clip_id, status="ok", objects=objects, focal_points=told)
        proposal = Proposal.model_validate_json(proposal.model_dump_json())
        for boxes in (None, (1.0, 1.0, 9.0, 9.0)):
            drafted = followed(proposal, CLIP, Finding(boxes))
            assert [problem for problem in problems(drafted, CLIP, measured) if problem.severity == "error"] == []
        drafts += bool(drafted.objects)
    assert drafts > 25


@pytest.fixture(scope="module")
def measured():
    import numpy as np

    counts = np.random.default_rng(8).integers(0, 3, (CLIP.frames, 22, 40)).astype(np.uint8)
    return Changes(counts, counts, CLIP.width_px, CLIP.height_px)
