"""`codecap reproduce`: published numbers, made again from what they were made of."""

from __future__ import annotations

import json
import secrets
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job
from codecap.errors import UserError


def reproduce(
    cell: Annotated[list[str] | None, typer.Argument(help="system/column or system/column/clip, as vtrace/kss.")] = None,
    random: Annotated[int, typer.Option("--random", min=0, help="So many cells of the main table, by chance.")] = 0,
    videos: Annotated[bool, typer.Option("--videos", help="Of --random: numbers of single videos, which take less time.")] = False,
    seed: Annotated[int | None, typer.Option(help="Of --random; by default another one each time, which is told.")] = None,
    tolerance: Annotated[float, typer.Option(min=0, help="Share by which a number may differ; for other hardware, 1e-3.")] = 1e-9,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="Configuration files laid over config/config.yaml; by default the run's own configuration."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make published numbers again from clip, render, annotation, tracks and recorded answers, and compare.

    Run it in the folder of a finished run. Nothing of the run is written, no hosted model is asked. What has changed since is
    named. The exit status is 0 only where every number is the same, and all that it is made of is what was published.

        codecap reproduce vtrace/kss vtrace/retention_overall/A_001
        codecap reproduce --random 5
    """
    from codecap.reproducing import cells
    from codecap.reproducing.folder import Folder
    from codecap.reproducing.verdicts import in_words
    from codecap.reproducing.verdicts import reproduce as again
    from codecap.status import recorded

    with job.running(), tempfile.TemporaryDirectory(prefix="codecap-") as scratch:
        if not cell and not random:
            raise UserError("name a cell, as `codecap reproduce vtrace/kss`, or have some chosen: `--random 5`")
        if not random and (videos or seed is not None):
            raise UserError("--videos and --seed are about cells that are chosen by chance: say how many, as `--random 5`")
        folder = Folder(configuration.load(*config) if config else recorded())
        chosen = [cells.parse(text, folder.comparison) for text in cell or []]
        if random:
            seed = secrets.randbits(31) if seed is None else seed
            typer.echo(f"chosen with --seed {seed}", err=True)
            published = cells.published_of_videos if videos else cells.published
            chosen += cells.choose(published(folder.comparison), random, seed)
        found = []
        for made in again(folder, list(dict.fromkeys(chosen)), Path(scratch), tolerance):
            found.append(made)
            if not as_json:
                typer.echo("\n".join(in_words(made)))
    if as_json:
        typer.echo(json.dumps([made.model_dump(mode="json") for made in found], indent=1))
    raise typer.Exit(0 if all(made.verdict == "same" for made in found) else 1)
