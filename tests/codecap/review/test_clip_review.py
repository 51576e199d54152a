"""A clip's review: what is kept, in which order, and what two who work on it see of each other."""

import pytest
from under_review import drafted

from codecap.records import AnnotatedObject, RecordError, read_record
from codecap.review import journal
from codecap.review.beginning import BEGUN, DRAFT, Begun
from codecap.review.clip_review import ClipReview, OtherCut, Places, Stale
from codecap.review.edits import Unfit

KEY = ("objects/square", {"keys": {"3": [1, 2, 30, 40]}})


@pytest.fixture
def opens(tmp_path, clip):
    """Opens the clip as a server of its own does."""

    def opened(who="ann", twice=False, draft=drafted, clip=clip) -> ClipReview:
        return ClipReview(clip, Places(tmp_path / "A_001", draft, twice), who)

    return opened


def read(review: ClipReview):
    with review.now():
        return review.revision, review.state


def test_nothing_is_kept_before_the_first_edit(opens, tmp_path):
    assert read(opens()) == (0, read(opens())[1]) and not (tmp_path / "A_001").exists()


def test_an_edit_is_there_for_whoever_opens_the_clip_next(opens, tmp_path):
    opens().change([KEY], 0)
    review = opens()
    revision, state = read(review)
    assert revision == 1 and state.objects["square"].keys == {3: (1, 2, 30, 40)} and state.status == "started"
    assert [(entry.who, entry.path) for entry in review.entries] == [("ann", "objects/square")]
    begun = read_record(tmp_path / "A_001" / BEGUN, Begun)
    assert (begun.clip_id, begun.twice, begun.frames) == ("A_001", False, 120)


def test_edits_of_one_call_are_one_revision_and_all_or_none(opens):
    review = opens()
    review.change([KEY, ("decision/objects/code", "accept")], 0)
    assert [entry.revision for entry in review.entries] == [1, 1]
    with pytest.raises(Unfit):
        review.change([("decision/objects/code", None), ("objects/nobody", None)], 1)
    assert read(opens())[1].chosen_objects == {"code": "accept"}


def test_a_stale_edit_is_refused_and_overwrites_nothing(opens):
    first, second = opens("ann"), opens("bob")
    read(first), read(second)
    first.change([KEY], 0)
    with pytest.raises(Stale) as refused:
        second.change([("objects/square", {"keys": {}})], 0)
    assert refused.value.revision == 1
    revision, state = read(second)
    assert revision == 1 and state.objects["square"].keys


def test_two_people_add_to_one_line_of_revisions_each_in_a_file_of_his_own(opens, tmp_path):
    first, second = opens("ann"), opens("bob")
    first.change([KEY], 0)
    second.change([("objects/square", {"description": "red"})], 1)
    first.change([("decision/objects/square", "edit")], 2)
    for review in (first, second, opens("cid")):
        assert [(entry.who, entry.revision) for entry in (read(review), review.entries)[1]] == [("ann", 1), ("bob", 2), ("ann", 3)]
    assert {path.name for path in (tmp_path / "A_001").glob("*.jsonl")} == {"ann.jsonl", "bob.jsonl"}


def test_copies_of_a_review_that_were_merged_are_told(opens, tmp_path):
    opens("ann").change([KEY], 0)
    path = journal.journal_of(tmp_path / "A_001", "ann")
    other = path.read_text().replace('"ann"', '"bob"')
    path.with_name("bob.jsonl").write_text(other)
    with pytest.raises(RecordError, match=r"bob\.jsonl: has a revision 1 as ann\.jsonl has.*move one"):
        read(opens())
    path.with_name("bob.jsonl").write_text(
        other.replace('"revision":1', '"revision":2').replace("objects/square", "decision/objects/x")
    )
    with pytest.raises(RecordError, match=r"bob\.jsonl: revision 2: decision/objects/x: there is no 'x'.*restore the file"):
        read(opens())


def test_where_two_review_a_clip_neither_sees_the_other(opens):
    first, second = opens("ann", twice=True), opens("bob", twice=True)
    first.change([KEY], 0)
    second.change([("objects/code", None)], 0)
    assert read(opens("ann"))[1].objects["code"] is not None  # and the share may be another one by now
    assert not read(opens("bob"))[1].objects["square"].keys


def test_a_new_draft_does_not_change_a_review_that_has_begun(opens, tmp_path):
    opens().change([KEY], 0)
    other = drafted().model_copy(update={"objects": [AnnotatedObject(name="sun", boxes_xyxy=[None] * 120)]})
    assert list(read(opens(draft=lambda: other))[1].objects) == ["square", "code"]
    assert list(read(ClipReview(opens().clip, Places(tmp_path / "B", lambda: other, False), "ann"))[1].objects) == ["sun"]
    assert (tmp_path / "A_001" / DRAFT).exists()


def test_another_cut_of_the_clip_is_not_taken_for_it(opens, clip):
    opens().change([KEY], 0)
    with pytest.raises(OtherCut, match="move this folder away"):
        read(opens(clip=clip.model_copy(update={"sha256": "0" * 64})))


def test_a_line_that_was_cut_short_is_overwritten_by_the_next(opens, tmp_path):
    opens().change([KEY], 0)
    path = journal.journal_of(tmp_path / "A_001", "ann")
    with path.open("ab") as file:
        file.write(b'{"who":"ann","when":"2026')
    review = opens()
    review.change([("objects/square", {"description": "red"})], read(review)[0])
    assert [entry.revision for entry in journal.read(path).entries] == [1, 2]
    assert path.read_bytes().endswith(b"\n")


def test_what_cannot_be_written_does_not_count(opens, tmp_path, monkeypatch):
    review = opens()
    review.change([KEY], 0)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space"):
        patched.setattr("codecap.review.journal.os.fsync", full)
        review.change([("objects/square", None)], 1)
    assert review.revision == 1 and review.state.objects["square"] is not None
    review.change([("objects/square", {"description": "red"})], 1)
    assert [entry.path for entry in (read(opens()), review.entries)[1]] == ["objects/square"] * 2
