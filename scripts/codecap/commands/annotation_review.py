"""`codecap review`: people correct and approve annotations in the browser."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job, store
from codecap.errors import UserError

DEMO = [configuration.PROJECT / "config" / "demo.yaml"]


def review(
    who: Annotated[
        str | None, typer.Option("--who", help="Your name, under which your work is kept; by default the account's.")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on this machine; 0 for any free one.")] = 8400,
    drafts: Annotated[
        Path | None,
        typer.Option("--drafts", help="Folder of <clip_id>.json to review, instead of what the run in this folder made."),
    ] = None,
    idle_min: Annotated[
        float, typer.Option("--idle-min", min=0.05, help="End when nobody asked anything for so many minutes.")
    ] = 720,
    config: Annotated[
        list[Path],
        typer.Option("--config", help="Configuration files of the run, laid over config/config.yaml; by default config/demo.yaml."),
    ] = DEMO,
) -> None:
    """Review annotations on a page in the browser: objects, boxes, focal points; approved ones are written to annotations_folder.

    Run it where `snakemake` ran. It serves this machine alone: open the address that it prints, from afar through
    `ssh -L 8400:127.0.0.1:8400 HOST`. Every change is saved at once; it ends on Ctrl-C.

        codecap review --who ann --config my.yaml
    """
    with job.running():
        from codecap.review.desk import Desk
        from codecap.review.drafts import find
        from codecap.review.journal import reviewer
        from codecap.review.serving import serve

        settings = configuration.load(*config)
        store.use(settings["store"])
        desk = Desk(settings, find(settings, drafts), reviewer(who or _account()))
        typer.echo(f"{desk.who} reviews {len(desk.drafts.clips)} clips of {desk.drafts.origin}")
        typer.echo(f"changes are kept in {desk.folder}, approved annotations in {desk.approved_folder}")
        typer.echo("open this address in a browser; Ctrl-C ends the server")
        try:
            serve(desk, port, lambda line: typer.echo(f"  {line}"), idle_min * 60)
        finally:
            desk.close()
    typer.echo("ended; everything is saved")


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError) as error:  # as in a container whose account has no name
        raise UserError("--who: say your name, under which your work is kept; this account has none") from error
