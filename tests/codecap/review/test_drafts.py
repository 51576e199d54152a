"""Where drafts come from, and what the queue makes of them."""

import pytest
from under_review import FRAMES, drafted

from codecap.clips_table import write_clips
from codecap.errors import UserError
from codecap.records import AnnotatedObject, Annotation, Review, write_record, write_rows
from codecap.review import drafts, queue


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proposers(found: drafts.Drafts) -> dict[str, str]:
    return {clip_id: one.draft().proposer for clip_id, one in found.clips.items()}


def of(clip_id: str, proposer: str, **more) -> Annotation:
    return drafted(clip_id).model_copy(update={"proposer": proposer, **more})


def test_a_data_set_in_the_making_then_proposals_then_approved_ones(folder, run, clip):
    stage = folder / "results" / "3_annotate"
    assert proposers(drafts.find(run)) == {"A_001": "", "A_002": ""}  # empty: nothing was drafted
    write_record(folder / "approved" / "A_001.json", of("A_001", "approved"))
    assert proposers(drafts.find(run)) == {"A_001": "approved", "A_002": ""}
    write_rows(stage / "proposed" / "00.jsonl", Annotation, [of("A_001", "row"), of("A_002", "row")])
    assert proposers(drafts.find(run)) == {"A_001": "approved", "A_002": "row"}
    write_clips(stage / "clips.tsv", [clip.model_copy(update={"clip_id": "A_003"})])
    write_record(stage / "annotations" / "A_003.json", of("A_003", "data set"))
    assert proposers(drafts.find(run)) == {"A_003": "data set"}


def test_a_folder_goes_before_all(folder, run):
    write_record(folder / "approved" / "A_001.json", of("A_001", "approved"))
    found = drafts.find(run, folder / "drafts")
    assert proposers(found) == {"A_001": "embedded 2", "A_002": "embedded 2"} and not found.approved_first
    with pytest.raises(UserError, match="no such folder"):
        drafts.find(run, folder / "none")


def test_a_draft_with_too_few_or_too_many_boxes_is_made_to_fit(clip):
    boxes = [(0.0, 0.0, 1.0, 1.0)]
    odd = [AnnotatedObject(name="few", boxes_xyxy=boxes * 2), AnnotatedObject(name="many", boxes_xyxy=boxes * 500)]
    few, many = drafts.fitted(Annotation(clip_id="A_1", objects=odd), clip).objects
    assert few.boxes_xyxy == boxes * 2 + [None] * (FRAMES - 2) and many.boxes_xyxy == boxes * FRAMES


def test_the_queue_tells_doubts_and_what_is_approved(folder, run):
    jumping = of("A_001", "x").objects[0].boxes_xyxy.copy()
    jumping[60:] = [(box[0] + 30, box[1], box[2] + 30, box[3]) for box in jumping[60:]]
    write_record(folder / "drafts" / "A_001.json", of("A_001", "x", objects=[AnnotatedObject(name="square", boxes_xyxy=jumping)]))
    looks = queue.Looks(drafts.find(run, folder / "drafts"))
    found, left = looks.now(30)
    assert left == 0 and found["A_001"].doubt > found["A_002"].doubt and "square: jumps" in found["A_001"].why[0]
    write_record(folder / "approved" / "A_002.json", of("A_002", "y", reviews=[Review(who="ann", when="2026", changed="")]))
    (folder / "drafts" / "A_001.json").write_text("{")
    again, left = queue.Looks(drafts.find(run)).now(30)
    assert left == 0 and again["A_002"].reviewed and again["A_001"].why == ["no objects: nothing was drafted, or nothing found"]


def test_a_draft_that_cannot_be_read_is_told_in_the_queue(folder, run):
    (folder / "drafts" / "A_001.json").write_text('{"clip_id": 3}')
    found, left = queue.Looks(drafts.find(run, folder / "drafts")).now(30)
    assert left == 0 and found["A_001"].doubt == 1 and "A_001.json: not a valid Annotation" in found["A_001"].why[0]
    assert found["A_002"].objects == 2


def test_the_most_doubtful_comes_first_and_what_is_done_last():
    rows = [
        {"clip_id": clip_id, "status": status, "doubt": doubt}
        for clip_id, status, doubt in [("a", "approved", 1), ("b", "open", 0.2), ("c", "started", 0.7), ("d", "open", 0.2)]
    ]
    assert [row["clip_id"] for row in queue.in_order(rows)] == ["c", "b", "d", "a"]
