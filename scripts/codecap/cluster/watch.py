"""What a main process needs to live through trouble of SLURM's, and the executor lacks (snakemake-executor-plugin-slurm 2.8).

When squeue fails five times on end (a controller that is started again), it drops all its jobs, and waits without end. It takes a
job that was preempted for one that SLURM starts again, and a job that the controller has forgotten (it ended more than MinJobAge
ago, while nobody looked) for one that it does not know yet. It submits while no controller answers, and while the user has as many
jobs as are allowed: that uses up retries. It sends nothing more to a node that failed, also where there is no other. While nothing
ends it looks less and less often. And it does not say that a job waits for ever.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Protocol

from codecap.cluster import fates, slurm, waits
from codecap.cluster.fates import Cause

EVERY_S = 60.0  # between two looks of our own
LOST_AFTER = 2  # looks in which a job must be lost before it counts as ended: SLURM may be about to start it again
CONTROLLER_BACK_S = 3600.0  # how long a submission waits for a controller that does not answer
ROOM_S = 3600.0  # how long a submission waits for room among the jobs that a user may have
_ASKED_AGAIN_S, _TRIED_AGAIN_S = 10.0, 30.0
_NO_ROOM = re.compile(r"(Assoc|QOS)\w*SubmitJob|temporarily unable to accept job")  # sbatch's words for what passes by itself
_SAYS_NOTHING = (Cause.ALIVE, Cause.FAILED, Cause.FINISHED, Cause.UNKNOWN)


class Submitted(Protocol):
    """A job as the executor knows it (`SubmittedJobInfo` of the executors' interface)."""

    external_jobid: str | None


class Watch:
    """Lays itself over an executor's submission and over its check of submitted jobs.

    Args:
        executor: the one of a run that has not begun.
        tell: where to say what is waited for.
        longest_s: longest time between two of the executor's checks.
        every_s: time between two looks.
        fate_of: why a job is no more.
        note_refusal: told of a job that SLURM did not take, and of the executor's message about it.
    """

    def __init__(
        self,
        executor: Any,
        tell: Callable[[str], None],
        longest_s: float,
        every_s: float = EVERY_S,
        fate_of: Callable[[str], fates.Fate] = fates.of,
        note_refusal: Callable[[Any, str], None] = lambda job, message: None,  # noqa: ARG005 (their names)
    ) -> None:
        self._executor, self._longest_s = executor, longest_s
        self._tell, self._every_s, self._fate_of, self._note_refusal = tell, every_s, fate_of, note_refusal
        self._submit, self._check, self._cancel = executor.run_job, executor.check_active_jobs, executor.cancel
        self._success, self._error = executor.report_job_success, executor.report_job_error
        self._refuse = executor._report_job_error_threadsafe
        self._looked = time.monotonic()
        self._lost: dict[str, int] = {}
        self._reported: set[int] = set()
        self._told: set[str] = set()
        self._stopped = threading.Event()
        self._submitting = threading.local()  # `refusals` of what a thread submits
        executor.run_job, executor.cancel = self.run_job, self.cancel
        executor.check_active_jobs = self.check_active_jobs
        executor.report_job_success, executor.report_job_error = self.report_job_success, self.report_job_error
        executor._report_job_error_threadsafe = self._report_refusal

    @property
    def cancelled(self) -> bool:
        """Whether the run was stopped, and its jobs cancelled."""
        return self._stopped.is_set()

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
        self._stopped.set()
        self._cancel()

    def run_job(self, job: Any) -> None:
        """Submit a job once the controller answers, and again while the user has as many jobs as are allowed."""
        began = time.monotonic()
        while not self.cancelled:
            self._wait_for_controller()
            if self.cancelled:
                return
            self._forget_failed_nodes(job)
            refusals = self._submitting.refusals = []
            self._submit(job)
            del self._submitting.refusals
            if not refusals:
                return
            (refused, words), *_ = refusals
            if not _NO_ROOM.search(words) or time.monotonic() - began >= ROOM_S:
                self._refuse(refused, words)
                self._note_refusal(job, words)
                return
            self._tell_once("no room", "SLURM takes no more jobs of yours at once; the others are submitted when there is room")
            self._stopped.wait(_TRIED_AGAIN_S)

    def _report_refusal(self, job: Submitted, words: str) -> None:
        """In place of the executor's: whether a refusal is an error is for `run_job` to say, in the same thread."""
        if hasattr(self._submitting, "refusals"):
            self._submitting.refusals.append((job, words))
        else:
            self._refuse(job, words)

    def _wait_for_controller(self) -> None:
        began = time.monotonic()
        while not self.cancelled and time.monotonic() - began < CONTROLLER_BACK_S and not slurm.answers():
            self._tell("the controller (slurmctld) does not answer; jobs are submitted when it does")
            self._stopped.wait(_ASKED_AGAIN_S)

    def _tell_once(self, what: str, words: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._tell(words)

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
            self._look([job for job in active_jobs if id(job) not in self._reported])
        for job in active_jobs:
            if id(job) not in self._reported:
                yield job
        self._executor.next_seconds_between_status_checks = min(self._executor.next_seconds_between_status_checks, self._longest_s)

    def _look(self, jobs: list[Submitted]) -> None:
        try:
            queue = {job.job_id: job for job in slurm.queue(ended=True, tries=1)}
        except slurm.SlurmError:
            return  # nobody knows; at the next look
        self._report_lost(jobs, {job_id: job.state for job_id, job in queue.items()})
        self._tell_waits(queue[job.external_jobid] for job in jobs if job.external_jobid in queue)

    def _tell_waits(self, jobs: Iterable[slurm.Job]) -> None:
        """Say once of each reason that jobs wait until somebody does something."""
        for reason, words in waits.worries(jobs).items():
            self._tell_once(reason, words)

    def _report_lost(self, jobs: list[Submitted], states: dict[str, str]) -> None:
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
