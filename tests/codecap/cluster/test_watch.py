"""A main process lives through what the executor does not: a controller away, jobs preempted or forgotten."""

import asyncio
import importlib.metadata
import inspect
from dataclasses import dataclass, field

import pytest
from snakemake_executor_plugin_slurm import Executor

from codecap.cluster.fates import Cause, Fate
from codecap.cluster.watch import Watch


@dataclass(eq=False)
class Job:
    external_jobid: str | None


@dataclass
class Plain:
    """An executor that finishes the jobs in `done` and gives back those in `kept`, as the real one does; others it drops."""

    done: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    told: list[tuple[str, str]] = field(default_factory=list)
    submitted: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)  # of the submissions to come, in this order; "": it is taken
    cancelled: int = 0
    next_seconds_between_status_checks: float = 180.0
    _failed_nodes: set[str] = field(default_factory=set)

    def report_job_success(self, job) -> None:
        self.told.append((job.external_jobid, "success"))

    def report_job_error(self, job, msg=None, aux_logs=()) -> None:
        self.told.append((job.external_jobid, f"{msg}{[*aux_logs]}"))

    def _report_job_error_threadsafe(self, job, msg) -> None:
        self.report_job_error(job, msg=msg)

    def run_job(self, job) -> None:
        if self.refusals and (words := self.refusals.pop(0)):
            self._report_job_error_threadsafe(Job(None), words)
        else:
            self.submitted.append(job)

    def cancel(self) -> None:
        self.cancelled += 1

    async def check_active_jobs(self, jobs):
        for job in jobs:
            if job.external_jobid in self.done:
                self.report_job_success(job)
            elif job.external_jobid in self.kept:
                yield job


def watched(executor: Plain, fates: dict[str, Fate] | None = None, every_s: float = 0.0) -> Watch:
    unknown = Fate(Cause.UNKNOWN, "SLURM remembers no such job")
    return Watch(executor, lambda _: None, longest_s=60, every_s=every_s, fate_of=lambda job: (fates or {}).get(job, unknown))


def checked(executor: Plain, *jobs: Job) -> list[str | None]:
    async def all_of() -> list[str | None]:
        return [job.external_jobid async for job in executor.check_active_jobs(list(jobs))]

    return asyncio.run(all_of())


def queue(program, *jobs: str) -> None:
    """squeue with these lines of job, state and reason."""
    lines = ""
    for job in jobs:
        job_id, state, reason = [*job.split(), "None"][:3]
        lines += "\\037".join((job_id, state, reason, "n", "p", "n1", "0:05", "c", "/f")) + "\\n"
    program("squeue", f"printf '{lines}'")


def test_jobs_that_the_executor_drops_are_kept(program):
    executor = Plain(done={"1"}, kept={"2"})
    watched(executor, every_s=1000)
    assert checked(executor, Job("1"), Job("2"), Job("3")) == ["2", "3"]
    assert executor.told == [("1", "success")]
    assert executor.next_seconds_between_status_checks == 60


def test_a_preempted_job_is_reported_when_slurm_does_not_start_it_again(program):
    executor = Plain(kept={"1", "2"})
    watched(executor, {"1": Fate(Cause.PREEMPTED, "preempted by a job of higher priority on n1", log="x.log")})
    one, two = Job("1"), Job("2")
    queue(program, "1 PREEMPTED", "2 RUNNING")
    assert checked(executor, one, two) == ["1", "2"]
    assert checked(executor, one, two) == ["2"]
    assert executor.told == [("1", "SLURM job 1: preempted by a job of higher priority on n1. ['x.log']")]


def test_a_preempted_job_that_slurm_starts_again_is_waited_for(program):
    executor = Plain(kept={"1"})
    watched(executor)
    job = Job("1")
    for state in ("PREEMPTED", "PENDING", "PREEMPTED", "RUNNING"):
        queue(program, f"1 {state}")
        assert checked(executor, job) == ["1"]
    assert executor.told == []


@pytest.mark.parametrize(
    ("fate", "told"),
    [
        (Fate(Cause.FINISHED, "finished"), "success"),
        (Fate(Cause.OUT_OF_MEMORY, "out of memory on n1"), "SLURM job 1: out of memory on n1. []"),
        (Fate(Cause.UNKNOWN, "SLURM remembers no job 1"), "SLURM job 1: SLURM remembers no job 1. []"),
    ],
)
def test_a_forgotten_job_is_reported_as_what_accounting_or_its_log_says(program, fate, told):
    executor = Plain(kept={"1"})
    watched(executor, {"1": fate})
    queue(program)
    job = Job("1")
    assert checked(executor, job) == ["1"] and checked(executor, job) == []
    assert executor.told == [("1", told)]


def test_nothing_is_lost_while_the_controller_is_away(program):
    executor = Plain()  # it drops all
    watched(executor)
    program("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1")
    jobs = [Job("1"), Job("2")]
    for _ in range(5):
        assert checked(executor, *jobs) == ["1", "2"]
    assert executor.told == []


def test_an_error_is_told_in_words_where_they_say_more(program):
    executor = Plain()
    watched(executor, {"1": Fate(Cause.OUT_OF_MEMORY, "out of memory on n1"), "2": Fate(Cause.FAILED, "ended with an error")})
    executor.report_job_error(Job("1"), msg="SLURM status is: 'FAILED'")
    executor.report_job_error(Job("2"), msg="SLURM status is: 'FAILED'")
    executor.report_job_error(Job(None), msg="sbatch failed")
    assert [told for _, told in executor.told] == [
        "SLURM job 1: out of memory on n1. []",
        "SLURM status is: 'FAILED'[]",
        "sbatch failed[]",
    ]


def test_a_job_is_submitted_once_the_controller_answers(program, monkeypatch):
    monkeypatch.setattr("codecap.cluster.watch._ASKED_AGAIN_S", 0.01)
    executor, told = Plain(), []
    Watch(executor, told.append, longest_s=60)
    program(
        "scontrol",
        'cd "$(dirname "$0")"; [ -e once ] && { echo "Slurmctld(primary) at x is UP"; exit 0; }; touch once; '
        'echo "Slurmctld(primary) at x is DOWN"; exit 1',
    )
    executor.run_job("job")
    assert executor.submitted == ["job"] and len(told) == 1 and "jobs are submitted when it does" in told[0]


@dataclass
class ToSubmit:
    resources: dict[str, str]


@pytest.mark.parametrize(("nodes", "left_out"), [("n1 n2 n3 n4", {"n2"}), ("n2", set()), ("n1 n2", {"n2"})])
def test_a_node_that_failed_is_left_out_only_where_there_are_others(program, nodes, left_out):
    executor = Plain(_failed_nodes={"n2"})
    watched(executor)
    program("scontrol", 'echo "Slurmctld(primary) at x is UP"')
    program("sinfo", f'[ "$3" = --partition=gpu ] && printf "%s\\n" {nodes}')
    executor.run_job(ToSubmit({"slurm_partition": "gpu"}))
    assert executor._failed_nodes == left_out and len(executor.submitted) == 1


def test_a_cancelled_run_waits_for_no_controller_and_submits_nothing_more(program):
    executor = Plain()
    watch = Watch(executor, lambda _: None, longest_s=60)
    assert not watch.cancelled
    program("scontrol", "exit 1")
    executor.cancel()
    executor.run_job("job")
    assert watch.cancelled and executor.cancelled == 1 and executor.submitted == []


NO_ROOM = """SLURM sbatch failed. The error message was 'sbatch: error: QOSMaxSubmitJobPerUserLimit
sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)'.
"""


def test_a_job_is_submitted_when_there_is_room_among_those_a_user_may_have(program, monkeypatch):
    monkeypatch.setattr("codecap.cluster.watch._TRIED_AGAIN_S", 0.01)
    executor, told = Plain(refusals=[NO_ROOM, NO_ROOM, "", NO_ROOM]), []
    Watch(executor, told.append, longest_s=60)
    program("scontrol", 'echo "Slurmctld(primary) at x is UP"')
    executor.run_job(ToSubmit({}))
    executor.run_job(ToSubmit({}))
    assert len(executor.submitted) == 2 and executor.told == []
    assert len(told) == 1 and "submitted when there is room" in told[0]


@pytest.mark.parametrize("words", ["SLURM sbatch failed. 'Invalid partition name specified'.", NO_ROOM])
def test_what_is_refused_for_good_or_for_long_is_an_error(program, monkeypatch, words):
    monkeypatch.setattr("codecap.cluster.watch.ROOM_S", 0)
    executor, noted = Plain(refusals=[words, ""]), []
    Watch(executor, lambda _: None, longest_s=60, note_refusal=lambda job, words: noted.append((job, words)))
    program("scontrol", 'echo "Slurmctld(primary) at x is UP"')
    job = ToSubmit({})
    executor.run_job(job)
    assert executor.submitted == [] and executor.told == [(None, f"{words}[]")] and noted == [(job, words)]
    executor._report_job_error_threadsafe(Job(None), "of an array")
    assert executor.told[1:] == [(None, "of an array[]")]


def test_a_job_that_waits_for_ever_is_told_once(program):
    executor, told = Plain(kept={"1", "2", "3"}), []
    Watch(executor, told.append, longest_s=60, every_s=0)
    queue(program, "1 PENDING PartitionTimeLimit", "2 PENDING Priority", "9 PENDING PartitionTimeLimit")
    jobs = [Job("1"), Job("2"), Job("3")]
    for _ in range(3):
        assert checked(executor, *jobs)
    assert told == ["1 job will not start as the settings are: PartitionTimeLimit; `codecap slurm check` says what fits"]


def test_the_executor_is_the_one_that_was_looked_at():
    """What is laid over it is there, and it still waits for preempted jobs: look at it again when this fails."""
    assert importlib.metadata.version("snakemake-executor-plugin-slurm").startswith("2.8.")
    for name in (
        "run_job",
        "check_active_jobs",
        "report_job_success",
        "report_job_error",
        "cancel",
        "_report_job_error_threadsafe",
    ):
        assert callable(getattr(Executor, name))
    assert inspect.getsource(Executor.run_job).count("self._report_job_error_threadsafe(") == 2  # each refusal
    assert "_failed_nodes" in inspect.getsource(Executor.__post_init__)
    assert '"PREEMPTED"' not in inspect.getsource(Executor.check_active_jobs).split("fail_stati = (")[1].split(")")[0]
