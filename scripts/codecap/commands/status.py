"""`codecap status`: how far a run is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job

CLEAR = "\x1b[2J\x1b[H"  # the terminal, and its cursor to the top


def status(
    watch: Annotated[bool, typer.Option("--watch", help="Look again and again, until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option("--every", min=2, help="Seconds between two looks of --watch.")] = 10,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="Configuration files laid over config/config.yaml; by default the run's own configuration."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every shard.")] = False,
) -> None:
    """Say how far the run in this folder is: done, running, failed and why, cost, time left. It can be asked while the run goes on.

    It reads what the jobs write and SLURM's queue, and changes nothing.
    """
    from codecap.status import recorded
    from codecap.status.progress import look
    from codecap.status.words import as_text, as_values

    with job.running():
        settings = configuration.load(*config) if config else recorded()
        while True:
            found = look(settings)
            told = json.dumps(as_values(found), indent=None if watch else 1) if as_json else as_text(found)
            typer.echo((CLEAR if watch and not as_json else "") + told)
            if not watch:
                return
            time.sleep(every)
