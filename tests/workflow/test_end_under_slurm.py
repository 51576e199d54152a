"""What a run under SLURM says when it ends early: programs in place of SLURM's take its jobs and start none, or refuse them."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Workflow

from codecap.config import PROJECT
from codecap.shards import SHARDS, Journals

pytestmark = pytest.mark.slow

PROGRAMS = {
    "sacctmgr": "echo here",  # the accounts of this user
    "sshare": "exit 1",
    "sinfo": "echo n1",
    "squeue": "true",
    "scancel": 'echo "$@" >> "$TOLD/cancelled"',
    "scontrol": 'case "$1" in ping) echo "Slurmctld(primary) at x is UP" ;; *) echo "MinJobAge = 300 sec" ;; esac',
    "sbatch": 'echo job >> "$TOLD/jobs"; echo $$',
}


class OnSlurm(Workflow):
    """A run that sends its jobs to SLURM."""

    def command(self, *arguments: str) -> list[str]:
        profile = str(PROJECT / "profiles" / "slurm")
        return [*self.snakemake(), *self.configfiles(), "--profile", profile, "--retries", "0", *arguments]

    def environment(self) -> dict[str, str]:
        given = super().environment()
        return given | {"PATH": f"{self.folder / 'bin'}:{given['PATH']}", "TOLD": str(self.folder)}


@pytest.fixture
def run(tmp_path) -> OnSlurm:
    for name, line in PROGRAMS.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
    return OnSlurm(tmp_path)


def wait_until(holds: Callable[[], bool], process: subprocess.Popen, longest_s: float = 60) -> None:
    began = time.monotonic()
    while not holds():
        assert process.poll() is None and time.monotonic() - began < longest_s
        time.sleep(0.2)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.is_file() else []


def test_ctrl_c_says_that_the_run_was_stopped_and_what_is_missing(run):
    run.configure(systems=["blank"], buckets=1, cluster={"account": "here", "partition": "cpu"})
    process = run.start(start_new_session=True)
    wait_until(lambda: len(lines(run.folder / "jobs")) == 3, process)
    time.sleep(1)  # for Snakemake to hear of the last
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert len(lines(run.folder / "cancelled")[0].split()) == 3
    assert "codecap: stopped; 3 jobs cancelled; what they have done is kept:" in told
    assert "  describe_references, gather_annotations, generate_captions: cancelled, as the run was stopped" in told
    assert "jobs did not run.\n  Run the same command again to go on" in told


def test_an_account_that_slurm_does_not_know_is_told_as_such_then_and_later(run):
    run.configure(systems=["blank"], buckets=1, cluster={"account": "rich", "partition": "cpu"})
    status, told = run.run()
    why = "SLURM took no job: The given account rich appears to be invalid"
    assert status != 0 and lines(run.folder / "jobs") == []
    assert told.count(why) == 1 and "before its work began" not in told
    marks = Journals(run.folder / SHARDS).every()
    assert {mark.state for mark in marks.values()} == {"failed"} and len(marks) == 3
    assert all(mark.detail.startswith(why) for mark in marks.values())
