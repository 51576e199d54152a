"""Journals: a shard is planned again as long as something is missing, and not once more; a broken journal breaks nothing."""

import json
import logging
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from codecap.shards import Journals, Mark, this_run

NAME = "render_captions/gpt-5.1/00"
FILES = ("render/gpt-5.1/A_001/k.mp4", "render/gpt-5.1/A_002/k.mp4")


@pytest.fixture
def journals(tmp_path):
    return Journals(tmp_path / "shards")


def planned(tmp_path) -> int:
    """As another process plans it."""
    return Journals(tmp_path / "shards", tmp_path / "bulk").next_try(NAME)


def test_planned_again_until_it_comes_through(journals, tmp_path):
    assert planned(tmp_path) == 0
    journals.write(NAME, Mark(NAME, state="finished"))
    assert planned(tmp_path) == 0
    journals.write(NAME, Mark(NAME, state="finished", unfinished=True))
    assert planned(tmp_path) == 1
    journals.write(NAME, Mark(NAME, state="finished", this_try=1, unfinished=True))
    assert planned(tmp_path) == 2
    journals.write(NAME, Mark(NAME, state="finished", this_try=2))
    assert planned(tmp_path) == 2  # as it was run: Snakemake sees no change
    assert Journals(tmp_path / "shards").next_try("render_captions/gpt-5.1/01") == 0


@pytest.mark.parametrize("state", ["running", "stopped", "failed"])
def test_a_try_that_did_not_end_well_keeps_its_number(journals, tmp_path, state):
    """Snakemake runs it again by itself, and what it records in the end is that number."""
    journals.write(NAME, Mark(NAME, state=state, this_try=3))
    assert planned(tmp_path) == 3


def test_planned_again_when_a_file_is_gone(journals, tmp_path):
    for name in FILES:
        (tmp_path / "bulk" / name).parent.mkdir(parents=True)
        (tmp_path / "bulk" / name).write_text("video")
    journals.write(NAME, Mark(NAME, state="finished", files=FILES))
    assert planned(tmp_path) == 0
    (tmp_path / "bulk" / FILES[1]).unlink()
    assert planned(tmp_path) == 1
    (tmp_path / "bulk" / FILES[1]).write_text("video")
    journals.write(NAME, Mark(NAME, state="finished", this_try=1, files=FILES))
    assert planned(tmp_path) == 1


def test_planned_again_once_when_the_store_has_moved(journals, tmp_path, monkeypatch):
    """Rows name the old place, and whoever reads them opens what they name."""
    monkeypatch.chdir(tmp_path)
    old, new = Path("bulk") / FILES[0], Path("elsewhere") / FILES[0]
    old.parent.mkdir(parents=True)
    old.write_text("video")
    journals.write(NAME, Mark(NAME, state="finished", files=(old.as_posix(),)))
    assert Journals(journals.folder, Path("bulk")).next_try(NAME) == 0
    Path("bulk").rename("elsewhere")
    assert Journals(journals.folder, Path("elsewhere")).next_try(NAME) == 1
    journals.write(NAME, Mark(NAME, state="finished", this_try=1, files=(new.as_posix(),)))
    assert Journals(journals.folder, Path("elsewhere")).next_try(NAME) == 1


def test_planned_again_once_when_all_journals_were_deleted(journals, tmp_path):
    """In a folder with results; all processes of a run see the same number, and no two losses have the same."""
    output = tmp_path / "5_render" / "gpt-5.1" / "00.jsonl"
    assert planned(tmp_path) == 0 and not journals.folder.exists()
    output.parent.mkdir(parents=True)
    assert planned(tmp_path) == 0 and not journals.folder.exists()  # made for a job that has not begun
    journals.write(NAME, Mark(NAME, state="finished"))
    output.write_text("{}")
    assert planned(tmp_path) == 0
    shutil.rmtree(journals.folder)
    began = int(time.time())
    number = planned(tmp_path)
    assert number >= began
    assert planned(tmp_path) == number
    journals.write(NAME, Mark(NAME, state="finished", this_try=number))
    assert planned(tmp_path) == number
    journals.write(NAME, Mark(NAME, state="finished", this_try=number, unfinished=True))
    assert planned(tmp_path) == number + 1


def test_a_plan_does_not_change_while_its_jobs_write(journals, tmp_path):
    plan = Journals(tmp_path / "shards")
    assert plan.next_try(NAME) == 0
    journals.write(NAME, Mark(NAME, state="finished", unfinished=True))
    assert plan.next_try(NAME) == 0
    assert plan.read(NAME).unfinished


def test_all_that_is_written_is_read(journals):
    mark = Mark(
        NAME,
        this_try=2,
        state="failed",
        for_good=True,
        unfinished=True,
        total=32,
        done=12,
        started=1.5,
        told=2.5,
        ended=3.5,
        run="17@1",
        attempt=3,
        ooms=1,
        usd=0.25,
        slurm_job="41",
        host="node-3",
        pid=77,
        log="logs/x.log",
        detail="kein Platz für „mehr“",
        cause="kein Platz",
        trace="Traceback",
        failures={"no answer": 2},
        files=FILES,
    )
    assert not [field for field, value in vars(Mark(NAME)).items() if field != "shard" and value == getattr(mark, field)]
    journals.write(NAME, mark)
    assert journals.read(NAME) == mark
    assert (mark.rule, mark.wildcards, mark.left) == ("render_captions", ["gpt-5.1", "00"], 20)


def test_every_shard_by_its_name(journals):
    names = ["compare_systems", "score_renders/cpu/a.b/00", "score_renders/cpu/a/00"]
    for name in names:
        journals.write(name, Mark(name))
    assert sorted(journals.every()) == names
    assert Journals(journals.folder / "none").every() == {}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'{"shard": "render_captions/gpt-5.1/00", "this_t',
        b"[]",
        b"\xff\xfe",
        b'{"shard": "render_captions/gpt-5.1/00", "this_try": "many"}',
        b'{"try": 1, "unfinished": true}',
        b'{"shard": "render_captions/gpt-5.1/00", "state": "asleep"}',
    ],
)
def test_what_is_no_journal_counts_as_none_and_is_told_once(journals, tmp_path, caplog, text):
    path = journals.path(NAME)
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    caplog.set_level(logging.WARNING, "codecap")
    assert (journals.read(NAME), journals.every(), journals.next_try(NAME)) == (None, {}, 0)
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]
    journals.write(NAME, Mark(NAME))
    assert journals.read(NAME) == Mark(NAME)


def test_a_killed_writer_leaves_the_journal_as_it_was(journals):
    journals.write(NAME, Mark(NAME, done=1))
    (journals.path(NAME).parent / ".gpt-5.1.00.json.x.draft").write_text('{"shard"')
    assert journals.every() == {NAME: Mark(NAME, done=1)}


def test_a_full_benchmark_is_read_in_a_moment(tmp_path):
    """1,200 shards, 320 of them with 32 files each: a plan and a look at all must be cheap, also where the machine is busy."""
    journals, names = Journals(tmp_path / "shards", tmp_path / "bulk", is_there=os.path.exists), []
    (tmp_path / "bulk").mkdir()
    (tmp_path / "bulk" / "k.mp4").touch()
    for number in range(1200):
        name = f"rule_{number % 8}/system/{number // 8:02d}"
        names.append(name)
        path = journals.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        files = ["./" * 20 + "k.mp4"] * 32 if number < 320 else []
        told = {"shard": name, "state": "finished", "total": 32, "done": 32, "host": "node-1", "log": "logs/x.log", "files": files}
        path.write_text(json.dumps(told))
    began = time.process_time()
    assert len(journals.every()) == 1200
    assert {journals.next_try(name) for name in names} == {0}
    assert time.process_time() - began < 1.5


def test_the_run_that_holds_the_folder_is_told_from_the_one_before(tmp_path):
    lock = tmp_path / ".lock"
    assert this_run(lock) == ""
    lock.write_text("17")
    os.utime(lock, ns=(1, 1))
    first = this_run(lock)
    os.utime(lock, ns=(2, 2))
    assert first
    assert this_run(lock) not in ("", first)


def test_a_mark_is_written_under_its_own_name_only(journals):
    with pytest.raises(ValueError, match="is none of"):
        journals.write("render_captions/other/00", replace(Mark(NAME), done=1))
