"""Jobs that a dead main process left in the queue: they end before a new run begins, so that nothing is done twice at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from codecap.cluster import slurm
from codecap.errors import UserError

LONGEST_S = 600.0  # a job may end what it has begun, within the cluster's KillWait
EVERY_S = 3.0
_TOLD_EVERY_S = 30.0


class StillRunning(UserError):
    """Jobs of an earlier run do not end."""


def of_folder(jobs: Iterable[slurm.Job], folder: Path, rules: Collection[str], own_job: str | None = None) -> list[slurm.Job]:
    """Those jobs that a run in this folder submitted for one of our rules.

    The executor gives each job the run's folder and a comment, `rule_NAME` or `rule_NAME_wildcards_...`.

    Args:
        own_job: id of the job that the main process itself runs in, if it does.
    """
    here = os.path.realpath(folder)
    return [
        job
        for job in jobs
        if job.job_id != own_job and _is_of(job.comment, rules) and job.folder and os.path.realpath(job.folder) == here
    ]


def _is_of(comment: str, rules: Collection[str]) -> bool:
    name, _, _ = comment.partition("_wildcards_")
    return name.startswith("rule_") and name.removeprefix("rule_") in rules


def end(
    folder: Path,
    rules: Collection[str],
    own_job: str | None = None,
    tell: Callable[[str], None] = print,
    longest_s: float = LONGEST_S,
) -> int:
    """Cancel what earlier runs in this folder left in the queue, and wait until it is gone; returns how many jobs that were.

    The jobs stop cleanly: what they have finished is in the store.

    Raises:
        SlurmError: the controller does not answer, or refuses.
        StillRunning: some do not end within `longest_s` seconds.
    """
    left = of_folder(slurm.queue(), folder, rules, own_job)
    count = len(left)
    if not left:
        return 0
    tell(f"jobs of an earlier run are in the queue, {count} of them: they are cancelled now, and what they have finished is kept")
    slurm.cancel([job.job_id for job in left])
    began = told = time.monotonic()
    while left:
        time.sleep(EVERY_S)
        left = slurm.queue(job_ids=[job.job_id for job in left])
        now = time.monotonic()
        if left and all(job.state == "COMPLETING" for job in left) and now - began >= longest_s:
            tell(f"{_named(left)}: cancelled, and their nodes do not answer; going on without them")
            return count
        if left and now - began >= longest_s:
            raise StillRunning(
                f"{_named(left)}: jobs of an earlier run in this folder, cancelled {now - began:.0f} s ago and still in the queue; "
                "end them (scancel --signal=KILL), then run again"
            )
        if left and now - told >= _TOLD_EVERY_S:
            tell(f"waiting for {len(left)} of {count} jobs to end")
            told = now
    return count


def _named(jobs: list[slurm.Job]) -> str:
    shown = ", ".join(job.job_id for job in jobs[:5])
    return shown if len(jobs) <= 5 else f"{shown} and {len(jobs) - 5} more"
