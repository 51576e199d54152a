"""What Snakemake's planning of a full benchmark costs: a dry run of everything, a run with nothing left to do, and one more model.

The benchmark is a project of stand-ins in a temporary folder (see `stand_in_project`), with as many clips and annotations of real
size. Nothing is run: every planned output is made as an empty file and recorded as finished by Snakemake itself, and each shard
gets the journal of one that came through.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from codecap.bench.snakemake_run import Run, run
from codecap.bench.stand_in_project import add_system, environment, lay
from codecap.clips_table import read_clips
from codecap.plan import SHARDS, bucket_of
from codecap.shards import Journals, Mark

BUCKETS = 10  # as in config/config.yaml
ALL_JOBS = re.compile(r"^total\s+(\d+)", re.MULTILINE)
DRY = ("--cores", "2", "--dry-run", "--quiet", "rules")
# Snakemake waits a tenth of a second a job when it records files as finished; nothing here depends on it.
RECORD = "from snakemake.executors import touch; touch.Executor.SLEEPING_TIME = 0; from snakemake.cli import main; main()"
FILES = {  # of the store that the rows of a shard name, one a clip
    "render_captions": "render/{system}/{clip_id}/0.mp4",
    "segment_objects": "segment_objects/{system}/{clip_id}/0.masks.json.gz",
}


@dataclass(frozen=True)
class Planning:
    """Planning runs of one project: of everything, of nothing, and of one more model on what is finished.

    Attributes:
        status_s: wall time of `codecap status` on the journals of all its shards.
    """

    dry_run: Run
    no_op: Run
    more: Run
    status_s: float

    @property
    def jobs(self) -> int:
        return jobs_of(self.dry_run)

    @property
    def more_jobs(self) -> int:
        return jobs_of(self.more)


def measure(systems: int, clips: int) -> dict[str, Any]:
    """Plan a benchmark of this size.

    Returns:
        `jobs` and `one_more_model_jobs`, for each run the CPU seconds and the peak resident memory in MB of its process, and the
        wall time of `codecap status` then.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as folder:
        found = planning(lay(Path(folder), systems=systems, clips=clips, buckets=BUCKETS))
    told: dict[str, Any] = {"systems": systems, "clips": clips, "jobs": found.jobs, "one_more_model_jobs": found.more_jobs}
    for name, planned in (("dry_run", found.dry_run), ("noop", found.no_op), ("one_more_model", found.more)):
        told |= {f"{name}_cpu_s": round(planned.cpu_s, 2), f"{name}_rss_mb": round(planned.main_rss_mb)}
    return told | {"status_s": round(found.status_s, 2)}


def planning(project: Path) -> Planning:
    """Plan a new project, which is taken for finished afterwards and has one system more.

    Raises:
        RuntimeError: a run failed, or planned something else than it should.
    """
    dry_run = run(project, *DRY)
    _finish(project)
    no_op = nothing_left(project)
    status_s = codecap_s(project, "status")
    add_system(project)
    return Planning(dry_run, no_op, run(project, *DRY), status_s)


def nothing_left(project: Path) -> Run:
    """A run of a finished project.

    Raises:
        RuntimeError: there was something left to do.
    """
    made = run(project, "--cores", "2")
    if "Nothing to be done" not in made.told:
        raise RuntimeError(f"there was something left to do:\n{made.told[-4000:]}")
    return made


def codecap_s(project: Path, *arguments: str) -> float:
    """Run a `codecap` command in a project; wall time in seconds.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-m", "codecap", *arguments, "--config", "config/config.yaml"]
    started = time.monotonic()
    ended = subprocess.run(command, cwd=project, env=environment(project), capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"codecap {' '.join(arguments)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return time.monotonic() - started


def jobs_of(made: Run) -> int:
    """How many jobs a run has planned."""
    planned = ALL_JOBS.search(made.told)
    if planned is None:
        raise RuntimeError(f"nothing was planned:\n{made.told[-4000:]}")
    return int(planned[1])


def _finish(project: Path) -> None:
    """Make every output that the plan names and every shard's journal, and have Snakemake record the outputs as finished."""
    names, *rows = (line.split("\t") for line in _snakemake(project, "--detailed-summary").splitlines())
    shards = set()
    for row in rows:
        told = dict(zip(names, row, strict=False))
        output = project / told["output_file"]
        if output.suffix:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.touch()
        else:
            output.mkdir(parents=True, exist_ok=True)
        shards.add(told["log-file(s)"].removeprefix("logs/").removesuffix(".log"))
    journals = Journals(project / SHARDS)
    for mark in _marks(project, shards):
        for name in mark.files:
            path = project / "store" / "bulk" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("stands for a file of the store\n", encoding="utf-8")
        journals.write(mark.shard, mark)
    _snakemake(project, "--touch", "--forceall", "--quiet", "rules")


def _snakemake(project: Path, *arguments: str) -> str:
    """What Snakemake prints.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-c", RECORD, "--cores", "2", "--nolock", *arguments]
    ended = subprocess.run(command, cwd=project, env=environment(project), capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"snakemake {' '.join(arguments)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"[-4000:])
    return ended.stdout


def _marks(project: Path, shards: set[str]) -> Iterator[Mark]:
    """The journals of shards that came through."""
    config = yaml.safe_load((project / "config" / "config.yaml").read_text(encoding="utf-8"))
    held: dict[str, list[str]] = {}
    for clip in read_clips(project / config["clips"]):
        held.setdefault(bucket_of(clip.clip_id, config["buckets"]), []).append(clip.clip_id)
    for shard in sorted(shard for shard in shards if "/" in shard):
        rule, *wildcards = shard.split("/")
        clip_ids = held[wildcards[-1]]
        files = [FILES[rule].format(system=wildcards[0], clip_id=clip_id) for clip_id in clip_ids] if rule in FILES else []
        yield Mark(shard, state="finished", total=len(clip_ids), done=len(clip_ids), files=tuple(files))
