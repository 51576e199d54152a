"""A run of Snakemake and what it cost, its main process apart from the jobs.

    python -m codecap.bench.snakemake_run REPORT.json ARGUMENTS...

is `snakemake ARGUMENTS...`, and writes a report when it ends. The jobs' CPU time is the kernel's account of all children that were
waited for, and theirs: everything that a run starts on this machine, but for what is caged in a process namespace (a browser).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from codecap.bench.stand_in_project import environment

LIMIT_S = 6 * 3600.0


@dataclass(frozen=True)
class Run:
    """What a run told and cost.

    Attributes:
        told: standard output and error together.
        main_cpu_s, jobs_cpu_s: of the main process, and of all others.
        main_rss_mb: most memory of the main process, resident.
    """

    told: str
    wall_s: float
    main_cpu_s: float
    jobs_cpu_s: float
    main_rss_mb: float

    @property
    def cpu_s(self) -> float:
        return self.main_cpu_s + self.jobs_cpu_s


def run(project: Path, *arguments: str) -> Run:
    """Run Snakemake in a project and wait for it.

    Raises:
        RuntimeError: it failed; the message has the end of what it told.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-run-") as folder:
        report, log = Path(folder) / "report.json", Path(folder) / "log"
        command = [sys.executable, "-m", "codecap.bench.snakemake_run", str(report), *arguments]
        command += ["--scheduler", "greedy", "--nolock"]
        started = time.monotonic()
        with log.open("wb") as told:
            ended = subprocess.run(
                command,
                cwd=project,
                env=environment(project),
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
                check=False,
            )
        wall_s, text = time.monotonic() - started, log.read_text(encoding="utf-8", errors="replace")
        if ended.returncode:
            raise RuntimeError(f"snakemake {' '.join(arguments)} in {project} ended with {ended.returncode}:\n{text[-4000:]}")
        return Run(text, wall_s, **json.loads(report.read_text(encoding="utf-8")))


def _main(report: Path, arguments: list[str]) -> None:
    from snakemake.cli import main

    try:
        main(arguments)
    finally:
        own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        told = {
            "main_cpu_s": own.ru_utime + own.ru_stime,
            "jobs_cpu_s": others.ru_utime + others.ru_stime,
            "main_rss_mb": _peak_mb(),
        }
        report.write_text(json.dumps(told), encoding="utf-8")


def _peak_mb() -> float:
    """Of this process alone: `ru_maxrss` may be that of the process which has started it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status tells no VmHWM")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2:])
