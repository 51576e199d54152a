"""A small benchmark of stand-ins for the fault tests, and what must hold however it was disturbed."""

from __future__ import annotations

import shutil
from pathlib import Path

from loopback import Loopback
from on_slurm import TABLES, StandIns, say_it_computes_on_gpus
from running import Workflow

from codecap import store
from codecap.bench import stand_in_project
from codecap.bench.stand_ins.requests import Request

CLIPS = 6
TOO_MUCH = (  # memory for a job that captions, from its third clip on, and not for one that asks for twice as much
    Request(do="hold", stage="generate", clip="C_*", mb=900),
    Request(do="sleep", stage="generate", clip="E_*", seconds=4),  # so that SLURM notices, where it looks once a second
)


def lay(folder: Path, server: Loopback) -> StandIns:
    """One system and six clips in one shard: each rule has one job a lane. Prompter and judge ask the server, a clip at a time."""
    endpoint = {"api": "openai", "model": "stand-in", "base_url": server.base_url()}
    options = {"systems": 1, "clips": CLIPS, "buckets": 1, "frames": 24, "metrics": {"cpu": 1}}
    project = stand_in_project.lay(folder, endpoint=endpoint, **options)
    say_it_computes_on_gpus(project, "score.segmenters.stand_in")
    run = StandIns(project, project, overlays=())
    run.with_site()
    return run


def undisturbed(folder: Path) -> tuple[dict, dict]:
    """Tables and scores of the same benchmark, run on this machine."""
    with Loopback(for_s=600) as server:
        laid = lay(folder, server)
        run = Workflow(laid.folder, laid.project, overlays=())
        run.finish(TABLES)
        told = run.tables(), run.scores()
    shutil.rmtree(folder)
    return told


def came_through(run: StandIns, expected: tuple[dict, dict], server: Loopback) -> None:
    """The run is at its end as if nothing had happened, and nothing was computed or paid twice."""
    assert (run.tables(), run.scores()) == expected
    made = run.made()
    assert {about: count for about, count in made.items() if count > 1} == {}
    for stage in ("generate", "render", "prompt_objects", "segment_objects"):
        assert sum(count for (name, _, _), count in made.items() if name == stage) == CLIPS
    assert (server.account.calls, server.account.twice) == (2 * CLIPS, 0)
    roots = (run.folder / "store" / "durable", run.folder / "store" / "bulk")
    assert [problem for root in roots for problem in store.verify(root)] == []


def says(told: str, *words: str) -> None:
    """What was told at the end of a run holds all of these."""
    assert [word for word in words if word not in told] == [], told[-4000:]
