"""`codecap bench review`: how long the review page lets a person wait."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from codecap import job


def review(
    seconds: Annotated[int, typer.Option(min=12, max=600, help="Length of the drawn clip.")] = 60,
    size: Annotated[str, typer.Option("--size", help="Width x height in pixels.")] = "1920x1080",
    objects: Annotated[int, typer.Option(min=1, max=40, help="Objects, each with a box in every frame.")] = 40,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure the review page in the headless browser, on a long and large clip with many objects: loading, stepping, saving."""
    from codecap.bench import review as measuring
    from codecap.errors import UserError

    with job.running():
        width, _, height = size.partition("x")
        if not (width.isdigit() and height.isdigit() and 320 <= int(width) <= 8192 and 180 <= int(height) <= 8192):
            raise UserError(f"--size: {size!r} is not like 1920x1080, or not from 320x180 to 8192x8192 px")
        waits = measuring.measure(seconds, int(width), int(height), objects)
    typer.echo(json.dumps(asdict(waits), indent=1) if as_json else measuring.as_table(waits))
