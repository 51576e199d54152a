"""`codecap store`: look after the item store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codecap import config as configuration
from codecap import job
from codecap import store as kept

if TYPE_CHECKING:
    from codecap.store.packing import Done

app = typer.Typer(no_args_is_help=True, help="Look after the item store.")
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default config/demo.yaml."),
]
DEMO = [configuration.PROJECT / "config" / "demo.yaml"]


@app.command()
def verify(
    config: Config = DEMO,
    contents: Annotated[bool, typer.Option("--contents", help="Read every file, and compare it with what was written.")] = False,
) -> None:
    """Check every stored item against its files; exit status 1 when something is missing or damaged."""
    with job.running():
        problems = [problem for root in _roots(config) for problem in kept.verify(root, contents)]
    for problem in problems:
        typer.echo(problem)
    typer.echo(f"{len(problems)} problems")
    raise typer.Exit(1 if problems else 0)


@app.command()
def log(
    config: Config = DEMO, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False
) -> None:
    """Count what was ever made, a line a stage and system. What was found in the store is not made again and not counted."""
    from collections import Counter

    with job.running():
        entries = [entry for root in _roots(config) for entry in kept.made(root)]
    if as_json:
        typer.echo(json.dumps(entries))
        return
    for (stage, system), count in sorted(Counter((entry["stage"], entry["system"]) for entry in entries).items()):
        typer.echo(f"{count:6} {stage:28} {system}")


@app.command()
def pack(config: Config = DEMO) -> None:
    """Put finished items into few files, one a stage, system and shard. At any time; runs go on and find them there.

    Where something is read over NFS at that moment, it may have to be tried again. `store.pack: true` in the configuration has each
    job pack what it has finished.
    """
    from codecap.plan import bucket_of
    from codecap.store import packing

    with job.running():
        buckets = configuration.load(*config)["buckets"]
        _each(config, lambda root: packing.pack(root, lambda clip_id: bucket_of(clip_id, buckets)), "packed")


@app.command()
def unpack(config: Config = DEMO) -> None:
    """Make packed items loose files again."""
    from codecap.store import packing

    with job.running():
        _each(config, packing.unpack, "unpacked")


@app.command()
def clean(config: Config = DEMO) -> None:
    """Remove what killed writers have left: drafts, and files that no item names, when they are a day old. Items stay."""
    with job.running():
        removed = [path for root in _roots(config) for path in kept.clean(root)]
    for path in removed:
        typer.echo(f"removed {path}")
    typer.echo(f"{len(removed)} files removed")


def _each(config: list[Path], work: Callable[[Path], Iterable[tuple[Path, Done]]], done: str) -> None:
    items = files = 0
    for root in _roots(config):
        for folder, made in work(root):
            items, files = items + made.items, files + made.files
            if made.items or made.files:
                typer.echo(f"{made.items:6} items {done}, {made.files:+6} files  {folder}")
    typer.echo(f"{items} items {done}, {files:+} files")


def _roots(config: list[Path]) -> list[Path]:
    """The store's roots, each once; the store goes by the configuration from here on."""
    section = configuration.load(*config)["store"]
    kept.use(section)
    return list(dict.fromkeys(Path(section[root]) for root in ("durable", "bulk")))
