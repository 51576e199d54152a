"""Runs of which only the table of clips, the journals and the outputs are there."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from codecap import config as configuration
from codecap import plan
from codecap.clips_table import write_clips
from codecap.records import Clip
from codecap.shards import SHARDS, Journals, Mark
from codecap.status import work

DEMO = configuration.PROJECT / "config" / "demo.yaml"


class Run:
    """A benchmark of so many systems and clips in the working folder, which has not begun."""

    def __init__(self, systems: int, clips: int, buckets: int = 10, metrics: dict | None = None) -> None:
        size = {"frames": 456, "width_px": 1280, "height_px": 720}
        rows = [
            Clip(clip_id=f"A_{n:03}", category="A", mp4=Path(f"A_{n:03}.mp4"), sha256=f"{n:064x}", **size)
            for n in range(1, clips + 1)
        ]
        for row in rows:
            row.mp4.touch()
        write_clips(Path("clips.tsv"), rows)
        entry = {"label": "One", "harness": "vtrace", "mode": "blank"}
        overrides = {
            "clips": "clips.tsv",
            "clips_folder": None,
            "buckets": buckets,
            "models": {f"system_{n:02}": entry for n in range(systems)},
            "metrics": metrics or {},
            "systems": [f"system_{n:02}" for n in range(systems)],
        }
        Path("run.yaml").write_text(yaml.safe_dump(overrides))
        self.config = configuration.load(DEMO, Path("run.yaml"))
        self.journals = Journals(SHARDS)
        self.tasks = {task.shard: task for task in work.of_benchmark(self.config, plan.make(self.config))}

    def finish(self, *rules: str) -> None:
        """These rules' jobs have come through, two seconds a clip."""
        for task in self.tasks.values():
            if task.rule in rules:
                self.tell(task.shard, state="finished", done=task.items, started=time.time() - 2 * task.items, ended=time.time())
                task.output.parent.mkdir(parents=True, exist_ok=True)
                task.output.touch()

    def tell(self, shard: str, **told) -> Mark:
        """Write a shard's journal."""
        mark = Mark(shard, **{"total": self.tasks[shard].items, "told": time.time(), "log": f"logs/{shard}.log"} | told)
        self.journals.write(shard, mark)
        return mark

    def planned(self) -> set[str]:
        """The jobs that Snakemake plans, by their logs."""
        files = [str(DEMO), "run.yaml"]
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(configuration.PROJECT / "Snakefile"),
            "--configfile",
            *files,
        ]
        told = subprocess.run([*command, "--cores", "1", "--dry-run"], capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"^ +log: logs/(.*)\.log$", told, re.MULTILINE))


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Run(systems=3, clips=40, buckets=2)
