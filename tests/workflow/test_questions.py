"""Questions about the demo's clips: killed while they are asked, and run again, nothing is bought twice."""

import os
import signal
import time

import pytest
from loopback import Loopback
from questioned import choosing, endpoint

from codecap.questions.answering import STAGE
from codecap.questions.planned import ORIGINAL
from codecap.questions.sets import Question
from codecap.records import Answer, read_rows, write_rows

pytestmark = pytest.mark.slow

CLIPS = ("A_001", "B_001", "C_001", "E_001", "F_001")
SHARDS = [f"results/6_score/answers/{ORIGINAL}/{bucket}.jsonl" for bucket in ("00", "01")]


def questions(clip_id):
    told = {"clip_id": clip_id, "type": "entity", "options": ["yes", "no", "both"], "source": "the test"}
    return [Question(question_id=f"{clip_id}-{number}", question=f"Question {number}?", answer=number, **told) for number in (0, 1)]


def test_killed_while_it_asks_and_run_again(workflow):
    run = workflow
    write_rows(run.folder / "quiz.jsonl", Question, [question for clip_id in CLIPS for question in questions(clip_id)])
    with Loopback(choosing("yes"), for_s=240) as server:
        run.configure(
            systems=["blank"],
            questions={"sets": {"quiz": {"file": "quiz.jsonl"}}, "answerer": endpoint(server)},
            exchange={"concurrency": 2},
        )
        kill_while_it_asks(run, server)
        paid = server.account.calls
        assert paid == 3
        run.finish(*SHARDS)
        assert (server.account.calls, server.account.twice) == (10, 0)
    rows = [row for shard in SHARDS for row in read_rows(run.folder / shard, Answer)]
    assert sorted((row.clip_id, row.correct) for row in rows) == [(clip_id, right) for clip_id in CLIPS for right in (False, True)]
    assert {row.status for row in rows} == {"ok"}


def kept(run):
    """Answers that are in the store."""
    return list((run.folder / "store" / "durable" / STAGE).rglob("*.json"))


def kill_while_it_asks(run, server):
    """SIGKILL to all of a run, while calls hang and the others have ended: what is in flight then is bought again."""
    server.behave("well", "well", "well", *["hang"] * 4)
    process = run.start(*SHARDS, start_new_session=True)
    try:
        end = time.monotonic() + 90
        while not (server.hanging.is_set() and len(kept(run)) == server.account.calls == 3) and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    server.ways.clear()
    server._next.clear()
