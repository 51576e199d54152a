"""What a main process needs to live through trouble of SLURM's, and the executor lacks (snakemake-executor-plugin-slurm 2.8).

When squeue fails five times on end (a controller that is started again), it drops all its jobs, and waits without end. It takes a
job that was preempted for one that SLURM starts again, and a job that the controller has forgotten (it ended more than MinJobAge
ago, while nobody looked) for one that it does not know yet. It submits while no controller answers: that uses up retries. It sends
nothing more to a node that failed, also where there is no other. And while nothing ends it looks less and less often.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from codecap.cluster import fates, slurm
from codecap.cluster.fates import Cause

EVERY_S = 60.0  # between two looks of our own
LOST_AFTER = 2  # looks in which a job must be lost before it counts as ended: SLURM may be about to start it again
CONTROLLER_BACK_S = 3600.0  # how long a submission waits for a controller that does not answer
_ASKED_AGAIN_S = 10.0
_SAYS_NOTHING = (Cause.ALIVE, Cause.FAILED, Cause.FINISHED, Cause.UNKNOWN)


class Submitted(Protocol):
    """A job as the executor knows it (`SubmittedJobInfo` of the executors' interface)."""

    external_jobid: str | None


class Watch:
    """Lays itself over an executor's submission and over its check of submitted jobs.

    Args:
        executor: the one of a run that has not begun.
        tell: where to say that a controller is waited for.
        longest_s: longest time between two of the executor's checks.
        every_s: time between two looks.
        fate_of: why a job is no more.
    """

    def __init__(
        self,
        executor: Any,
        tell: Callable[[str], None],
        longest_s: float,
        every_s: float = EVERY_S,
        fate_of: Callable[[str], fates.Fate] = fates.of,
    ) -> None:
        self._executor, self._longest_s = executor, longest_s
        self._tell, self._every_s, self._fate_of = tell, every_s, fate_of
        self._submit, self._check, self._cancel = executor.run_job, executor.check_active_jobs, executor.cancel
        self._success, self._error = executor.report_job_success, executor.report_job_error
        self._looked = time.monotonic()
        self._lost: dict[str, int] = {}
        self._reported: set[int] = set()
        self._cancelled = False
        executor.run_job, executor.cancel = self.run_job, self.cancel
        executor.check_active_jobs = self.check_active_jobs
        executor.report_job_success, executor.report_job_error = self.report_job_success, self.report_job_error

    def report_job_success(self, job: Submitted, *args: Any, **kwargs: Any) -> None:
        self._reported.add(id(job))
        self._success(job, *args, **kwargs)

    def report_job_error(self, job: Submitted, msg: str | None = None, **kwargs: Any) -> None:
        """Report it, with the reason in words where SLURM knows more than that it failed."""
        self._reported.add(id(job))
        fate = self._fate_of(job.external_jobid) if job.external_jobid else None
        if fate is not None and fate.cause not in _SAYS_NOTHING:
            msg = f"SLURM job {job.external_jobid}: {fate.words}. "
        self._error(job, msg=msg, **kwargs)

    def cancel(self) -> None:
        self._cancelled = True
        self._cancel()

    def run_job(self, job: Any) -> None:
        """Submit a job once the controller answers."""
        began = time.monotonic()
        while not self._cancelled and time.monotonic() - began < CONTROLLER_BACK_S and not slurm.answers():
            self._tell("the controller (slurmctld) does not answer; jobs are submitted when it does")
            time.sleep(_ASKED_AGAIN_S)
        self._forget_failed_nodes(job)
        self._submit(job)

    def _forget_failed_nodes(self, job: Any) -> None:
        """Where few others are left, a job waits for them: SLURM refuses one that could run nowhere, and retries are used up."""
        failed = self._executor._failed_nodes
        if not failed:
            return
        try:
            nodes = slurm.nodes(job.resources.get("slurm_partition"))
        except slurm.SlurmError:
            return
        if len(nodes - failed) < len(nodes) / 2:
            self._tell(f"{', '.join(sorted(failed & nodes))} failed, and few other nodes are there: jobs wait until it is back")
            failed -= nodes

    async def check_active_jobs(self, active_jobs: list[Submitted]) -> AsyncIterator[Submitted]:
        """Report those that have ended, and give back all others, whatever the executor makes of them."""
        self._reported.clear()
        async for _ in self._check(active_jobs):
            pass
        if time.monotonic() - self._looked >= self._every_s:
            self._looked = time.monotonic()
            self._report_lost([job for job in active_jobs if id(job) not in self._reported])
        for job in active_jobs:
            if id(job) not in self._reported:
                yield job
        self._executor.next_seconds_between_status_checks = min(self._executor.next_seconds_between_status_checks, self._longest_s)

    def _report_lost(self, jobs: list[Submitted]) -> None:
        try:
            states = {job.job_id: job.state for job in slurm.queue(ended=True, tries=1)}
        except slurm.SlurmError:
            return  # nobody knows; at the next look
        lost = {
            job.external_jobid: job for job in jobs if job.external_jobid and states.get(job.external_jobid) in (None, "PREEMPTED")
        }
        self._lost = {job_id: self._lost.get(job_id, 0) + 1 for job_id in lost}
        for job_id, job in lost.items():
            if self._lost[job_id] >= LOST_AFTER:
                self._report_ended(job_id, job)

    def _report_ended(self, job_id: str, job: Submitted) -> None:
        fate = self._fate_of(job_id)
        if fate.cause is Cause.FINISHED:
            self.report_job_success(job)
        elif fate.cause is not Cause.ALIVE:
            self.report_job_error(job, msg=f"SLURM job {job_id}: {fate.words}. ", aux_logs=[fate.log] if fate.log else [])
