"""The doctor as a job on a node of the cluster: what is there may differ from what the login node has."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.cluster import fates, slurm
from codecap.errors import UserError

LOGS = Path("logs/doctor")
MINUTES = 10  # that the job asks for: the doctor takes under one
MEMORY_MB = 4000  # it imports torch, which counts as memory on some clusters
EVERY_S = 3.0
SHARED_FILESYSTEM_S = 60.0  # how long a file of another node may take to be seen here


class NotExamined(UserError):
    """The job did not start in time, or died."""


@dataclass(frozen=True)
class Found:
    """What the doctor printed there, and its exit status (0: all that is needed is there)."""

    printed: str
    status: int


def examine(
    arguments: Sequence[str],
    *,
    partition: str,
    account: str | None = None,
    qos: str | None = None,
    gres: str | None = None,
    constraint: str | None = None,
    longest_wait_s: float = 1800.0,
    tell: Callable[[str], None] = print,
) -> Found:
    """Run `codecap doctor` with these arguments as a job, and wait for what it says.

    Args:
        longest_wait_s: longest time in the queue. A job that has not begun then is cancelled.
        tell: where to say what the job waits for.

    Raises:
        NotExamined: it did not begin in time, or ended without saying anything; the message says why.
        SlurmError: SLURM refuses the job, or does not answer.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = (LOGS / f"{partition.replace(',', '+')}-%j.log").absolute()
    options = [f"--partition={partition}", "--job-name=codecap-doctor", f"--output={log}", f"--chdir={Path.cwd()}", "--export=ALL"]
    options += ["--ntasks=1", "--cpus-per-task=1", f"--mem={MEMORY_MB}", f"--time={MINUTES}", "--no-requeue"]
    for name, value in {"account": account, "qos": qos, "gres": gres, "constraint": constraint}.items():
        options += [f"--{name}={value}"] if value else []
    command = shlex.join([sys.executable, "-m", "codecap", "doctor", *arguments])
    # the job's own exit status says that it ended well; that of the doctor is the log's last line
    job_id = slurm.submit(options, f'{command}; echo "doctor: status $?"')
    tell(f"job {job_id} on partition {partition}")
    try:
        _wait(job_id, partition, longest_wait_s, tell)
    except BaseException:
        slurm.cancel([job_id])
        raise
    return _read(Path(str(log).replace("%j", job_id)), job_id)


def _wait(job_id: str, partition: str, longest_wait_s: float, tell: Callable[[str], None]) -> None:
    began, told = time.monotonic(), ""
    while found := slurm.queue(job_ids=[job_id]):
        job = found[0]
        if job.state == "PENDING":
            if job.reason != told and job.reason not in ("None", ""):
                tell(f"waits: {job.reason}")
                told = job.reason
            if time.monotonic() - began > longest_wait_s:
                raise NotExamined(
                    f"partition {partition}: the job did not begin within {longest_wait_s / 60:.0f} min ({job.reason}) "
                    "and is cancelled; wait longer with --wait-min"
                )
        time.sleep(EVERY_S)


def _read(log: Path, job_id: str) -> Found:
    began = time.monotonic()
    while True:
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        printed, mark, status = text.rpartition("doctor: status ")
        if mark and status.strip().isdigit():
            return Found(printed, int(status))
        fate = fates.of(job_id, log.parent)
        if time.monotonic() - began > SHARED_FILESYSTEM_S or fate.cause not in (fates.Cause.UNKNOWN, fates.Cause.FINISHED):
            ending = f"; its log {log} ends: {text.strip().splitlines()[-1]}" if text.strip() else f"; {log} says nothing"
            raise NotExamined(f"the doctor's job {job_id}: {fate.words}{ending}. Is this folder shared with that node?")
        time.sleep(EVERY_S)
