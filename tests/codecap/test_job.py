"""A job's shard: what its journal says at each end, that it stops between items, and that what failed for good is not repeated."""

import errno
import logging
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from codecap import job, shards, stopping
from codecap.deadline import TIMED
from codecap.errors import UserError
from codecap.render.failures import BrowserMissing
from codecap.shards import Journals, Mark
from codecap.store import StoreError

NAME = "render_captions/a/00"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A run's folder that a run holds; loggers and handlers are as before afterwards."""
    monkeypatch.chdir(tmp_path)
    for name in ("SLURM_JOB_ID", "SLURM_JOB_END_TIME", TIMED):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / ".lock").write_text("1")
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    signals = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    yield tmp_path
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    for number, handler in signals.items():
        signal.signal(number, handler)
    stopping.forget()


def shard(attempt=1, this_try=0, runtime=60, stop_before_s=120, **told):
    config = {"store": {"durable": "store/durable", "bulk": "store/bulk"}, "cluster": {"stop_before_s": stop_before_s}}
    resources = {"attempt": attempt, "runtime": runtime}
    return job.shard("render_captions", ["a", "00"], ["log"], resources, {"this_try": this_try}, config, **told)


def mark() -> Mark:
    return Journals(shards.SHARDS).read(NAME)


def test_from_start_to_end(folder, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    with shard(this_try=3, attempt=2) as mine:
        begun = mark()
        assert (begun.state, begun.this_try, begun.attempt, begun.slurm_job) == ("running", 3, 2, "41")
        assert (begun.pid, begun.log, begun.ended, begun.run) == (os.getpid(), "log", 0, shards.this_run())
        assert abs(begun.started - time.time()) < 5
        assert list(mine.counted(iter("abc"), "renders", 3)) == ["a", "b", "c"]
        assert mark().total == 3
        named = [Path("store/bulk/render/x.mp4"), None, Path("store/durable/generate/x.html"), folder / "elsewhere.mp4"]
        mine.settle("renders", files=named)
    ended = mark()
    assert (ended.state, ended.done, ended.total, ended.unfinished) == ("finished", 3, 3, False)
    assert ended.files == ("store/bulk/render/x.mp4", "store/durable/generate/x.html")  # as rows name them
    assert ended.ended >= ended.started


def test_failures_of_ours_are_told_and_counted(capsys):
    with shard() as mine:
        rows = list(mine.counted(range(4), "renders of a", 4))
        mine.settle("renders of a", [(f"A_00{row}", "no browser" if row else "disk") for row in rows])
    assert (mark().unfinished, mark().failures) == (True, {"no browser": 3, "disk": 1})
    told = capsys.readouterr().err
    assert told == "codecap: renders of a: tried again at the next run: A_000: disk (and 3 more)\n"
    assert Journals(shards.SHARDS).next_try(NAME) == 1


def test_failures_count_clips_and_are_told_without_what_is_one_clips_own():
    with shard() as mine:
        rows = [
            (clip, f"store/bulk/render/a/_0/{clip}.k.mp4: cannot be read", metric) for clip in ("A_1", "B_2") for metric in "xy"
        ]
        mine.settle("scores of a", rows)
    assert mark().failures == {"store/bulk/…: cannot be read": 2}


def test_a_file_that_is_gone_is_told_with_the_way_out(folder, capsys):
    """In rows that fail, and where the job ends of it; not where nothing needs it."""
    there, gone = folder / "there.mp4", Path("old/bulk/render/a/_0/A_1.k.mp4")
    there.write_text("video")
    way_out = f"{gone}, which rows of a stage before name, is gone (purged, or the store has moved): run again: what made it is "
    with shard() as mine:
        mine.reads([there, None, gone])
        mine.settle("scores of a", [("A_1", "not reached")])
    assert way_out in capsys.readouterr().err and mark().detail.startswith(way_out)
    assert mark().cause.startswith("run again: what made it is planned anew")
    with shard() as mine:
        mine.reads([there, gone])
        mine.settle("scores of a")
    assert (mark().detail, capsys.readouterr().err) == ("", "")
    with pytest.raises(SystemExit), shard() as mine:
        mine.reads([there, gone])
        gone.read_bytes()
    assert f"codecap: {way_out}" in capsys.readouterr().err and mark().detail.startswith(way_out)
    assert (mark().state, mark().for_good) == ("failed", False)
    with pytest.raises(SystemExit), shard() as mine:
        mine.reads([there])
        gone.read_bytes()
    assert mark().detail == f"{gone}: No such file or directory"


@pytest.mark.parametrize("where", ["store/bulk/render/a/_0", "store/bulk/score/x/a/_f/A_1.k.json"])
def test_what_the_disk_does_has_one_cause_for_a_root_of_the_store(folder, where):
    for place in (where, folder / where):
        with pytest.raises(SystemExit), shard():
            raise OSError(errno.ENOSPC, "No space left on device", str(place))
        assert mark().cause.startswith("store/bulk/…: no space left on the device") and mark().detail.startswith(str(place))


def test_progress_is_told_now_and_then(monkeypatch):
    monkeypatch.setattr(job, "EVERY_S", 0.0)
    seen = []
    with shard() as mine:
        for _ in mine.counted(range(3), "renders", 3, usd=lambda: 0.5 * len(seen)):
            seen.append((mark().done, mark().state))
    assert seen == [(1, "running"), (2, "running"), (3, "running")]


def test_costs_and_memory_kills_outlive_a_try():
    Journals(shards.SHARDS).write(NAME, Mark(NAME, state="failed", ooms=2, usd=1.5))
    with shard() as mine:
        list(mine.counted([1], "renders", 1, usd=lambda: 0.25))
    assert (mark().ooms, mark().usd) == (2, 1.75)


def test_it_stops_between_two_items(capsys):
    begun, closed = [], []

    def items():
        try:
            for number in range(32):
                begun.append(number)
                if number == 11:
                    stopping.ask("time limit near")
                yield number
        finally:
            closed.append(len(begun))

    with pytest.raises(SystemExit) as ended, shard() as mine:
        list(mine.counted(items(), "renders of a", 32))
    assert ended.value.code == stopping.STATUS != 0
    assert (begun, closed) == (list(range(12)), [12])
    words = "renders of a: stopped cleanly after 12 of 32: time limit near; goes on at its next try"
    assert (mark().state, mark().done, mark().detail, mark().for_good) == ("stopped", 12, words, False)
    assert capsys.readouterr().err == f"codecap: {words}\n"


@pytest.mark.parametrize(("longest_item_s", "work_s", "grace_s"), [(0, 10_680, 105), (60, 10_680, 105), (3600, 7200, 3585)])
def test_no_item_begins_that_the_time_limit_might_break_off(monkeypatch, longest_item_s, work_s, grace_s):
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv("SLURM_JOB_END_TIME", str(time.time() + 10_800))
    told, watched = [], stopping.watched
    monkeypatch.setattr(stopping, "watched", lambda *asked: told.append(asked) or watched(*asked))
    with shard(longest_item_s=longest_item_s):
        pass
    ((deadline_s, grace, _),) = told
    assert (deadline_s, grace) == (pytest.approx(work_s, abs=5), grace_s)


def test_a_stop_after_the_last_item_loses_nothing():
    with shard() as mine:
        for number in mine.counted(range(3), "renders", 3):
            if number == 2:
                stopping.ask("time limit near")
    assert mark().state == "finished"


FOR_GOOD = [UserError("no such clip"), ValueError("a bug"), RuntimeError("a bug"), KeyError("a bug")]
MAY_PASS = [
    StoreError(errno.ENOSPC, "full"),
    BrowserMissing("no browser on this node"),
    OSError(errno.EIO, "disk", "x"),
    MemoryError(),
    RuntimeError("CUDA error: unspecified launch failure"),
    ImportError("libcuda.so.1"),
    subprocess.TimeoutExpired("x", 1),
]


@pytest.mark.parametrize("error", FOR_GOOD + MAY_PASS, ids=repr)
def test_what_failed_for_good_fails_at_once_with_the_same_words(error, capsys):
    words = job.in_words(error)
    with pytest.raises(SystemExit if words else type(error)), shard():
        raise error
    assert (mark().state, mark().for_good) == ("failed", any(error is one for one in FOR_GOOD))
    assert (words or str(error)) in mark().detail
    capsys.readouterr()
    worked = []
    try:
        with shard(attempt=2):
            worked.append(True)
    except SystemExit as ended:
        assert ended.code == 1
        assert capsys.readouterr().err == f"codecap: {mark().detail}\n"
    assert worked == ([] if error in FOR_GOOD else [True])


def test_it_is_tried_again_in_a_new_run_and_after_a_change(folder):
    with pytest.raises(SystemExit), shard():
        raise UserError("no such clip")
    with pytest.raises(SystemExit), shard(attempt=2):
        raise AssertionError("must not begin")
    with shard(attempt=2, this_try=1):
        pass
    with pytest.raises(SystemExit), shard():
        raise UserError("no such clip")
    os.utime(folder / "results" / ".lock", ns=(5, 5))  # another run holds the folder
    with shard(attempt=2):
        pass
    assert mark().state == "finished"


def test_the_log_says_again_what_the_attempt_before_has_met(folder):
    with pytest.raises(ValueError, match="a bug"), shard():
        raise ValueError("a bug")
    (folder / "log").unlink()  # as Snakemake does
    with pytest.raises(SystemExit), shard(attempt=2):
        pass
    log = (folder / "log").read_text()
    assert "Traceback" in log
    assert "ValueError: a bug" in log


def test_an_interrupt_goes_through_and_is_told():
    with pytest.raises(KeyboardInterrupt), shard():
        raise KeyboardInterrupt
    assert (mark().state, mark().detail) == ("stopped", "interrupted")


def test_a_journal_that_cannot_be_written_is_an_error_at_the_start_and_at_a_good_end_only(monkeypatch, capsys):
    full = OSError(errno.ENOSPC, "No space left on device", "results/shards/x")

    def refuse(*_):
        raise full

    with pytest.raises(SystemExit) as ended, monkeypatch.context() as patch, shard() as mine:
        patch.setattr(Journals, "write", refuse)
        mine.settle("renders", [("A_001", "no browser")])
    assert ended.value.code == 1  # or the row that failed would never be tried again
    assert "no space left" in capsys.readouterr().err
    monkeypatch.setattr(Journals, "write", refuse)
    with pytest.raises(SystemExit) as ended, shard():
        raise AssertionError("must not begin")
    assert ended.value.code == 1


def test_rules_without_items_have_a_journal_too():
    config = {"store": {"durable": "store/durable", "bulk": "store/bulk"}}
    with job.shard("compare_systems", [], ["log"], {}, {}, config):
        pass
    assert Journals(shards.SHARDS).read("compare_systems").state == "finished"
    with pytest.raises(SystemExit) as ended, job.shard("compare_systems", [], ["log"], {}, {}, config):
        stopping.ask("asked to end (SIGTERM)")
        stopping.check()
    assert ended.value.code == stopping.STATUS
    assert Journals(shards.SHARDS).read("compare_systems").detail.endswith("begins anew at its next try")


def test_a_signal_in_the_middle_of_it(capsys):
    def items():
        yield 1
        signal.raise_signal(signal.SIGTERM)
        stopping.reached_others(within_s=5)
        yield 2
        yield 3

    with pytest.raises(SystemExit), shard() as mine:
        list(mine.counted(items(), "renders", 3))
    assert mark().done == 2
    assert "stopped cleanly after 2 of 3: asked to end (SIGTERM)" in capsys.readouterr().err
    assert not [thread for thread in threading.enumerate() if thread.name == "stopping"]
