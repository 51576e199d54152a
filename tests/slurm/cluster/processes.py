"""Processes of the cluster: started, known again by id and time of start, and ended, those of its jobs included."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

from .packages import PATH


def start(folder: Path, name: str, *command: str) -> int:
    """Start a daemon in a session of its own, with its output in `log/`, and write it down. Returns its id."""
    with (folder / "log" / f"{name}.out").open("ab") as told:
        options = {"stdin": subprocess.DEVNULL, "stdout": told, "stderr": told, "start_new_session": True}
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PATH": PATH}, **options)
    entry = {"name": name, "pid": process.pid, "created": psutil.Process(process.pid).create_time()}
    with (folder / "daemons.jsonl").open("a") as written:
        written.write(json.dumps(entry) + "\n")
    return process.pid


def wait_until(holds: Callable[[], bool], what: str, limit_s: float = 40.0) -> None:
    """Raises: TimeoutError, which says what was waited for."""
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {limit_s:.0f} s: {what}")
        time.sleep(0.05)


def succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, env={**os.environ, "PATH": PATH}).returncode == 0


def daemons(folder: Path) -> dict[str, psutil.Process]:
    """Daemons that were started in this folder and live, by name, in the order of their start."""
    listed = folder / "daemons.jsonl"
    found: dict[str, psutil.Process] = {}
    for line in listed.read_text().splitlines() if listed.exists() else ():
        entry = json.loads(line)
        try:
            process = psutil.Process(entry["pid"])
            if abs(process.create_time() - entry["created"]) < 0.1 and lives(process):
                found.pop(entry["name"], None)
                found[entry["name"]] = process
        except psutil.NoSuchProcess:
            continue
    return found


def called(*names: str) -> list[psutil.Process]:
    """Processes with one of these names that see the same files as this one; those of containers see others."""
    here, found = Path("/proc/self/ns/mnt").stat().st_ino, []
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(OSError):  # it is no more
            if process.info["name"] in names and Path(f"/proc/{process.pid}/ns/mnt").stat().st_ino == here:
                found.append(process)
    return found


def of_jobs(folder: Path, cluster: str) -> list[psutil.Process]:
    """Processes of the cluster's jobs: SLURM's own, which hold files of the folder, and those that carry the cluster's name."""
    found = []
    for process in psutil.process_iter(["name"]):
        try:
            own = process.info["name"] == "slurmstepd" and any(
                Path(file.path).is_relative_to(folder) for file in process.open_files()
            )
            if lives(process) and (own or process.environ().get("SLURM_CLUSTER_NAME") == cluster):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def end(processes: Iterable[psutil.Process], limit_s: float = 20.0, at_once: bool = False) -> None:
    """SIGTERM, or SIGKILL at once, and SIGKILL for those that still live after a while."""
    processes = list(processes)
    for process in processes:
        _send(process, signal.SIGKILL if at_once else signal.SIGTERM)
    deadline = time.monotonic() + limit_s
    while (alive := [process for process in processes if lives(process)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in alive:
        _send(process, signal.SIGKILL)
    for process in processes:
        with contextlib.suppress(psutil.TimeoutExpired):  # whose parent has not waited for it
            process.wait(5 if process in alive else 0)


def lives(process: psutil.Process) -> bool:
    """Whether it is still there, and not only because its parent has not waited for it yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _send(process: psutil.Process, number: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)  # psutil looks first whether the id is still that process's
