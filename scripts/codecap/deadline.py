"""Until when a job may begin something new, so that it has ended by itself when SLURM would end it."""

from __future__ import annotations

import os
import time

TIMED = "CODECAP_TIMED"  # set in the environment where a job's `runtime` is a limit that ends it


def work_s(runtime_min: float | None, stop_before_s: float) -> float | None:
    """Seconds from now in which new items may begin; None without a limit, which only a SLURM job has.

    A job that may take little time works in half of what is left: else it would never begin.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return None
    if "SLURM_JOB_END_TIME" in os.environ:  # of newer versions
        left_s = float(os.environ["SLURM_JOB_END_TIME"]) - time.time()
    elif TIMED in os.environ and runtime_min is not None:
        left_s = runtime_min * 60 - job_age_s()
    else:
        return None
    return max(left_s - stop_before_s, left_s / 2, 0.0)


def job_age_s() -> float:
    """How long this process has run, with those that have started it in its SLURM job."""
    import psutil

    me = psutil.Process()
    parents = me.parents()
    in_job = [place for place, parent in enumerate(parents) if parent.name() == "slurmstepd"]
    eldest = parents[in_job[0] - 1] if in_job and in_job[0] else me
    return max(time.time() - eldest.create_time(), 0.0)
