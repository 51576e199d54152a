"""Runs of the workflow on the cluster: `snakemake --profile slurm`, as a user starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from accounting import cancel_all, in_queue, jobs_of
from cluster.configuration import ACCOUNT
from running import Workflow

from codecap.bench.stand_ins import requests

SITE = {"partition": "cpu", "gpu_partition": "gpu", "network_partition": "network", "account": ACCOUNT}
IMPATIENT = ("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10")  # all on one disk, and jobs of seconds
TABLES = "results/7_compare/comparison.json"  # the target of runs that need no report


@dataclass
class OnSlurm(Workflow):
    """A workflow whose jobs go to the cluster. What it prints is in `told`."""

    told: str = field(default="", init=False)
    _begun: list[subprocess.Popen[bytes]] = field(default_factory=list, init=False)

    def command(self, *arguments: str) -> list[str]:
        return [*self.snakemake(), *self.configfiles(), "--profile", "slurm", *IMPATIENT, *arguments]

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start it in the project's folder, where its profile is found, and in a session of its own."""
        self._log.write_bytes(b"")
        with self._log.open("ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True}
            process = subprocess.Popen(self.command(*arguments), cwd=self.project, env=self.environment(), **options)
        self._begun.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes], limit_s: float = 600) -> int:
        """Wait for its end; the exit status."""
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not at its end after {limit_s:.0f} s:\n{self._log.read_text()[-6000:]}") from None
        finally:
            self.told = self._log.read_text()

    def close(self) -> None:
        """End what a test that failed has left running: the main process, and its jobs."""
        for process in self._begun:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        cancel_all(self.folder)

    def run(self, *arguments: str) -> tuple[int, str]:
        return self.end(self.begin(*arguments)), self.told

    def wait_until(self, holds: Callable[[], object], process: subprocess.Popen[bytes], limit_s: float = 300) -> None:
        """Until something holds, while the run goes on."""
        end = time.monotonic() + limit_s
        while not holds():
            assert process.poll() is None, f"the run ended too early:\n{self._log.read_text()[-6000:]}"
            assert time.monotonic() < end, f"not within {limit_s:.0f} s:\n{self._log.read_text()[-6000:]}"
            time.sleep(0.3)

    def states(self, rule: str) -> list[str]:
        """How each job of a rule ended, in their order."""
        return [job.state for job in jobs_of(self.folder) if job.rule == rule]

    def job_of(self, rule: str) -> str:
        """Id of the rule's job that runs, "" if none does."""
        return next(iter(in_queue(self.folder, rule)), "")

    @property
    def _log(self) -> Path:
        return self.folder / "told.txt"


@dataclass
class Demo(OnSlurm):
    """The whole demo: as many jobs at once, and browsers in them, as two cores bear."""

    def command(self, *arguments: str) -> list[str]:
        return [*super().command(*arguments), "--jobs", "5", "--set-threads", "render_captions=1"]

    def wait(self) -> None:
        """Until what was begun has come to its end."""
        (process,) = self._begun
        assert self.end(process, 1500) == 0, self.told[-4000:]


@dataclass
class StandIns(OnSlurm):
    """A copy of the project with stand-ins, which sleep, eat memory or die on request; it runs in its own folder."""

    def ask(self, *asked: requests.Request) -> None:
        requests.ask(self.project, *asked)

    def finished(self, stage: str) -> int:
        """How many items stand-ins have finished at a stage."""
        return sum(call["stage"] == stage for call in requests.calls(self.project))

    def with_site(self, **more) -> None:
        """The site's settings, as a user writes them into config/cluster.yaml."""
        self.configure(cluster=SITE | more)


def say_it_computes_on_gpus(project: Path, plugin: str) -> None:
    """In a copy of the project, have the table of weights say that a backend needs some: those that do ask for a GPU."""
    table = project / "resources" / "weights.yaml"
    part = {"kind": "file", "source": "https://example.org/stand_in.bin", "into": "stand_in.bin"}
    entry = {"about": "of a stand-in", "licence": "none", "needed_by": [plugin], "parts": [part]}
    table.write_text(table.read_text() + "\n" + yaml.safe_dump({"stand_in": entry}))
