from codecap.annotate.quality import signals
from codecap.annotate.validate import problems
from codecap.records import AnnotatedObject, Annotation, Clip
from codecap.review.queue import look_at

FRAMES = 24
CLIP = Clip(clip_id="A_001", category="A", mp4="a.mp4", sha256="0" * 64, frames=FRAMES, width_px=320, height_px=180)


def still(name, x, description):
    boxes = [(x, 20.0, x + 60.0, 80.0)] * FRAMES
    return AnnotatedObject(name=name, description=description, visible_s=[(0.0, 1.0)], boxes_xyxy=boxes)


def look(*objects):
    annotation = Annotation(clip_id=CLIP.clip_id, objects=list(objects))
    return look_at(annotation, signals(annotation.objects, CLIP), problems(annotation, CLIP))


def test_a_clip_whose_tracks_are_steady_and_right_is_in_no_doubt():
    told = look(still("door", 10.0, "a red door"), still("lamp", 200.0, "a yellow lamp"))
    assert (told.doubt, told.why) == (0.0, [])


def test_an_object_with_an_error_counts_as_the_gravest_doubt():
    """One of four objects has the track of another one: the root of a mean of 1, 0, 0 and 0."""
    things = [still("door", 10.0, "a red door"), still("lamp", 200.0, "a yellow lamp"), still("cat", 100.0, "a black cat")]
    told = look(*things, still("gate", 10.0, "the same red door once more"))
    assert told.doubt == 0.5
    assert "same track as 'door'" in told.why[0]


def test_many_errors_leave_room_for_doubts():
    told = look(*(still(f"thing_{number}", 10.0, f"thing that has number {number} of all") for number in range(9)))
    assert told.doubt == 0.943  # eight of nine: the first one is right
    assert told.why[0].endswith("more errors)") and len(told.why) <= 5
