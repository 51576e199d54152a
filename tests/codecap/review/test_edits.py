"""Edits and their inverses, and those that cannot be."""

import pytest

from codecap.records import AnnotatedObject, Annotation, FocalPoint
from codecap.review.edits import Unfit, applied, in_few_words
from codecap.review.state import Converter, State, rejected

FRAMES = 4
BOX = (0.0, 0.0, 2.0, 2.0)


def draft() -> Annotation:
    whole = [(0.0, 0.0, 4.0, 4.0)] * FRAMES
    objects = [
        AnnotatedObject(name=name, description=name, boxes_xyxy=[BOX] * FRAMES, amodal_xyxy=whole)
        for name in ("ball", "cup", "hat")
    ]
    points = [FocalPoint(focal_id="f1", kind="static", description="it rests", start_s=0.0, end_s=1.0, objects=["cup"])]
    return Annotation(clip_id="A_1", objects=objects, focal_points=points)


def after(*edits, state=None) -> State:
    state = state or State.of(draft())
    for path, value in edits:
        state = applied(state, path, value, FRAMES)
    return state


def names(state: State) -> list[str]:
    return [item.name for item in state.present_objects()]


def test_fields_that_are_not_given_stay():
    state = after(("objects/cup", {"keys": {"1": [1, 0, 3, 2], "3": None}}))
    cup = state.objects["cup"]
    assert cup.keys == {1: (1, 0, 3, 2), 3: None} and cup.base == [BOX] * FRAMES and cup.description == "cup"
    assert state.status == "started"
    assert after(("objects/cup", {"keys": {}}), state=state).objects["cup"] == State.of(draft()).objects["cup"]


def test_a_removed_object_comes_back_to_its_place():
    state = after(("objects/cup", None))
    assert names(state) == ["ball", "hat"]
    again = after(("objects/cup", {"description": "cup", "base": None, "keys": {}, "visible_s": [[0, 1]]}), state=state)
    assert names(again) == ["ball", "cup", "hat"]


def test_a_renamed_object_keeps_place_and_decision_and_origin():
    state = after(("decision/objects/cup", "accept"), ("objects/cup", {"name": "mug/tea"}))
    assert names(state) == ["ball", "mug/tea", "hat"] and state.chosen_objects == {"mug/tea": "accept"}
    assert rejected(state, draft()) == frozenset()
    back = after(("objects/mug/tea", {"name": "cup"}), state=state)
    assert names(back) == ["ball", "cup", "hat"] and back.chosen_objects == {"cup": "accept"} and not back.drafted_as


def test_a_new_object_and_a_new_point_come_last():
    state = after(("objects/sun", {"description": "", "keys": {"0": [0, 0, 1, 1]}}))
    assert names(state) == ["ball", "cup", "hat", "sun"] and state.objects["sun"].base is None
    point = {"kind": "dynamic", "description": "it moves", "start_s": 0.5, "end_s": 1, "objects": ["sun"]}
    assert [one.focal_id for one in after(("focal_points/f2", point)).present_points()] == ["f1", "f2"]


def test_what_is_rejected_stays_and_is_left_out_of_the_annotation():
    state = after(("decision/objects/hat", "reject"), ("objects/ball", None), ("decision/focal_points/f1", "reject"))
    assert names(state) == ["cup", "hat"]
    annotation = Converter(FRAMES, (64, 64)).annotation(state, draft())
    assert [item.name for item in annotation.objects] == ["cup"] and not annotation.focal_points
    assert rejected(state, draft()) == {"objects/hat", "objects/ball", "focal_points/f1"}
    assert after(("decision/objects/hat", None), state=state).chosen_objects == {}


def test_the_whole_box_is_known_as_long_as_nobody_changes_the_visible_one():
    convert = Converter(FRAMES, (64, 64))
    kept, keyed, anew = (
        convert.annotation(state, draft()).objects[0].amodal_xyxy
        for state in (
            after(("objects/ball", {"description": "round"})),
            after(("objects/ball", {"keys": {0: [0, 0, 1, 1]}})),
            after(("objects/ball", {"base": [None] * 3 + [BOX]})),
        )
    )
    assert kept == draft().objects[0].amodal_xyxy and keyed is None and anew is None


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("objects/sun", None, "is not there"),
        ("objects/cup", [1], "must be an object of fields"),
        ("objects/cup", {"colour": "red"}, "colour"),
        ("objects/cup", {"name": "ball"}, "'ball' is taken"),
        ("objects/cup", {"name": ""}, "name"),
        ("objects/cup", {"name": None}, "name cannot be null"),
        ("objects/cup", {"keys": None}, "keys cannot be null"),
        ("objects/cup", {"keys": {"4": None}}, "a key on frame 4, the clip has frames 0 to 3"),
        ("objects/cup", {"keys": {"-1": None}}, "frame -1"),
        ("objects/cup", {"keys": {"0": [0, 0, 1]}}, "keys"),
        ("objects/cup", {"keys": {"0": [0, 0, 1, float("inf")]}}, "finite"),
        ("objects/cup", {"base": [BOX]}, "1 boxes for a clip of 4 frames"),
        ("objects/cup", {"description": "x" * 4001}, "4000"),
        ("objects/" + "x" * 201, {"keys": {}}, "200"),
        ("focal_points/f1", {"end_s": 0}, "not after start_s"),
        ("focal_points/f1", {"description": ""}, "description"),
        ("focal_points/f2", {"kind": "static"}, "description"),
        ("focal_points/f1", {"kind": "moving"}, "kind"),
        ("decision/objects/sun", "accept", "no 'sun' to decide about"),
        ("decision/objects/cup", "maybe", "accept, edit, reject or null"),
        ("decision/clips/cup", "accept", "no place"),
        ("objects/", {}, "no place"),
        ("clip_id", "A_2", "no place"),
        ("status", {"decision": "publish"}, "decision"),
    ],
)
def test_what_cannot_be_is_refused_in_words(path, value, why):
    with pytest.raises(Unfit, match=why):
        after((path, value))


def test_a_history_says_what_was_done():
    assert in_few_words("objects/ball", {"visible_s": [], "keys": {}}) == "object ball: visible, keys"
    assert in_few_words("focal_points/f1", None) == "focal point f1: removed"
    assert in_few_words("decision/objects/a/b", None) == "object a/b: undecided"
    assert in_few_words("status", {"decision": "reopen", "note": ""}) == "reopened"
    assert in_few_words("status", {"decision": "approve", "note": "fine", "of": "bob"}) == "approved the version of bob: fine"
