"""What two reviewers made of a clip, read from their journals."""

from under_review import drafted

from codecap.review.clip_review import ClipReview, Places
from codecap.review.pairs import pairs


def test_pairs_are_the_versions_before_one_saw_the_other(clip, tmp_path):
    def review(who: str, clip_id: str = "A_001", twice: bool = True) -> ClipReview:
        of = clip.model_copy(update={"clip_id": clip_id})
        return ClipReview(of, Places(tmp_path / clip_id, lambda: drafted(clip_id), twice), who)

    bob, ann = review("bob"), review("ann")
    bob.change([("objects/code", None), ("objects/square", {"name": "red square"})], 0)
    ann.change([("decision/focal_points/f2", "reject"), ("objects/square", {"visible_s": [[0, 1]]})], 0)
    assert pairs(tmp_path) == []
    ann.change([("status", {"decision": "approve", "note": ""})], 1)
    assert pairs(tmp_path) == []
    bob.change([("status", {"decision": "approve", "note": ""})], 1)
    bob.change([("status", {"decision": "reopen", "note": ""})], 2)
    bob.change([("objects/code", {"description": "bits"}), ("status", {"decision": "approve", "note": ""})], 3)
    review("cid").change([("status", {"decision": "approve", "note": "", "of": "bob"})], 0)
    review("ann", "A_002", twice=False).change([("status", {"decision": "approve", "note": ""})], 0)
    ((first, second),) = pairs(tmp_path)
    by_name = {work.who: work for work in (first, second)}
    assert set(by_name) == {"ann", "bob"} and first.draft == second.draft == drafted()
    assert by_name["ann"].rejected == {"focal_points/f2"} and by_name["bob"].rejected == {"objects/code"}
    assert [item.name for item in by_name["bob"].annotation.objects] == ["red square"]
    assert by_name["ann"].annotation.objects[0].boxes_xyxy[24:] == [None] * 96


def test_a_clip_that_was_rejected_as_a_whole(clip, tmp_path):
    for who, decision in (("ann", "reject"), ("bob", "approve")):
        review = ClipReview(clip, Places(tmp_path / "A_001", drafted, True), who)
        review.change([("status", {"decision": decision, "note": ""})], 0)
    works = {work.who: work for work in pairs(tmp_path)[0]}
    assert works["ann"].rejected == {"objects/square", "objects/code", "focal_points/f1", "focal_points/f2"}
    assert not works["ann"].annotation.objects and not works["bob"].rejected
