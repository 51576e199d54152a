"""What SLURM's accounting says of a run's jobs."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

FIELDS = ("JobIDRaw", "State", "Partition", "Account", "NodeList", "AllocTRES", "ReqMem", "WorkDir", "Comment")


@dataclass(frozen=True)
class Job:
    """One job that was submitted.

    Attributes:
        state: one word, "CANCELLED" whoever did it.
        gpus: how many it held.
        asked_mb: the memory that it asked for.
        rule: of the workflow.
    """

    job_id: str
    state: str
    partition: str
    account: str
    node: str
    gpus: int
    asked_mb: int
    rule: str


def jobs_of(folder: Path) -> list[Job]:
    """All jobs of runs in a working folder, in the order in which they were submitted."""
    asked = ["sacct", "--allocations", "--parsable2", "--noheader", f"--format={','.join(FIELDS)}", "--starttime=now-1days"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    rows = [dict(zip(FIELDS, line.split("|", len(FIELDS) - 1), strict=True)) for line in told.splitlines()]
    return [_job(row) for row in sorted(rows, key=lambda row: int(row["JobIDRaw"])) if row["WorkDir"] == str(folder)]


def in_queue(folder: Path, rule: str, state: str = "RUNNING") -> list[str]:
    """Ids of a rule's jobs that are in a state now."""
    jobs = _queue(f"--states={state}")
    return [job for job, work_dir, comment in jobs if work_dir == str(folder) and rule_of(comment) == rule]


def cancel_all(folder: Path, limit_s: float = 90) -> None:
    """End all jobs of runs in a working folder, and wait for their end."""
    end = time.monotonic() + limit_s
    while left := [job for job, work_dir, _ in _queue() if work_dir == str(folder)]:
        subprocess.run(["scancel", *left], capture_output=True)
        assert time.monotonic() < end, f"jobs that do not end: {left}"
        time.sleep(0.5)


def rule_of(comment: str) -> str:
    """The rule that Snakemake's executor writes into a job's comment.

    >>> rule_of("rule_score_renders_wildcards_gpu_vtrace_00")
    'score_renders'
    """
    return comment.removeprefix("rule_").split("_wildcards_")[0]


def _queue(*options: str) -> list[list[str]]:
    """Id, folder and comment of each job in the queue; none while no controller answers."""
    asked = ["squeue", "--noheader", "--format=%A|%Z|%k", *options]
    told = subprocess.run(asked, capture_output=True, text=True).stdout
    return [line.split("|", 2) for line in told.splitlines()]


def _job(row: dict[str, str]) -> Job:
    held = dict(part.split("=") for part in row["AllocTRES"].split(",") if part)
    return Job(
        job_id=row["JobIDRaw"],
        state=row["State"].split()[0],
        partition=row["Partition"],
        account=row["Account"],
        node=row["NodeList"],
        gpus=int(held.get("gres/gpu", 0)),
        asked_mb=_megabytes(row["ReqMem"]),
        rule=rule_of(row["Comment"]),
    )


def _megabytes(told: str) -> int:
    """
    >>> _megabytes("1500M"), _megabytes("2G")
    (1500, 2048)
    """
    return round(float(told[:-1]) * {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}[told[-1]]) if told else 0
