"""Runs of the real workflow, each in a folder of its own."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import yaml

from codecap import store
from codecap.clips_table import read_clips, write_clips
from codecap.config import PROJECT
from codecap.records import Clip, Score, read_rows

DEMO = PROJECT / "config" / "demo.yaml"
MINE = "mine.yaml"  # a configuration of the test's in the working folder
PARTS = ("Snakefile", "rules", "scripts", "profiles", "slurm", "config", "envs", "resources")  # of the project, to run a copy
DEMO_RESULTS = "CODECAP_TEST_DEMO"  # names a folder, in which a run of the demo leaves what a later one is compared with:
COMPARED = ("6_score", "7_compare/tables")
UNSHARED = ("caption_wall_s", "minutes")  # how columns begin that tell how long it took, which no two runs share


@dataclass
class Workflow:
    """The project's Snakefile, or a copy's, run in a working folder of the test's."""

    folder: Path
    project: Path = PROJECT
    overlays: tuple[Path, ...] = (DEMO,)  # laid over the project's configuration

    def command(self, *arguments: str) -> list[str]:
        how = ["--cores", "2", "--keep-going", "--rerun-incomplete", "--nolock"]
        return [*self.snakemake(), *self.configfiles(), *how, *arguments]

    def snakemake(self) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--snakefile", str(self.project / "Snakefile"), "--directory", str(self.folder)]

    def configfiles(self) -> list[str]:
        """The overlays, and the test's own over them."""
        found = [str(path) for path in (*self.overlays, self.folder / MINE) if path.exists()]
        return ["--configfile", *found] if found else []

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.project / "scripts")}

    def start(self, *arguments: str, **options) -> subprocess.Popen[str]:
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(self.command(*arguments), env=self.environment(), **told, **options)

    def run(self, *arguments: str) -> tuple[int, str]:
        """Exit status and all that was printed."""
        process = self.start(*arguments)
        told, _ = process.communicate()
        return process.returncode, told

    def finish(self, *arguments: str) -> str:
        status, told = self.run(*arguments)
        assert status == 0, told[-4000:]
        return told

    def configure(self, **told) -> None:
        (self.folder / MINE).write_text(yaml.safe_dump(told))

    def made(self) -> Counter[tuple[str, str, str]]:
        """How often each (stage, system, clip) was made, by the store's log."""
        roots = (self.folder / "store" / "durable", self.folder / "store" / "bulk")
        return Counter((entry["stage"], entry["system"], entry["clip_id"]) for root in roots for entry in store.made(root))

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Rows of each table as printed, without what no two runs share."""
        return read_tables(self.folder / "results" / "7_compare" / "tables")

    def scores(self) -> dict[tuple, float | None]:
        """The raw value of each score: of a metric, a system, a clip, and what is told apart in it."""
        return read_scores(self.folder / "results" / "6_score")

    def copy(self, folder: Path) -> Self:
        """The same state of affairs elsewhere, times of files included; the store's bulk is linked."""
        shutil.copytree(self.folder, folder, copy_function=shutil.copy2, dirs_exist_ok=True)
        return replace(self, folder=folder)

    def with_a_project_of_its_own(self, folder: Path) -> Self:
        """A copy of the project's code, to be edited."""
        for part in PARTS:
            source = self.project / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, folder / part)
        return replace(self, project=folder)


def smallest(count: int) -> list[Clip]:
    """Of the demo's clips those that cost the least."""
    clips = read_clips(PROJECT / "resources" / "demo" / "clips.tsv")
    return sorted(clips, key=lambda clip: clip.frames * clip.width_px * clip.height_px)[:count]


def small_table(path: Path, count: int) -> str:
    """A table of so many of the demo's clips, for where the number of clips proves nothing."""
    write_clips(path, smallest(count))
    return str(path)


def planned(told: str) -> set[tuple[str, str | None]]:
    """Rules and systems of the jobs that a dry run tells."""
    jobs = re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", told, re.MULTILINE)
    named = [(rule, re.search(r"wildcards: .*?system=([\w-]+)", rest)) for rule, rest in jobs]
    return {(rule, found and found[1]) for rule, found in named}


def read_tables(folder: Path) -> dict[str, list[dict[str, str]]]:
    read = {path.name: list(csv.DictReader(path.read_text().splitlines())) for path in sorted(folder.glob("*.csv"))}
    return {name: [_shared(row) for row in rows] for name, rows in read.items()}


def _shared(row: dict[str, str]) -> dict[str, str]:
    return {key: cell for key, cell in row.items() if not key.startswith(UNSHARED)}


def read_scores(folder: Path) -> dict[tuple, float | None]:
    """Of all lanes: which lane a metric is in changes nothing."""
    return {_about(row): row.value for row in _score_rows(folder)}


def _score_rows(folder: Path) -> Iterable[Score]:
    for lane in ("cpu", "gpu", "judge", "answers"):
        for path in sorted((folder / lane).glob("*/*.jsonl")):
            yield from read_rows(path, Score)


def _about(row: Score) -> tuple:
    return (row.metric, row.system, row.clip_id, row.item, row.kind)
