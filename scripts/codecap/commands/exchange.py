"""`codecap exchange`: look into what hosted models were asked, and what they answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job

app = typer.Typer(no_args_is_help=True, help="Look into what hosted models were asked and answered.")
Config = Annotated[
    list[Path] | None,
    typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default none: the paper's."),
]


@app.command()
def show(
    digest: Annotated[str, typer.Argument(help="First digits of a request's digest, as a pack's lines begin.")],
    media: Annotated[Path | None, typer.Option(help="Folder to write the request's pictures and videos to.")] = None,
    config: Config = None,
) -> None:
    """Print the request and the raw response of one exchange, and of its failed tries."""
    from codecap.exchange.archive import Archive

    with job.running():
        archive = Archive(Path(configuration.load(*config or [])["store"]["durable"]))
        records = archive.show(digest)
        written = archive.unpack_media(records[-1], media) if media is not None else []
    typer.echo(json.dumps(records, indent=1, ensure_ascii=False))
    for path in written:
        typer.echo(f"{path}", err=True)


@app.command()
def verify(config: Config = None) -> None:
    """Check every record against its checksum, and that its pictures are there; the exit status is 1 when something is wrong."""
    from codecap.exchange.archive import Archive

    with job.running():
        problems = list(Archive(Path(configuration.load(*config or [])["store"]["durable"])).problems())
    for problem in problems:
        typer.echo(problem)
    typer.echo(f"{len(problems)} problems")
    raise typer.Exit(1 if problems else 0)
