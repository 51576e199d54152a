"""The page's addresses, over HTTP."""

import gzip
import json
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest
from under_review import FRAMES, drafted, number_in

from codecap.annotate.changes import kept
from codecap.records import Annotation, read_record, write_record
from codecap.review.clip_review import now
from codecap.review.posted import LARGEST_BODY

A = "/api/clips/A_001"
KEYED = ("objects/square", {"keys": {"10": [20, 20, 40, 40]}})


def test_the_page_and_its_files(shared):
    assert shared.get("/").headers["content-type"].startswith("text/html") and "<html" in shared.get("/clip/A_001").text
    script = shared.get("/assets/boxes.js")
    assert script.headers["content-type"].startswith("text/javascript") and "shownBoxes" in script.text
    assert shared.get("/assets/report.css").headers["content-type"].startswith("text/css")
    assert shared.get("/assets/theme.js").status_code == 200


def test_the_queue_has_what_the_page_shows(shared):
    told = shared.get("/api/queue").json()
    assert told["who"] == "ann" and told["left"] == 0 and [row["clip_id"] for row in told["clips"]] == ["A_001", "A_002"]
    row = told["clips"][1]
    assert (row["objects"], row["focal_points"], row["frames"], row["category"]) == (2, 2, FRAMES, "A")
    assert row["status"] == "open" and row["held_by"] is None and row["second"] is False and 0 <= row["doubt"] <= 1


def test_a_clip_has_what_the_page_shows(server, clip):
    told = server.get(A, params={"tab": "one"}).json()
    assert told["clip"] == {
        "clip_id": "A_001", "category": "A", "frames": FRAMES, "width_px": 96, "height_px": 64, "sha256": clip.sha256
    }  # fmt: skip
    square = told["annotation"]["objects"][0]
    assert square["name"] == "square" and len(square["base"]) == FRAMES and square["keys"] == {} and square["visible_s"] == [[0, 5]]
    assert told["annotation"]["decision"] == {"objects": {}, "focal_points": {}} and told["revision"] == 0
    assert told["hold"] == {"mine": False, "by": None, "tab": None} and told["history"] == [] and told["reviews"] == []
    assert told["changes"] == [] and told["problems"] == []


def test_what_changes_comes_when_it_is_measured(server):
    told = server.get(f"{A}/changes").json()
    assert len(told["changes"]) == FRAMES and max(told["changes"]) > 0
    assert server.get(A).json()["changes"] == told["changes"]


def test_what_was_measured_before_is_not_measured_again(server, run, clip, monkeypatch):
    kept(clip, Path(run["store"]["bulk"]))
    monkeypatch.setattr(server.desk, "_measuring", None)  # nothing to measure with
    assert len(server.get(f"{A}/changes").json()["changes"]) == FRAMES
    monkeypatch.undo()


def test_edits_are_kept_and_an_approval_is_written(server, run, tmp_path):
    edited = server.edit("A_001", 0, KEYED, ("decision/objects/code", "reject"))
    assert edited.status_code == 200 and edited.json()["revision"] == 1 and edited.json()["status"] == "started"
    told = server.decide("A_001", 1, "approve", note="the code is no object").json()
    assert (told["status"], told["revision"], told["waits_for"]) == ("approved", 2, None)
    written = read_record(tmp_path / "approved" / "A_001.json", Annotation)
    assert [item.name for item in written.objects] == ["square"] and written.proposer == "embedded 2"
    assert written.objects[0].boxes_xyxy[10] == (20, 20, 40, 40)
    (review,) = written.reviews
    assert review.who == "ann" and review.changed == "edited 1 object; rejected 1; approved: the code is no object"
    assert review.when[:13] == now()[:13]
    again = server.get(A).json()
    assert again["status"] == "approved" and again["decided"]["note"] == "the code is no object"
    assert [entry["what"] for entry in again["history"]] == [
        "object square: keys", "object code: reject", "approved: the code is no object"
    ]  # fmt: skip
    assert server.get("/api/queue").json()["clips"][-1]["status"] == "approved"


def test_errors_block_an_approval_and_warnings_do_not(server, tmp_path):
    server.edit("A_001", 0, ("focal_points/f2", {"objects": ["square", "ghost"]}))
    refused = server.decide("A_001", 1, "approve")
    assert refused.status_code == 422 and "ghost" in refused.json()["why"]
    assert [problem["rule"] for problem in refused.json()["problems"] if problem["severity"] == "error"] == ["unknown_object"]
    assert not (tmp_path / "approved").exists() and server.get(A).json()["revision"] == 1
    server.edit("A_001", 1, ("focal_points/f2", None))  # no dynamic point: a warning
    assert server.decide("A_001", 2, "approve").status_code == 200


def test_what_is_ended_must_be_reopened_and_a_rejection_takes_the_file_away(server, tmp_path):
    assert server.decide("A_001", 0, "reopen").status_code == 422
    server.decide("A_001", 0, "approve")
    refused = server.edit("A_001", 1, KEYED)
    assert refused.status_code == 422 and "reopen it" in refused.json()["why"]
    assert server.decide("A_001", 1, "reject").status_code == 422
    assert server.decide("A_001", 1, "reopen").json()["status"] == "started"
    assert server.decide("A_001", 2, "reject", note="not 2D").json()["status"] == "rejected"
    assert not (tmp_path / "approved" / "A_001.json").exists()
    assert server.get("/api/queue").json()["clips"][-1]["status"] == "rejected"


def test_a_stale_edit_is_refused(server):
    server.edit("A_001", 0, KEYED)
    stale = server.edit("A_001", 0, ("objects/square", None))
    assert stale.status_code == 409 and stale.json()["revision"] == 1 and "nothing was overwritten" in stale.json()["why"]
    assert server.get(A).json()["annotation"]["objects"][0]["keys"] == {"10": [20, 20, 40, 40]}


def test_edits_that_are_sent_again_because_an_answer_was_lost_count_once(server):
    first = server.edit("A_001", 0, KEYED, batch="mine").json()
    again = server.edit("A_001", 0, KEYED, batch="mine")
    assert again.status_code == 200 and again.json() == first and server.get(A).json()["batch"] == "mine"
    assert server.edit("A_001", 1, ("objects/code", None)).status_code == 200
    assert server.edit("A_001", 0, KEYED, batch="mine").status_code == 409  # others came after
    assert server.get(A).json()["revision"] == 2


def test_nobody_edits_or_approves_a_draft_that_he_does_not_see(opening, tmp_path):
    seen = opening("ann").draft("A_001")
    other = drafted().model_copy(update={"objects": drafted().objects[:1]})
    write_record(tmp_path / "drafts" / "A_001.json", other)
    server = opening("ann")  # started anew while the page was open
    for answer in (server.edit("A_001", 0, KEYED, draft=seen), server.decide("A_001", 0, "approve", draft=seen)):
        assert answer.status_code == 409 and "new draft" in answer.json()["why"]
    assert server.edit("A_001", 0, KEYED).status_code == 200


def test_a_draft_with_numbers_that_are_none_is_told(server, tmp_path):
    path = tmp_path / "drafts" / "A_002.json"
    path.write_text(path.read_text().replace("44.0", "NaN", 1))
    answer = server.get("/api/clips/A_002")
    assert answer.status_code == 422 and "the draft of A_002: object 'square': nan is no place" in answer.json()["why"]


def test_of_edits_at_the_same_moment_one_counts(server):
    found: list[int] = []
    editing = [threading.Thread(target=lambda: found.append(server.edit("A_001", 0, KEYED).status_code)) for _ in range(6)]
    for thread in editing:
        thread.start()
    for thread in editing:
        thread.join(30)
    assert sorted(found) == [200, 409, 409, 409, 409, 409] and server.get(A).json()["revision"] == 1


def test_two_tabs_on_one_clip(server):
    assert server.post(f"{A}/hold", tab="one").json() == {"mine": True, "by": "ann", "tab": "one"}
    assert server.post(f"{A}/hold", tab="two").json() == {"mine": False, "by": "ann", "tab": "one"}
    refused = server.edit("A_001", 0, KEYED, tab="two")
    assert refused.status_code == 409 and refused.json()["hold"]["tab"] == "one" and refused.json()["revision"] == 0
    assert server.get("/api/queue").json()["clips"][0]["held_by"] == "ann"
    assert server.post(f"{A}/hold", tab="two", take=True).json()["mine"]
    assert server.edit("A_001", 0, KEYED, tab="two").status_code == 200
    assert server.edit("A_001", 1, KEYED, tab="one").status_code == 409
    assert server.get(A, params={"tab": "two"}).json()["hold"]["mine"]
    server.post(f"{A}/release", tab="two")
    assert server.edit("A_001", 1, KEYED, tab="one").status_code == 200


def test_two_people_with_servers_of_their_own(opening):
    ann, bob = opening("ann"), opening("bob")
    ann.edit("A_001", 0, KEYED)
    refused = bob.edit("A_001", 1, ("objects/square", None), tab="two")
    assert refused.status_code == 409 and refused.json()["hold"]["by"] == "ann"
    assert bob.get("/api/queue").json()["clips"][-1]["held_by"] in ("ann", None)
    assert bob.post(f"{A}/hold", tab="two", take=True).json()["mine"]
    told = bob.edit("A_001", 1, ("objects/square", {"description": "a very red square"}), tab="two")
    assert told.json()["revision"] == 2
    shown = ann.get(A).json()
    assert shown["annotation"]["objects"][0]["description"] == "a very red square" and shown["hold"]["by"] == "bob"
    assert [entry["who"] for entry in shown["history"]] == ["ann", "bob"]


def test_who_ends_a_review_after_another_is_no_second_version(opening):
    ann, bob = opening("ann"), opening("bob")
    ann.decide("A_001", 0, "approve")
    for revision, decision in enumerate(("reopen", "approve"), start=1):
        assert bob.post(f"{A}/hold", tab="two", take=True).json()["mine"]
        assert bob.decide("A_001", revision, decision, tab="two").status_code == 200
    assert ann.get(A).json()["reviews"] == [] and ann.get(A, params={"of": "bob"}).status_code == 422


def test_a_clip_that_both_reject_is_rejected_by_the_third_step(opening, tmp_path):
    ann, bob, cid = opening("ann", twice=1), opening("bob", twice=1), opening("cid", twice=1)
    for one in (ann, bob):
        assert one.decide("A_001", 0, "reject").json()["status"] == "rejected"
    refused = cid.edit("A_001", 0, KEYED)
    assert refused.status_code == 422 and "ann and bob have finished" in refused.json()["why"]
    assert "rejected it" in cid.decide("A_001", 0, "approve", of="ann").json()["why"]
    assert cid.decide("A_001", 0, "reject", of="ann").json()["status"] == "rejected"
    rows = {row["clip_id"]: row for row in bob.get("/api/queue").json()["clips"]}
    assert rows["A_001"]["status"] == "rejected" and rows["A_001"]["why"][0] == "the version of ann holds"
    assert cid.get(A).json()["history"][-1]["what"] == "rejected as ann did" and not (tmp_path / "approved").exists()
    assert [(one["who"], one["holds"]) for one in cid.get(A).json()["reviews"]] == [("ann", True), ("bob", False)]


def test_two_review_a_clip_blind_and_a_third_step_settles_it(opening, tmp_path):
    ann, bob, cid = opening("ann", twice=1), opening("bob", twice=1), opening("cid", twice=1)
    approved = tmp_path / "approved" / "A_001.json"
    ann.edit("A_001", 0, KEYED)
    assert bob.edit("A_001", 0, ("decision/objects/code", "reject")).status_code == 200  # each holds his own
    assert bob.get(A).json()["annotation"]["objects"][0]["keys"] == {} and len(bob.get(A).json()["history"]) == 1
    assert cid.post(f"{A}/hold", tab="one").json() == {"mine": False, "by": "ann and bob", "tab": None}
    assert bob.decide("A_001", 1, "approve", of="ann").status_code == 422  # not before both have finished
    first = ann.decide("A_001", 1, "approve").json()
    assert first["status"] == "approved" and first["waits_for"] == "a second reviewer" and not approved.exists()
    assert bob.get(A, params={"of": "ann"}).status_code == 422 and bob.get(A).json()["reviews"] == []
    assert "third step" in bob.decide("A_001", 1, "approve").json()["waits_for"] and not approved.exists()
    shown = cid.get(A, params={"of": "ann"}).json()
    assert [review["who"] for review in shown["reviews"]] == ["ann", "bob"] and not shown["hold"]["mine"]
    assert shown["annotation"]["objects"][0]["keys"]
    settled = cid.decide("A_001", 0, "approve", of="ann", note="closer").json()
    assert settled["status"] == "approved" and settled["waits_for"] is None
    written = read_record(approved, Annotation)
    assert len(written.objects) == 2 and [review.who for review in written.reviews] == ["ann", "cid"]
    assert written.reviews[1].changed == "approved the version of ann: closer"
    rows = {row["clip_id"]: row for row in bob.get("/api/queue").json()["clips"]}
    assert rows["A_001"]["status"] == "approved" and rows["A_001"]["second"] and rows["A_002"]["status"] == "open"


def test_frames_and_the_video(shared, clip):
    for frame in (0, 63, 119):
        answer = shared.get(f"/frames/A_001/{frame}.jpg", params={"v": clip.sha256[:12]})
        rgb = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR_RGB)
        assert number_in(rgb) == frame and "immutable" in answer.headers["cache-control"]
    assert shared.get("/frames/A_001/0.jpg").headers["cache-control"] == "no-cache"
    whole = clip.mp4.read_bytes()
    part = shared.get("/video/A_001.mp4", headers={"Range": "bytes=100-199"})
    assert part.status_code == 206 and part.content == whole[100:200]
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole)}" and part.headers["content-type"] == "video/mp4"
    assert shared.get("/video/A_001.mp4").content == whole


def test_an_object_is_followed_from_a_corrected_frame(server):
    server.edit("A_001", 0, ("objects/square", {"base": [None] * FRAMES, "visible_s": [[0, 4]]}))
    told = server.post(f"{A}/segment", tab="one", object="square", frame=40, box=[20, 24, 40, 44], points=[[30, 34, 1]]).json()
    base = told["base"]
    assert base[60] == pytest.approx((25, 24, 45, 44), abs=3) and base[0] == pytest.approx((10, 24, 30, 44), abs=3)
    assert base[96:] == [None] * 24 and server.get(A).json()["revision"] == 1
    assert server.edit("A_001", 1, ("objects/square", {"base": base})).status_code == 200
    refused = server.post(f"{A}/segment", tab="one", object="ghost", frame=0, box=[0, 0, 4, 4], points=[])
    assert refused.status_code == 422 and "ghost" in refused.json()["why"]


def edits(*told: object, revision: int = 0) -> dict:
    return {"draft": "x", "revision": revision, "batch": "b", "edits": list(told)}


HUGE = 1.7e308


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [
        ("hold", {"tab": "../one"}, 400),
        ("hold", {"tab": "x" * 65}, 400),
        ("hold", {"tab": None}, 400),
        ("edits", edits(), 400),
        ("edits", edits({"path": "objects/a", "value": None}, revision=-1), 400),
        ("edits", edits({"path": "status", "value": {"decision": "approve"}}), 400),
        ("edits", edits({"path": "objects/a"}), 400),
        ("edits", edits({"path": "objects/" + "é" * 4000, "value": {}}), 400),
        ("edits", edits({"path": "objects/a", "value": {}}) | {"batch": "a b"}, 400),
        ("edits", edits({"path": "objects/a", "value": {}}), 409),  # of another draft
        ("segment", {"object": "square", "frame": 0, "box": [4, 4, 4, 4]}, 400),
        ("segment", {"object": "square", "frame": 0, "box": [0, 0, HUGE, 4]}, 400),
        ("segment", {"object": "square", "frame": 0, "box": None, "points": [[1, 1, 0]]}, 400),
        ("segment", {"object": "square", "frame": 0}, 422),
        ("segment", {"object": "square", "frame": 120, "box": [0, 0, 4, 4]}, 422),
        ("decide", {"draft": "x", "revision": 0, "decision": "publish"}, 400),
    ],
)
def test_what_the_page_would_not_post_is_refused_in_words(shared, action, body, status):
    answer = shared.client.post(f"{A}/{action}", json={"tab": "one", **body})
    assert answer.status_code == status and answer.json()["why"]
    assert shared.get(A).json()["revision"] == 0


@pytest.mark.parametrize(
    "edit",
    [
        ("objects/square", {"visible_s": [[0, HUGE]]}),
        ("objects/square", {"keys": {"0": [-HUGE, 0, HUGE, 1]}}),
        ("objects/square", {"base": [[0, 0, HUGE, 1]] * FRAMES}),
        ("focal_points/f1", {"end_s": HUGE}),
    ],
)
def test_numbers_that_nothing_could_be_computed_with_are_refused(shared, edit):
    answer = shared.edit("A_001", 0, edit)
    assert answer.status_code == 422 and "less than or equal to" in answer.json()["why"]
    assert shared.get(A).json()["revision"] == 0


def test_bodies_are_json_and_bounded(shared):
    def post(content: bytes, kind: str = "application/json", action: str = "edits"):
        answer = shared.client.post(f"{A}/{action}", content=content, headers={"Content-Type": kind})
        assert answer.json()["why"]
        return answer.status_code

    assert post(b"{", action="hold") == 400 and post(b'{"tab":"one"}', "text/plain", "hold") == 400
    begin = f'{{"tab":"one","draft":"{shared.draft("A_001")}","revision":0,"batch":"b","edits":[{{"path":"objects/'.encode()
    assert post(begin + b'a","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}") == 400
    assert post(b" " * (LARGEST_BODY + 1)) == 413
    assert post(begin + b'half\\ud83d","value":{"keys":{}}}]}') == 400
    assert post(begin + b'a","value":{"keys":{"0":[0,0,1e999,1]}}}]}') == 422
    assert shared.get(A).json()["revision"] == 0


def test_unknown_clips_and_addresses(shared):
    for path in ("/api/clips/A_999", "/api/clips/A_999/changes", "/frames/A_999/0.jpg", "/video/A_999.mp4", "/api", "/x"):
        assert shared.get(path).status_code == 404 and shared.get(path).json()["why"]
    assert shared.post("/api/clips/A_999/hold", tab="one").status_code == 404
    assert shared.client.post("/api/queue").status_code == 405


def test_large_answers_are_packed(server):
    with server.client.stream("GET", A, headers={"Accept-Encoding": "gzip"}) as answer:
        plain = len(b"".join(answer.iter_raw()))
        packed = answer.headers.get("content-encoding")
    long = [[0.123, 0.456, 90.5, 60.25]] * FRAMES
    server.edit("A_001", 0, *[(f"objects/o{n}", {"base": long}) for n in range(20)])
    with server.client.stream("GET", A, headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip" and len(json.loads(gzip.decompress(raw))["annotation"]["objects"]) == 22
    assert packed is None and plain < 32 << 10


def test_a_clip_can_be_looked_at_where_nothing_can_be_written(server, monkeypatch):
    def read_only(folder):
        raise OSError(30, "Read-only file system", str(folder))

    with monkeypatch.context() as patched:
        patched.setattr("codecap.store.make_folder", read_only)
        refused = server.post(f"{A}/hold", tab="one")
        assert refused.status_code == 507 and refused.json()["why"].endswith("reviews/A_001: Read-only file system")
        assert server.get(A).status_code == 200 and server.get("/api/queue").status_code == 200


def test_a_disk_that_cannot_be_written_is_told_and_nothing_counts(server, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("codecap.review.journal.os.fsync", full)
        answer = server.edit("A_001", 0, KEYED)
    assert answer.status_code == 507 and "No space left" in answer.json()["why"]
    assert server.get(A).json()["revision"] == 0 and server.edit("A_001", 0, KEYED).status_code == 200
