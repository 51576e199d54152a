"""What Snakemake's planning of a full benchmark costs: a dry run of everything, and a run in which nothing is left to do.

The benchmark makes a configuration of its own in a temporary folder: so many systems, so many clips (rows of a table, without
videos), approved annotations, and scoring stages in three lanes. For the second measurement every planned output is made as an
empty file and recorded as finished by Snakemake itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from codecap.config import PROJECT
from codecap.records import CATEGORIES, Annotation, Clip, FocalPoint, write_clips, write_record
from codecap.store import digest_of

LANES = {"visual_similarity": "gpu", "appearance": "gpu", "mps": "gpu", "retention": "judge"}
ALL_JOBS = re.compile(r"^total\s+(\d+)", re.MULTILINE)
# Snakemake waits a tenth of a second a job when it records files as finished; nothing here depends on it.
RECORD = "from snakemake.executors import touch; touch.Executor.SLEEPING_TIME = 0; from snakemake.cli import main; main()"


def measure(systems: int, clips: int) -> dict[str, Any]:
    """Plan a benchmark of this size.

    Returns:
        `jobs`, and for both runs CPU seconds (`dry_run_cpu_s`, `noop_cpu_s`) and peak resident memory in MB (`dry_run_rss_mb`,
        `noop_rss_mb`) of the Snakemake process.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as folder:
        place = Path(folder)
        config = _configuration(place, systems, clips)
        run = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--directory", folder]
        run += ["--configfile", str(PROJECT / "config" / "demo.yaml"), str(config), "--cores", "2", "--scheduler", "greedy"]
        told, dry_cpu_s, dry_rss_mb = _timed([*run, "--dry-run", "--quiet", "rules"])
        planned = ALL_JOBS.search(told)
        if planned is None:
            raise RuntimeError(f"the dry run planned nothing:\n{told[-2000:]}")
        _finish(run, place)
        told, noop_cpu_s, noop_rss_mb = _timed([*run])
        if "Nothing to be done" not in told:
            raise RuntimeError(f"there was something left to do:\n{told[-2000:]}")
    return {
        "systems": systems,
        "clips": clips,
        "jobs": int(planned[1]),
        "dry_run_cpu_s": round(dry_cpu_s, 2),
        "dry_run_rss_mb": round(dry_rss_mb),
        "noop_cpu_s": round(noop_cpu_s, 2),
        "noop_rss_mb": round(noop_rss_mb),
    }


def _configuration(place: Path, systems: int, clips: int) -> Path:
    letters = [letter for letter in CATEGORIES if letter != "U"]
    rows = []
    for number in range(clips):
        letter = letters[number % len(letters)]
        clip_id = f"{letter}_{number:05d}"
        size = {"frames": 456, "width_px": 1280, "height_px": 720}
        rows.append(Clip(clip_id=clip_id, category=letter, mp4=place / f"{clip_id}.mp4", sha256=digest_of(clip_id), **size))
        point = FocalPoint(focal_id="f1", kind="static", description="stands for all", start_s=0, end_s=1)
        write_record(place / "annotations" / f"{clip_id}.json", Annotation(clip_id=clip_id, focal_points=[point]))
    write_clips(place / "clips.tsv", rows)
    entry = {"harness": "vtrace", "mode": "vtrace"}
    entries = {f"system_{number:02d}": {"label": f"System {number}", **entry} for number in range(systems)}
    told = {
        "clips": str(place / "clips.tsv"),
        "annotations_folder": str(place / "annotations"),
        "buckets": 10,
        "models": entries,
        "systems": list(entries),
        "metrics": {name: {"lane": lane} for name, lane in LANES.items()},
    }
    path = place / "bench.yaml"
    path.write_text(yaml.safe_dump(told), encoding="utf-8")
    return path


def _finish(run: list[str], place: Path) -> None:
    """Make every output that the plan names, and have Snakemake record it as finished."""
    listed = subprocess.run([*run, "--detailed-summary"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines()[1:]:
        output = place / line.split("\t")[0]
        if output.suffix:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.touch()
        else:
            output.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", RECORD, *run[3:], "--touch", "--quiet", "all"], capture_output=True, check=True)


def _timed(command: list[str]) -> tuple[str, float, float]:
    """Output, CPU seconds and peak memory in MB of a command."""
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        output = told.read()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output[-2000:]}")
    return output, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
