"""Why a job is no more: from the controller, from accounting, and from the log that SLURM writes of it."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from codecap.cluster import slurm

LOGS = Path(".snakemake/slurm_logs")
SILENCE_S = 60.0  # a controller that did not answer is not asked again for so long: a retry must not wait for it
_TAIL_BYTES = 65536


class Cause(StrEnum):
    """What ended a job."""

    OUT_OF_MEMORY = "out of memory"
    TIME_LIMIT = "time limit"
    NODE_FAILURE = "node failure"
    PREEMPTED = "preempted"
    CANCELLED = "cancelled"
    FAILED = "failed"  # it ended by itself, with an exit status; its own log says why
    FINISHED = "finished"
    ALIVE = "alive"  # it waits or runs
    UNKNOWN = "unknown"  # nobody remembers it, or nobody answers


@dataclass(frozen=True)
class Fate:
    """What became of a job.

    Attributes:
        words: for a person; names the node where it is known.
        cure: which setting to raise, or what else to do; "" where nothing needs to be done.
        log: the log that SLURM wrote of it, where there is one.
    """

    cause: Cause
    words: str
    cure: str = ""
    log: str | None = None

    @property
    def over(self) -> bool:
        return self.cause not in (Cause.ALIVE, Cause.UNKNOWN)


_STATES = {
    "OUT_OF_MEMORY": Cause.OUT_OF_MEMORY,
    "TIMEOUT": Cause.TIME_LIMIT,
    "DEADLINE": Cause.TIME_LIMIT,
    "NODE_FAIL": Cause.NODE_FAILURE,
    "BOOT_FAIL": Cause.NODE_FAILURE,
    "PREEMPTED": Cause.PREEMPTED,
    "CANCELLED": Cause.CANCELLED,
    "REVOKED": Cause.CANCELLED,
    "FAILED": Cause.FAILED,
    "COMPLETED": Cause.FINISHED,
}
_SAYINGS = (  # of slurmstepd and the kernel, in the order in which they count
    (Cause.OUT_OF_MEMORY, r"oom[-_]kill|task \S+: Out Of Memory|exceeded (job|step) memory limit|exceeded memory limit .*killed"),
    (Cause.TIME_LIMIT, r"DUE TO TIME LIMIT"),
    (Cause.PREEMPTED, r"DUE TO PREEMPTION"),
    (Cause.NODE_FAILURE, r"DUE TO NODE FAILURE"),
    (Cause.CANCELLED, r"CANCELLED AT"),
)
_KILLED = r"^Killed$|: line \d+: +\d+ Killed\b|: task \S+: Killed$"  # by the shell, by srun
_CURES = {
    Cause.OUT_OF_MEMORY: "raise cluster.memory_factor, and cluster.largest_mb where it is set",
    Cause.TIME_LIMIT: "raise cluster.stop_before_s above the time that one item takes, or cluster.time_factor",
    Cause.NODE_FAILURE: "nothing: it is another node's turn; exclude a node that fails again with --slurm-exclude-failed-nodes",
    Cause.PREEMPTED: "nothing, or set cluster.partition or cluster.qos to one that is not preempted",
    Cause.CANCELLED: "nothing, if it was you; otherwise ask whoever runs the cluster",
}
_known: dict[tuple[str, Path], Fate] = {}
_silent_until = 0.0


def of(slurm_job: str | None, logs: Path = LOGS) -> Fate:
    """What became of one job. Never raises, and takes some seconds at most: it is asked between the tries of a job.

    Args:
        slurm_job: its id; None or "" for a job that was not SLURM's.
        logs: folder in which the executor has SLURM write logs.
    """
    global _silent_until
    if not slurm_job:
        return Fate(Cause.UNKNOWN, "it was no job of SLURM's")
    if (slurm_job, logs) in _known:
        return _known[slurm_job, logs]
    states, log, problem = [], None, ""
    if slurm.there() and time.monotonic() >= _silent_until:
        try:
            states, log = _states(slurm_job)
        except slurm.SlurmError as error:
            problem = str(error)
            _silent_until = time.monotonic() + SILENCE_S if isinstance(error, slurm.NoAnswer) else _silent_until
    fate = judged(slurm_job, states, log or _logs_below(logs).get(slurm_job))
    if problem and fate.cause is Cause.UNKNOWN:
        fate = Fate(Cause.UNKNOWN, problem, log=fate.log)
    if fate.over:
        _known[slurm_job, logs] = fate
    return fate


def of_all(slurm_jobs: Iterable[str], logs: Path = LOGS) -> dict[str, Fate]:
    """The same for many jobs, for the end of a run: accounting is asked once for all of them. Never raises."""
    ids = sorted({job for job in slurm_jobs if job})
    held = _logs_below(logs) if ids else {}
    states: dict[str, list[slurm.Ended]] = {}
    try:
        for ended in slurm.accounts_of(ids) if ids and slurm.there() else ():
            states.setdefault(ended.step.partition(".")[0], []).append(ended)
    except slurm.SlurmError:
        states = {}  # the controller is asked for each
    fates = {}
    for job in ids:
        fate = judged(job, states[job], held.get(job)) if job in states else of(job, logs)
        fates[job] = fate if fate.over else of(job, logs)
    return fates


def judged(slurm_job: str, states: Iterable[slurm.Ended], log: Path | None) -> Fate:
    """The verdict on what is known: states of the job and its steps (the job first), and its log.

    A job out of memory is often called FAILED, while one of its steps is called OUT_OF_MEMORY, or only its log says so.
    """
    states = list(states)
    text = _tail(log)
    told = [state.state for state in states]
    where = next((f" on {state.nodes}" for state in states if state.nodes and not state.nodes.startswith(("None", "("))), "")
    cause = _cause(told, [state.exit_code for state in states], text)
    words = {
        Cause.OUT_OF_MEMORY: f"out of memory{where}",
        Cause.TIME_LIMIT: f"at its time limit{where}",
        Cause.NODE_FAILURE: f"node failure{where}",
        Cause.PREEMPTED: f"preempted by a job of higher priority{where}",
        Cause.CANCELLED: f"cancelled (scancel){where}",
        Cause.FAILED: f"ended with an error of its own{where}",
        Cause.FINISHED: "finished",
        Cause.ALIVE: f"still in the queue ({told[0].lower()})" if told else "still in the queue",
        Cause.UNKNOWN: f"SLURM remembers no job {slurm_job}",
    }[cause]
    if cause is Cause.OUT_OF_MEMORY and "OUT_OF_MEMORY" not in told and not re.search(_SAYINGS[0][1], text, re.IGNORECASE):
        words = f"killed{where}, most likely out of memory"
    return Fate(cause, words, _CURES.get(cause, ""), None if log is None else str(log))


def _cause(states: list[str], exit_codes: list[str], text: str) -> Cause:
    job = states[0] if states else ""
    if job and job not in slurm.ENDED:
        return Cause.ALIVE
    if "OUT_OF_MEMORY" in states:
        return Cause.OUT_OF_MEMORY
    said = next((cause for cause, words in _SAYINGS if re.search(words, text, re.IGNORECASE)), None)
    if said is Cause.OUT_OF_MEMORY and job not in ("COMPLETED", "TIMEOUT"):
        return said
    if job in _STATES and job != "FAILED":
        return _STATES[job]
    if said is not None:
        return said
    killed = re.search(_KILLED, text, re.MULTILINE) or any(code in ("0:9", "137:0", "9:0") for code in exit_codes)
    if killed:
        return Cause.OUT_OF_MEMORY
    return _STATES.get(job, Cause.UNKNOWN)


def _states(slurm_job: str) -> tuple[list[slurm.Ended], Path | None]:
    """The job, and its steps where accounting knows more than that it failed; and its log, where the controller names it.

    Raises:
        SlurmError: see `slurm.ask`.
    """
    known = slurm.job(slurm_job) or {}
    states = [slurm.Ended(slurm_job, known["JobState"], known.get("ExitCode", ""), known.get("NodeList", ""))] if known else []
    if not states or states[0].state == "FAILED":
        with contextlib.suppress(slurm.NoAccounting):
            states += slurm.accounts_of([slurm_job], limit_s=10)
    log = Path(known.get("StdOut", ""))
    return states, log if log.is_file() else None


def _logs_below(folder: Path) -> dict[str, Path]:
    """The logs of SLURM's jobs, by their ids."""
    try:
        return {path.stem: path for path in folder.rglob("*.log")}
    except OSError:
        return {}


def _tail(log: Path | None) -> str:
    if log is None:
        return ""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(file.tell() - _TAIL_BYTES, 0))
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
