"""A shard of clips: rows in order, kept in the store; a clip that cannot be had does not hold up the others."""

import pytest
from loopback import Loopback, annotator

from codecap.annotate.drafts import follow_shard
from codecap.annotate.proposals import propose_shard
from codecap.annotate.proposers import asks
from codecap.exchange import session
from codecap.records import Annotation
from codecap.score.engine.choice import Choice


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return annotator.film(tmp_path_factory.mktemp("clips") / "T_001.mp4")


def rows_of(clips, server, store):
    settings = {"endpoint": {"api": "openai", "model": "m", "base_url": server.base_url(), "timeout_s": 5}}
    with session(store, {"tries": 1}):
        return list(propose_shard(clips, "mllm", settings, "code", store))


def test_each_clip_has_a_row_and_is_paid_for_once(clip, tmp_path):
    gone = clip.model_copy(update={"clip_id": "T_000", "mp4": tmp_path / "gone.mp4"})
    with Loopback(annotator.seeing()) as server:
        lost, found = rows_of([gone, clip], server, tmp_path)
        assert (lost.clip_id, lost.retry, lost.objects) == ("T_000", True, []) and "gone.mp4" in lost.status
        assert (found.clip_id, found.status, len(found.objects)) == ("T_001", "ok", 2)
        assert rows_of([clip], server, tmp_path) == [found]
        assert server.account.calls == 3
    known = Annotation(clip_id="T_000")
    drafts = follow_shard(
        [gone, clip, clip.model_copy(update={"clip_id": "T_002"})],
        {row.clip_id: row for row in (lost, found)},
        Choice("color", {}, "c"),
        "code",
        tmp_path,
        known=lambda asked: known if asked.clip_id == "T_000" else None,
    )
    first, second = drafts  # T_002 was never proposed
    assert first == known and {item.name for item in second.objects} == {"ball", "sign"}


def test_a_clip_of_which_nothing_can_be_used_says_why_and_is_not_asked_for_ever(clip, tmp_path):
    with Loopback(annotator.seeing()) as server:
        server.otherwise = "prose"
        (row,) = rows_of([clip], server, tmp_path)
        assert not row.retry and "no usable answer in 3 asks" in row.status
        paid = server.account.calls
        assert rows_of([clip], server, tmp_path) == [row]
        assert server.account.calls == paid


def test_a_service_that_is_down_is_tried_again(clip, tmp_path):
    with Loopback(annotator.seeing()) as server:
        server.behave("500")
        (row,) = rows_of([clip], server, tmp_path)
        assert row.retry and "500" in row.status
        (row,) = rows_of([clip], server, tmp_path)
        assert row.status == "ok"


def test_which_proposers_ask():
    assert asks({"proposer": "mllm"})
    assert not asks({"proposer": "embedded"})
    assert not asks({"proposer": "no_such"})
