"""What a cluster does to a run, done to one: it comes to its end, or says why not, and nothing is computed or paid twice."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from accounting import in_queue, jobs_of
from benchmark import CLIPS, TOO_MUCH, came_through, says
from on_slurm import TABLES

from codecap.bench.stand_ins.requests import Request

pytestmark = pytest.mark.slurm

MB = 2**20


def test_where_jobs_run(run, expected, server):
    """GPU nodes for what computes on them, and nodes with network for what asks hosted models."""
    run.finish("all")
    partitions = {(job.rule, job.partition, job.gpus) for job in jobs_of(run.folder)}
    assert {told for told in partitions if told[1] != "cpu"} == {
        ("segment_objects", "gpu", 1),
        ("generate_captions", "network", 0),
        ("prompt_objects", "network", 0),
        ("score_renders", "network", 0),  # the judge's lane
    }
    others = ("gather_annotations", "describe_references", "render_captions", "score_renders", "compare_systems", "build_report")
    assert {told for told in partitions if told[1] == "cpu"} == {(rule, "cpu", 0) for rule in others}
    came_through(run, expected, server)


def test_memory_that_does_not_suffice(run, expected, server):
    """Without a retry the run ends, and says what died, where, why, and which setting to raise; the next one asks for more."""
    run.ask(*TOO_MUCH)
    status, told = run.run(TABLES, "--retries", "0")
    assert status != 0
    says(told, "out of memory", "generate_captions", "system_00", "cluster.memory_factor", "logs/")
    run.finish(TABLES)
    came_through(run, expected, server)


def test_clean_stop_before_the_time_limit(run, expected, server):
    """Six clips of 8 s do not fit into the 40 s before it is to stop; any of them fits into the 10 s after that. It stops between
    two and goes on at the next attempt."""
    run.ask(Request(do="sleep", stage="prompt", seconds=8, times=CLIPS))
    run.with_site(stop_before_s=20)
    told = run.finish(TABLES, "--set-resources", "prompt_objects:runtime=1")
    assert len(run.states("prompt_objects")) >= 2
    assert "TIMEOUT" not in run.states("prompt_objects")
    assert re.search(rf"stopped cleanly after \d of {CLIPS}: time limit near", told)
    came_through(run, expected, server)


def test_past_the_time_limit(run, cluster, expected, server):
    """SLURM ends a job that hangs at a clip, and the next attempt goes on at that clip."""
    run.ask(Request(do="sleep", stage="render", clip="C_*", seconds=600, times=1))
    process = run.begin(TABLES)
    run.wait_until(lambda: run.finished("render") >= 2, process)
    cluster.tell("scontrol", "update", f"jobid={run.job_of('render_captions')}", "timelimit=1")
    assert run.end(process) == 0, run.told[-4000:]
    assert run.states("render_captions") == ["TIMEOUT", "COMPLETED"]
    came_through(run, expected, server)


def test_scancel_of_a_job_that_runs(run, cluster, expected, server):
    run.ask(Request(do="sleep", stage="prompt", seconds=4, times=CLIPS))
    process = run.begin(TABLES)
    run.wait_until(lambda: run.finished("prompt") >= 2, process)
    cluster.tell("scancel", run.job_of("prompt_objects"))
    assert run.end(process) == 0, run.told[-4000:]
    assert run.states("prompt_objects") == ["CANCELLED", "COMPLETED"]
    came_through(run, expected, server)


def test_scancel_of_a_job_that_waits(run, cluster, expected, server):
    cluster.tell("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    process = run.begin(TABLES)
    run.wait_until(lambda: in_queue(run.folder, "segment_objects", "PENDING"), process)
    cluster.tell("scancel", *in_queue(run.folder, "segment_objects", "PENDING"))
    cluster.tell("scontrol", "update", "nodename=n2", "state=resume")
    assert run.end(process) == 0, run.told[-4000:]
    assert run.states("segment_objects") == ["CANCELLED", "COMPLETED"]
    came_through(run, expected, server)


def test_a_node_goes_down(run, cluster, expected, server):
    """The only node with GPUs: the run says so, and goes on when it is back."""
    run.ask(Request(do="sleep", stage="segment", seconds=4, times=CLIPS))
    process = run.begin(TABLES)
    run.wait_until(lambda: run.finished("segment") >= 2, process)
    cluster.tell("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    run.wait_until(lambda: in_queue(run.folder, "segment_objects", "PENDING"), process)
    cluster.tell("scontrol", "update", "nodename=n2", "state=resume")
    assert run.end(process) == 0, run.told[-4000:]
    says(run.told, "node failure")
    assert run.states("segment_objects") == ["NODE_FAIL", "COMPLETED"]
    came_through(run, expected, server)


def test_the_controller_is_restarted(run, cluster, expected, server):
    """Nobody answers for a while: jobs go on, and so does the run."""
    run.ask(Request(do="sleep", stage="render", seconds=6, times=CLIPS))
    process = run.begin(TABLES)
    run.wait_until(lambda: run.finished("render"), process)
    cluster.stop("slurmctld", at_once=True)
    run.wait_until(lambda: run.finished("render") >= 4, process)
    cluster.start("slurmctld")
    assert run.end(process) == 0, run.told[-4000:]
    assert run.states("render_captions") == ["COMPLETED"]
    came_through(run, expected, server)


def test_the_disk_of_the_results_is_full_for_a_while(run, expected, server):
    run.ask(Request(do="sleep", stage="render", seconds=2, times=CLIPS))
    with mounted(run.folder / "results", 2 * MB) as results:
        process = run.begin(TABLES, "--retries", "1")
        run.wait_until(lambda: run.finished("render"), process)
        fill(results / "filler")
        assert run.end(process) != 0
        says(run.told, "no space left")
        (results / "filler").unlink()
        run.finish(TABLES)
        came_through(run, expected, server)


def test_the_store_is_read_only_for_a_while(run, expected, server):
    run.ask(Request(do="sleep", stage="render", seconds=2, times=CLIPS))
    with mounted(run.folder / "store", 200 * MB) as store:
        process = run.begin(TABLES, "--retries", "1")
        run.wait_until(lambda: run.finished("render"), process)
        remount(store, "ro")
        assert run.end(process) != 0
        says(run.told, "read-only")
        status, told = run.run(TABLES)
        assert status != 0
        says(told, str(Path("store")), "cannot be written")
        remount(store, "rw")
        run.finish(TABLES)
        came_through(run, expected, server)


@contextlib.contextmanager
def mounted(folder: Path, size_bytes: int) -> Iterator[Path]:
    """A small filesystem of its own in a folder."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "codecap-test", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def remount(folder: Path, how: str, limit_s: float = 60) -> None:
    """Mount it anew, read-only ("ro") at a moment when nobody has a file open for writing there."""
    end = time.monotonic() + limit_s
    while subprocess.run(["mount", "-o", f"remount,{how}", folder], capture_output=True).returncode:
        assert time.monotonic() < end, f"{folder} is never at rest"
        time.sleep(0.05)


def fill(file: Path) -> None:
    """Write until there is no room."""
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as full:
        while True:
            full.write(bytes(4096))
