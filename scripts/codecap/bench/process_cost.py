"""What a command costs with all the processes that it starts: wall time, CPU time, memory.

    python -m codecap.bench.process_cost REPORT.json LOG LIMIT_S memory|time COMMAND...

runs in a process of its own, because it adopts orphans (as a child subreaper, Linux) and ends them.

The kernel's account of ended children is not enough: it drops whatever ends with a process namespace, as a caged browser. So CPU
time is that of a control group of its own where one can be made (version 1 `cpuacct`, which nothing leaves unasked). Elsewhere
the processes' own times are read every 50 ms and summed, or the account of ended children is taken if it is more: then the last
moments of each process are missing, some percent in all.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SIGNAL_WHEN_PARENT_ENDS, CHILD_SUBREAPER = 1, 36  # of linux/prctl.h
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LINGER_S = 5.0  # how long what the command left behind may go on before it is killed
SAMPLE_S = 0.05
TOLD_OF_A_LOG = 400
MB = 1e6


class CommandFailed(RuntimeError):
    """A measured command ended with another status than 0, or passed its limit; the message has the end of its output."""


@dataclass(frozen=True)
class ProcessCost:
    """Attributes:
    wall_s: from the start of the command to its end.
    cpu_s: user and system time of the command and all its descendants.
    cpu_from: "control group", or "sampling" where it is a few percent too low.
    peak_mb: largest sum of the tree's proportional set sizes (a shared page counts once), in 10^6 bytes; None: not sampled.
    peak_beside_browser_mb: the same without the processes of a browser.
    left_running: processes that were still there `LINGER_S` after the command's end, and were killed.
    """

    wall_s: float
    cpu_s: float
    cpu_from: str
    peak_mb: float | None
    peak_beside_browser_mb: float | None
    left_running: int


def measure_process(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    memory: bool = False,
    limit_s: float = 600,
) -> ProcessCost:
    """Run a command to its end and say what it cost.

    Args:
        command: program and arguments; it gets no input, its output goes to a temporary file.
        env: environment; by default this process's.
        memory: sample the tree's memory every 50 ms. That costs CPU of its own and slows what it looks at, so measure time in
            another run.
        limit_s: then the whole tree is killed.

    Raises:
        CommandFailed: see there.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-cost-") as folder:
        report, log = Path(folder, "report.json"), Path(folder, "log.txt")
        mode = "memory" if memory else "time"
        runner = [sys.executable, "-m", __name__, str(report), str(log), str(limit_s), mode, *map(str, command)]
        done = subprocess.run(runner, env=None if env is None else dict(env), stdin=subprocess.DEVNULL, check=False)
        output = log.read_text(encoding="utf-8", errors="replace").strip() if log.is_file() else ""
        if done.returncode:
            raise RuntimeError(f"the process that measures ended with status {done.returncode}")
        told = json.loads(report.read_text(encoding="utf-8"))
    status = told.pop("status")
    if status:
        what = f"passed its limit of {limit_s:g} s" if status == "limit" else f"ended with status {status}"
        raise CommandFailed(f"{Path(command[0]).name} {what}: {output[-TOLD_OF_A_LOG:] or 'no output'}")
    return ProcessCost(**told)


class Sampler:
    """Watches all descendants of this process in a thread: `cpu_s` of all that were ever seen, and the peaks of their memory."""

    def __init__(self, memory: bool) -> None:
        self.peak_mb = self.peak_beside_browser_mb = 0.0
        self._memory = memory
        self._cpu_s: dict[tuple[int, str], float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    @property
    def cpu_s(self) -> float:
        return sum(self._cpu_s.values())

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            whole = beside = 0.0
            for pid, (began, cpu_s) in _descendants(os.getpid()).items():
                self._cpu_s[pid, began] = cpu_s
                if self._memory:
                    used = _memory_mb(pid)
                    whole += used
                    beside += 0.0 if _is_browser(pid) else used
            self.peak_mb = max(self.peak_mb, whole)
            self.peak_beside_browser_mb = max(self.peak_beside_browser_mb, beside)


class CpuGroup:
    """A control group that counts the CPU time of a process and its descendants.

    Raises:
        OSError: none can be made here.
    """

    def __init__(self) -> None:
        self._folder = _cpuacct_folder() / f"codecap-cost-{uuid.uuid4().hex}"
        self._folder.mkdir()

    def join(self) -> None:
        """Move this process into it. Safe between fork and exec."""
        (self._folder / "cgroup.procs").write_text("0", encoding="ascii")

    def close(self) -> float:
        """CPU seconds; all members must have ended."""
        used_s = int((self._folder / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
        self._folder.rmdir()
        return used_s


def _cpuacct_folder() -> Path:
    """This process's own group in the hierarchy of version 1 that counts CPU time."""
    own = mount = None
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpuacct" in controllers.split(","):
            own = path
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, where, kind, options = line.split()[:4]
        if kind == "cgroup" and "cpuacct" in options.split(","):
            mount = where
    if own is None or mount is None:
        raise FileNotFoundError("no control groups that count CPU time")
    return Path(mount, own.lstrip("/"))


def _memory_mb(pid: int) -> float:
    """Proportional set size; of a process that does not let itself be looked at (a browser's sandbox), its unshared pages."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / MB
    except PermissionError:
        try:
            _, resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[:3]
        except OSError:
            return 0.0
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") / MB
    except OSError:
        pass  # it ended in between
    return 0.0


def _is_browser(pid: int) -> bool:
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    name = arguments[0].rpartition(b"/")[2]
    return name.startswith((b"chrom", b"headless", b"google-chrome"))


def _descendants(root: int) -> dict[int, tuple[str, float]]:
    """Start time (in ticks, which with the number tells processes apart) and CPU seconds of each process below `root`."""
    children: dict[int, list[int]] = {}
    found: dict[int, tuple[str, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            found[int(entry.name)] = fields[19], (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    below: list[int] = []
    ahead = list(children.get(root, ()))
    while ahead:
        below.append(ahead.pop())
        ahead += children.get(below[-1], ())
    return {pid: found[pid] for pid in below}


def _end_all_descendants() -> int:
    """Wait for what is still there, then kill it; how many were killed. Afterwards all have been waited for."""
    ends_at, killed = time.monotonic() + LINGER_S, set()
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return len(killed)
        if pid:
            continue
        if time.monotonic() > ends_at:
            for left in _descendants(os.getpid()):
                killed.add(left)
                _kill(left)
        time.sleep(0.02)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _run(report: Path, log: Path, limit_s: float, memory: bool, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0) or libc.prctl(SIGNAL_WHEN_PARENT_ENDS, int(signal.SIGTERM), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot adopt orphans (prctl)")
    signal.signal(signal.SIGTERM, _give_up)
    try:
        group = CpuGroup()
    except OSError:
        group = None
    sampler = Sampler(memory) if memory or group is None else None
    join = None if group is None else group.join
    status: int | str
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, preexec_fn=join)
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            status = "limit"
            for pid in _descendants(os.getpid()):
                _kill(pid)
            process.wait()
        wall_s = time.monotonic() - started
    left_running = _end_all_descendants()
    if sampler is not None:
        sampler.stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended_s = used.ru_utime + used.ru_stime
    told = {
        "status": status,
        "wall_s": wall_s,
        "cpu_s": group.close() if group is not None else max(ended_s, sampler.cpu_s),
        "cpu_from": "sampling" if group is None else "control group",
        "peak_mb": sampler.peak_mb if memory else None,
        "peak_beside_browser_mb": sampler.peak_beside_browser_mb if memory else None,
        "left_running": left_running,
    }
    report.write_text(json.dumps(told), encoding="utf-8")


def _give_up(*_: object) -> None:
    for pid in _descendants(os.getpid()):
        _kill(pid)
    raise SystemExit("ended from outside")


if __name__ == "__main__":
    _run(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "memory", sys.argv[5:])
