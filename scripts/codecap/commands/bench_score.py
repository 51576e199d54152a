"""`codecap bench score`: what scoring costs, and what the paper's encoder reaches on a GPU."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job

DEMO = [configuration.PROJECT / "config" / "demo.yaml"]


def score(
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Names of metrics; by default all that look at pictures.")
    ] = None,
    clips: Annotated[int, typer.Option(min=1, max=5, help="How many of the demo's clips.")] = 2,
    candidates: Annotated[int, typer.Option(min=1, help="Candidates of each clip: so many systems.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, help="Processes of each way, in turns; medians are told.")] = 1,
    gpu: Annotated[
        bool, typer.Option("--gpu", help="Only the paper's encoder of videos on this GPU, with random weights.")
    ] = False,
    config: Annotated[
        list[Path],
        typer.Option("--config", help="Configuration files laid over config/config.yaml; by default config/demo.yaml."),
    ] = DEMO,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure each metric beside the plain loop of the libraries' examples: clips a second, shares of the time, peak memory.

    With --gpu: seconds a clip of 64 frames at 384 px, and TFLOP/s against what the GPU reaches in multiplying matrices. It skips,
    saying so, without a GPU.
    """
    with job.running():
        if gpu:
            from codecap.bench import score_gpu

            about, rows = score_gpu.measure()
            text = score_gpu.as_table(about, rows)
            told = {"about": about, "variants": [asdict(row) for row in rows]}
        else:
            from codecap.bench import score as measuring

            costs = measuring.measure(config, metric or (), clips=clips, candidates=candidates, repeats=repeats)
            text, told = measuring.as_table(costs), [asdict(cost) for cost in costs]
    typer.echo(json.dumps(told, indent=1) if as_json else text)
