"""Runs of the real workflow, each in a folder of its own."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from codecap import store
from codecap.config import PROJECT

DEMO = PROJECT / "config" / "demo.yaml"


@dataclass
class Workflow:
    """The project's Snakefile, or a copy's, run in a working folder of the test's."""

    folder: Path
    project: Path = PROJECT

    def command(self, *arguments: str) -> list[str]:
        overlays = [str(DEMO)]
        if (self.folder / "mine.yaml").exists():
            overlays.append(str(self.folder / "mine.yaml"))
        run = [sys.executable, "-m", "snakemake", "--snakefile", str(self.project / "Snakefile"), "--directory", str(self.folder)]
        return [*run, "--configfile", *overlays, "--cores", "2", "--keep-going", "--rerun-incomplete", "--nolock", *arguments]

    def start(self, *arguments: str, **options) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.project / "scripts")}
        return subprocess.Popen(
            self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, **options
        )

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
        (self.folder / "mine.yaml").write_text(yaml.safe_dump(told))

    def made(self) -> Counter[tuple[str, str, str]]:
        """How often each (stage, system, clip) was made, by the store's log."""
        roots = (self.folder / "store" / "durable", self.folder / "store" / "bulk")
        return Counter((entry["stage"], entry["system"], entry["clip_id"]) for root in roots for entry in store.made(root))

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Rows of each table, without the seconds that captions took, which no two runs share."""
        folder = self.folder / "results" / "7_compare" / "tables"
        read = {path.name: list(csv.DictReader(path.read_text().splitlines())) for path in sorted(folder.glob("*.csv"))}
        return {
            name: [{key: cell for key, cell in row.items() if key != "caption_wall_s"} for row in rows]
            for name, rows in read.items()
        }

    def copy(self, folder: Path) -> Workflow:
        """The same state of affairs elsewhere, times of files included; the store's bulk is linked."""
        shutil.copytree(self.folder, folder, copy_function=shutil.copy2, dirs_exist_ok=True)
        return Workflow(folder, self.project)

    def with_a_project_of_its_own(self, folder: Path) -> Workflow:
        """A copy of the project's code, to be edited."""
        for part in ("Snakefile", "rules", "scripts", "config", "envs", "resources"):
            source = self.project / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, folder / part)
        return Workflow(self.folder, folder)


@pytest.fixture
def workflow(tmp_path) -> Workflow:
    return Workflow(tmp_path)


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Workflow:
    """The whole demo, run once: tests look at it, or go on from a copy."""
    made = Workflow(tmp_path_factory.mktemp("demo"))
    made.finish("dataset", "all")
    return made
