"""How far each shard is, what is running, what failed, and how long the rest takes."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codecap import plan
from codecap.cluster import costs, leftovers, nodes, settings, slurm
from codecap.cluster.largest import THREADS
from codecap.cluster.requests import Requests
from codecap.cluster.sizing import BY_ROWS, Clips, Sizes, Work
from codecap.exchange.budget import settled_usd
from codecap.shards import LOCK, SHARDS, Journals, Mark
from codecap.status import work
from codecap.status.work import Task
from codecap.store.holders import is_at_work

SIGN_S = 900.0  # a job of which nothing else is known counts as lost when it has told nothing for so long
SLURM_LIMIT_S = 2.0
MAIN_JOB = "codecap-main"  # name of a job that is a main process, see profiles/slurm/main.sbatch
ALIVE = ("RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED")

State = Literal["finished", "running", "waiting", "failed", "lost"]


@dataclass(frozen=True)
class Shard:
    """How far one job's work is.

    Attributes:
        done: clips that have their row, at its last word.
        state: `waiting` is what is still to be run; `lost` means that its journal says "running", and its job is no more.
    """

    task: Task
    state: State
    done: int
    mark: Mark | None = None

    @property
    def left(self) -> int:
        return self.task.items - self.done


@dataclass(frozen=True)
class Stage:
    """All shards of a stage.

    Attributes:
        item_s: time a clip of a job that runs alone; None where neither a job nor the cost model tells.
        measured: it is that of this run's jobs, and not of the cost model.
    """

    name: str
    shards: tuple[Shard, ...]
    item_s: float | None
    measured: bool

    @property
    def items(self) -> int:
        return sum(shard.task.items for shard in self.shards)

    @property
    def done(self) -> int:
        return sum(shard.done for shard in self.shards)

    @property
    def left_s(self) -> float:
        """Time that what is left takes if one job runs at a time."""
        return sum(shard.left for shard in self.shards) * (self.item_s or 0.0)

    def count(self, *states: State) -> int:
        return sum(shard.state in states for shard in self.shards)


@dataclass(frozen=True)
class Status:
    """Everything that is known of a run.

    Attributes:
        told: when, in Unix seconds.
        at_work: process and start of the main process that works here; "" where none is known to.
        main_job: the job of SLURM's that this folder's main process is, running or waiting; None where there is none.
        queue: this run's jobs in SLURM's queue; None where SLURM is not there or does not answer.
        usd, budget_usd: what questions to hosted models have cost, and what they may.
        problems: clips and systems that are left out, and what could not be looked at.
        at_largest: shards out of memory whose next try asks for `cluster.largest_mb`, which is less than it may need.
    """

    folder: Path
    told: float
    at_work: str
    main_job: slurm.Job | None
    stages: tuple[Stage, ...]
    systems: tuple[str, ...]
    queue: tuple[slurm.Job, ...] | None
    usd: float
    budget_usd: float | None
    problems: tuple[str, ...]
    at_largest: frozenset[str] = frozenset()

    @property
    def goes_on(self) -> bool:
        """Whether a main process is known to work, to wait for its turn, or to have jobs."""
        return bool(self.at_work or self.main_job or self.queue or self.of("running"))

    def of(self, *states: State) -> list[Shard]:
        return [shard for stage in self.stages for shard in stage.shards if shard.state in states]

    @property
    def work_s(self) -> float:
        """Time that what is left takes if one job runs at a time."""
        return sum(stage.left_s for stage in self.stages)

    @property
    def left_s(self) -> float | None:
        """Time that is left with as many jobs at once as run now; None where none runs."""
        at_once = len(self.of("running"))
        return self.work_s / at_once if at_once else None


def slurms_queue() -> list[slurm.Job] | None:
    """What SLURM has of this user's; None where it is not there.

    Raises:
        SlurmError: it does not answer at once.
    """
    return slurm.queue(tries=1, limit_s=SLURM_LIMIT_S) if slurm.there() else None


def look(config: Mapping[str, Any], queue_of: Callable[[], list[slurm.Job] | None] = slurms_queue) -> Status:
    """Look at the run in the working folder.

    Raises:
        PlanError: the configuration is wrong, or its table of clips is not there.
    """
    run = plan.make(config, to_work=False)
    marks = Journals(SHARDS).every()
    problems = list(run.problems)
    every = _every_job(queue_of, problems)
    queue = _queue(every, {mark.slurm_job for mark in marks.values() if mark.state == "running"})
    outputs, now = work.Outputs(), time.time()
    shards = [
        _shard(task, marks.get(task.shard), outputs, queue, now)
        for task in itertools.chain(work.of_dataset(marks), work.of_benchmark(config, run))
    ]
    return Status(
        folder=Path.cwd(),
        told=now,
        at_work=main_process(),
        main_job=_main_job(every or ()),
        stages=tuple(_stages(config, run, shards)),
        systems=tuple(run.captioners),
        queue=None if queue is None else tuple(queue.values()),
        usd=max(float(settled_usd(Path(config["store"]["durable"]) / "exchange")), sum(mark.usd for mark in marks.values())),
        budget_usd=(config.get("exchange") or {}).get("budget_usd"),
        problems=tuple(problems),
        at_largest=frozenset(_at_largest(config, run, shards)),
    )


def _shard(task: Task, mark: Mark | None, outputs: work.Outputs, queue: Mapping[str, slurm.Job] | None, now: float) -> Shard:
    there = mark is not None and mark.state == "finished" if task.output is None else outputs.has(task.output)
    if mark is None:
        return Shard(task, "finished" if there else "waiting", task.items if there else 0)
    done = min(mark.done, task.items)
    if mark.state == "running":
        return Shard(task, "running" if _is_alive(mark, queue, now) else "lost", done, mark)
    if mark.state == "finished":
        return (
            Shard(task, "finished", task.items - min(sum(mark.failures.values()), task.items), mark)
            if there
            else Shard(task, "waiting", 0)
        )
    return Shard(task, "failed" if mark.state == "failed" else "waiting", done, mark)


def _is_alive(mark: Mark, queue: Mapping[str, slurm.Job] | None, now: float) -> bool:
    if mark.slurm_job and queue is not None:
        return mark.slurm_job in queue and queue[mark.slurm_job].state in ALIVE
    if not mark.slurm_job and mark.host == socket.gethostname():
        return is_at_work(mark.pid, mark.told)
    return now - mark.told < SIGN_S


def _every_job(queue_of: Callable[[], list[slurm.Job] | None], problems: list[str]) -> list[slurm.Job] | None:
    """This user's jobs in SLURM's queue; None for another user's run."""
    begun = next((path for path in (LOCK, SHARDS) if path.exists()), None)
    if begun is not None and begun.stat().st_uid != os.getuid():
        return None
    try:
        return queue_of()
    except slurm.SlurmError as error:
        problems.append(f"SLURM's queue could not be read: {error}")
        return None


def _queue(jobs: list[slurm.Job] | None, wanted: set[str]) -> dict[str, slurm.Job] | None:
    """This run's jobs: those of this folder, and those that shards name."""
    if jobs is None:
        return None
    ours = {job.job_id for job in leftovers.of_folder(jobs, Path.cwd(), {*costs.RULES, *nodes.LOCAL_RULES})}
    return {job.job_id: job for job in jobs if job.job_id in ours | wanted}


def _main_job(jobs: Iterable[slurm.Job]) -> slurm.Job | None:
    here = os.path.realpath(Path.cwd())
    held = [job for job in jobs if job.name == MAIN_JOB and job.folder and os.path.realpath(job.folder) == here]
    return min(held, key=lambda job: job.state == "PENDING", default=None)  # one that runs, if one does


def _at_largest(config: Mapping[str, Any], run: plan.Plan, shards: Sequence[Shard]) -> Iterator[str]:
    """Shards that were out of memory, and cannot be given more."""
    most_mb = settings.of(config).largest_mb
    killed = [shard.task for shard in shards if shard.mark and shard.mark.ooms and shard.state != "finished"]
    if most_mb is None or not killed:
        return
    requests = Requests(config, run.buckets, run.captioners, Journals(SHARDS))
    for task in killed:
        named = {name: value for name in ("lane", "system", "bucket") if (value := getattr(task, name))}
        # what a job of BY_ROWS asks for follows from an input that a later plan may make anew
        if task.rule not in BY_ROWS and requests.of(task.rule)["mem_mb"](named, [], THREADS.get(task.rule, 1), 1) >= most_mb:
            yield task.shard


def main_process(lock: Path = LOCK, locks: Path = Path("/proc/locks")) -> str:
    """The process of this machine that holds the folder, and since when; "" where none does, or it is on another machine.

    The kernel is asked for its list: to try the lock would keep a run from beginning at that moment.
    """
    try:
        found, held = lock.stat(), locks.read_text()
    except OSError:
        return ""
    for line in held.splitlines():
        fields = line.split()
        if "FLOCK" in fields and fields[-3].endswith(f":{found.st_ino}"):
            since = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.st_mtime))
            return f"process {fields[-4]} on {socket.gethostname()}, since {since}"
    return ""


def _stages(config: Mapping[str, Any], run: plan.Plan, shards: Sequence[Shard]) -> Iterator[Stage]:
    sizes = Sizes(config)
    for name, group in itertools.groupby(shards, key=lambda shard: shard.task.stage):
        held = tuple(group)
        marks = [shard.mark for shard in held if shard.mark is not None and shard.mark.done and shard.mark.started]
        done = sum(mark.done for mark in marks)
        if done:
            yield Stage(name, held, sum(mark.told - mark.started for mark in marks) / done, measured=True)
        else:
            yield Stage(name, held, _modelled_s(config, run, sizes, held), measured=False)


def _modelled_s(config: Mapping[str, Any], run: plan.Plan, sizes: Sizes, shards: Sequence[Shard]) -> float | None:
    """Time a clip by the cost model, in the mean of a stage's shards: a job's start is shared by its clips."""
    clips = [clip for held in run.buckets.values() for clip in held]
    items = sum(shard.task.items for shard in shards)
    if not clips or not items:
        return None
    of_clips, together_s = Clips.of(clips), 0.0
    for shard in shards:
        task = shard.task
        entry = run.captioners[task.system] if task.system else {}
        kind, harness = nodes.kind_of(config, task.rule, task.lane, entry), entry.get("harness", "")
        left = of_clips.count if task.rule in costs.WHOLE else task.items
        asked = Work(of_clips, left, THREADS.get(task.rule, 1), task.lane, harness, kind, len(run.systems))
        together_s += sizes.job_s(task.rule, asked)
    return together_s / items
