"""`codecap bench filter`: what the content filter costs on a large clip."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from codecap import job


def filter_(
    seconds: Annotated[int, typer.Option(min=2, max=600, help="Length of the drawn clip.")] = 20,
    size: Annotated[str, typer.Option("--size", help="Width x height in pixels.")] = "1920x1080",
    repeats: Annotated[int, typer.Option(min=1, max=20, help="Processes that measure it; the median is told.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure the filter on one core: how many times faster than the clip runs, and peak memory.

    Two clips of its own, one of shapes that move and one in which everything moves, each in processes of their own.
    """
    from codecap.bench import filter as measuring
    from codecap.errors import UserError

    with job.running():
        width, _, height = size.partition("x")
        if not (width.isdigit() and height.isdigit() and 64 <= int(width) <= 8192 and 64 <= int(height) <= 8192):
            raise UserError(f"--size: {size!r} is not like 1920x1080, or not from 64 to 8192 px")
        costs = measuring.measure(seconds, int(width), int(height), repeats)
    typer.echo(json.dumps([asdict(cost) for cost in costs], indent=1) if as_json else measuring.as_table(costs))
