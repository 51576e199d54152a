"""SLURM's own commands: the only place that runs them, with a time limit, and reads what they print.

The formats asked for are the same from SLURM 20.11 to 25.11. Fields of squeue and sinfo are parted by a character that no name has.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codecap.errors import UserError

ENDED = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}
)
PART = "\x1f"
_FORMS = ("SQUEUE_", "SINFO_", "SACCT_", "SLURM_TIME_")  # a user's own formats, in the environment
_AT_ONCE = 200  # job ids on one command line
_NO_ANSWER = (
    "unable to contact",
    "connection refused",
    "socket timed out",
    "zero bytes were transmitted",
    "connection timed out",
    "no route to host",
    "unexpected message received",
    "in standby mode",
    "transport endpoint is not connected",
    "munge",
    "protocol authentication error",
)
_NO_ACCOUNTING = ("accounting storage is disabled", "not running a supported accounting_storage plugin")
_NO_SUCH_JOB = ("invalid job id", "invalid job_id")


class SlurmError(UserError):
    """SLURM refused something, or is not there; the message says what."""


class NoSlurm(SlurmError):
    """This machine has no SLURM commands."""


class NoAnswer(SlurmError):
    """A daemon of SLURM does not answer: it may do so again."""


class NoAccounting(SlurmError):
    """This cluster keeps no accounts of jobs."""


@dataclass(frozen=True)
class Job:
    """A job in the queue. `minutes_left` is None while it waits."""

    job_id: str
    state: str
    reason: str
    name: str
    partition: str
    node: str
    elapsed_s: int | None
    comment: str
    folder: str


@dataclass(frozen=True)
class Ended:
    """What accounting knows of a job or of one of its steps ("123", "123.batch", "123.0")."""

    step: str
    state: str
    exit_code: str
    nodes: str


def there() -> bool:
    """Whether this machine has SLURM's commands."""
    return all(shutil.which(name) for name in ("sbatch", "squeue", "scontrol"))


def user() -> str:
    """The user's name, as SLURM knows it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def ask(*argv: str, limit_s: float = 30.0, tries: int = 3, wait_s: float = 5.0) -> str:
    """Run one of SLURM's commands and return what it prints.

    Args:
        limit_s: longest time for one try.
        tries: how often a daemon that does not answer is asked.
        wait_s: time between two tries.

    Raises:
        NoSlurm: there is no such command.
        NoAnswer: the controller or the accounting daemon does not answer.
        NoAccounting: accounting was asked for and this cluster has none.
        SlurmError: the command fails otherwise; the message is its own.
    """
    for left in reversed(range(tries)):
        try:
            return _run(argv, limit_s)
        except NoAnswer:
            if not left:
                raise
            time.sleep(wait_s)
    raise ValueError("tries must be at least 1")


def _run(argv: Sequence[str], limit_s: float) -> str:
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SINFO_", "SACCT_", "SLURM_TIME_"))
    }
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            env={**plain, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise NoSlurm(f"there is no command {argv[0]} on this machine: run this where SLURM is (a login node)") from None
    except OSError as error:
        raise SlurmError(f"{argv[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        told = f"{argv[0]} did not answer within {limit_s:.0f} s: the {_daemon(argv[0])} hangs or is out of reach; try again later"
        raise NoAnswer(told) from None
    if done.returncode == 0:
        return done.stdout
    told = [line.removeprefix(f"{argv[0]}: error: ").strip() for line in (done.stderr.strip() or done.stdout.strip()).splitlines()]
    raise _error(argv[0], "; ".join(told) or f"exit status {done.returncode}")


def _error(command: str, told: str) -> SlurmError:
    low = told.lower()
    if any(words in low for words in _NO_ACCOUNTING):
        return NoAccounting("this cluster keeps no accounts of jobs (AccountingStorageType)")
    if any(words in low for words in _NO_ANSWER):
        return NoAnswer(f"the {_daemon(command)} does not answer: {told}")
    return SlurmError(f"{command}: {told}")


def _daemon(command: str) -> str:
    return "accounting daemon (slurmdbd)" if command in ("sacct", "sacctmgr") else "controller (slurmctld)"


def answers() -> bool:
    """Whether the controller, or its stand-in, answers now."""
    try:
        return " is UP" in ask("scontrol", "ping", tries=1, limit_s=20)
    except SlurmError as error:
        return " is UP" in str(error)  # one of two controllers is down, and scontrol says so by its exit status


def queue(*, job_ids: Collection[str] | None = None, ended: bool = False, tries: int = 3, limit_s: float = 30.0) -> list[Job]:
    """This user's jobs in the queue.

    Args:
        job_ids: only these; ids that the controller has forgotten are passed over.
        ended: also those that ended lately (MinJobAge in slurm.conf).
        tries, limit_s: see `ask`.

    Raises:
        SlurmError: see `ask`.
    """
    form = PART.join(("%i", "%T", "%r", "%j", "%P", "%N", "%M", "%k", "%Z"))
    states = "all" if ended else "PENDING,CONFIGURING,RUNNING,SUSPENDED,COMPLETING,STOPPED"
    argv = ("squeue", "--noheader", f"--user={user()}", f"--states={states}", f"--format={form}")
    told = ask(*argv, tries=tries, limit_s=limit_s)
    return [job for job in read_queue(told) if job_ids is None or job.job_id in job_ids]


def read_queue(text: str) -> Iterator[Job]:
    """Jobs of squeue's lines, in the format of `queue`."""
    for line in text.splitlines():
        fields = line.split(PART)
        if len(fields) == 9:
            job_id, state, reason, name, partition, node, elapsed, comment, folder = (field.strip() for field in fields)
            comment = "" if comment == "(null)" else comment
            yield Job(job_id, state, reason, name, partition, node, seconds(elapsed), comment, folder)


def job(job_id: str, *, tries: int = 1, limit_s: float = 10.0) -> dict[str, str] | None:
    """What the controller knows of a job; None when it has forgotten it.

    Raises:
        SlurmError: see `ask`.
    """
    try:
        return read_pairs(ask("scontrol", "--oneliner", "show", "job", job_id, tries=tries, limit_s=limit_s))
    except NoAnswer:
        raise
    except SlurmError as error:
        if any(words in str(error).lower() for words in _NO_SUCH_JOB):
            return None
        raise


def read_pairs(line: str) -> dict[str, str]:
    """`Key=value Key=value` of scontrol; a value may hold spaces, and ends where the next key begins.

    >>> read_pairs("JobId=7 Comment=two words ExitCode=0:9")
    {'JobId': '7', 'Comment': 'two words', 'ExitCode': '0:9'}
    """
    pairs: dict[str, str] = {}
    for part in re.split(r"\s(?=[A-Z][A-Za-z:/_]*=)", line.strip()):
        key, equals, value = part.partition("=")
        if equals:
            pairs.setdefault(key, value.strip())
    return pairs


def accounts_of(job_ids: Sequence[str], *, tries: int = 1, limit_s: float = 20.0) -> list[Ended]:
    """What accounting knows of jobs and their steps.

    Raises:
        SlurmError: see `ask`.
    """
    found: list[Ended] = []
    for start in range(0, len(job_ids), _AT_ONCE):
        ids = ",".join(job_ids[start : start + _AT_ONCE])
        argv = ("sacct", "--noheader", "--parsable2", f"--jobs={ids}", "--format=JobID,State,ExitCode,NodeList")
        found += read_accounts(ask(*argv, tries=tries, limit_s=limit_s))
    return [ended for ended in found if ended.step.partition(".")[0] in job_ids]


def read_accounts(text: str) -> Iterator[Ended]:
    """Jobs and steps of sacct's lines: `CANCELLED by 1000` is the state CANCELLED."""
    for line in text.splitlines():
        fields = line.split("|")
        if len(fields) == 4 and fields[1]:
            yield Ended(fields[0], fields[1].split()[0].rstrip("+"), fields[2], fields[3])


def nodes(partition: str | None) -> set[str]:
    """Names of a partition's nodes, or of all nodes.

    Raises:
        SlurmError: see `ask`.
    """
    of_one = [f"--partition={partition}"] if partition else []
    return set(ask("sinfo", "--noheader", "--Node", *of_one, "--format=%N", tries=1).split())


def cancel(job_ids: Sequence[str]) -> None:
    """Cancel jobs: they get SIGTERM, and SIGKILL after KillWait. Those that have ended meanwhile are passed over.

    Raises:
        SlurmError: see `ask`.
    """
    for start in range(0, len(job_ids), _AT_ONCE):
        try:
            ask("scancel", "--quiet", *job_ids[start : start + _AT_ONCE])
        except NoAnswer:
            raise
        except SlurmError as error:
            if not any(words in str(error).lower() for words in (*_NO_SUCH_JOB, "already completing or completed")):
                raise


def submit(options: Sequence[str], command: str) -> str:
    """Submit a job that runs one line of shell; returns its id.

    Raises:
        SlurmError: SLURM refuses it, in its own words; or see `ask`.
    """
    # no second try: the first may have been taken although its answer was lost
    told = ask("sbatch", "--parsable", *options, f"--wrap={command}", tries=1, limit_s=60)
    found = re.search(r"^(\d+)(;|$)", told.strip().splitlines()[-1] if told.strip() else "")
    if found is None:
        raise SlurmError(f"sbatch gave no job id: {' '.join(told.split())!r}")
    return found.group(1)


def seconds(text: str) -> int | None:
    """A time of SLURM's in seconds; None for what is no time or has no limit (UNLIMITED, INVALID, NOT_SET, n/a).

    >>> [seconds(text) for text in ("1-02:03:04", "02:03:04", "03:04", "UNLIMITED")]
    [93784, 7384, 184, None]
    """
    found = re.fullmatch(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)", text.strip())
    if found is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def first_number(settings_: Mapping[str, str], key: str) -> int | None:
    """The number that a setting begins with (`300 sec`); None for a setting without one (`UNLIMITED`), or that is not there.

    >>> first_number({"MinJobAge": "300 sec", "DefMemPerNode": "UNLIMITED"}, "MinJobAge")
    300
    """
    found = re.match(r"\d+", settings_.get(key, ""))
    return int(found.group()) if found else None
