"""`codecap store`: look after the item store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codecap import config as configuration
from codecap import job
from codecap import store as kept
from codecap.errors import UserError

if TYPE_CHECKING:
    from codecap.store.packing import Done

app = typer.Typer(no_args_is_help=True, help="Look after the item store.")
Config = Annotated[
    list[Path] | None,
    typer.Option("--config", help="Configuration files laid over config/config.yaml; by default the run's own, else the demo's."),
]
DEMO = configuration.PROJECT / "config" / "demo.yaml"


@app.command()
def verify(
    config: Config = None,
    contents: Annotated[bool, typer.Option("--contents", help="Read every file, and compare it with what was written.")] = False,
) -> None:
    """Check every stored item against its files; exit status 1 when something is missing or damaged.

    In a run's folder also the files that the run's rows name, of which a purge may have left nothing.
    """
    with job.running():
        settings = settings_of(config)
        found = [problem for root in _roots(settings) for problem in kept.verify(root, contents)]
        problems = list(dict.fromkeys([*found, *_not_there(settings)]))
    for problem in problems:
        typer.echo(problem)
    typer.echo(f"{len(problems)} problems")
    raise typer.Exit(1 if problems else 0)


@app.command()
def log(
    config: Config = None, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False
) -> None:
    """Count what was ever made, a line a stage and system. What was found in the store is not made again and not counted."""
    from collections import Counter

    with job.running():
        entries = [entry for root in _roots(settings_of(config)) for entry in kept.made(root)]
    if as_json:
        typer.echo(json.dumps(entries))
        return
    for (stage, system), count in sorted(Counter((entry["stage"], entry["system"]) for entry in entries).items()):
        typer.echo(f"{count:6} {stage:28} {system}")


@app.command()
def pack(config: Config = None) -> None:
    """Put finished items into few files, one a stage, system and shard. At any time; runs go on and find them there.

    Where something is read over NFS at that moment, it may have to be tried again. `store.pack: true` in the configuration has each
    job pack what it has finished.
    """
    from codecap.plan import bucket_of
    from codecap.store import packing

    with job.running():
        settings = settings_of(config)
        whole = _each(settings, lambda root: packing.pack(root, lambda clip: bucket_of(clip, settings["buckets"])), "packed")
    raise typer.Exit(0 if whole else 1)


@app.command()
def unpack(config: Config = None) -> None:
    """Make packed items loose files again. Of a damaged pack, all that is whole; exit status 1 where something is not."""
    from codecap.store import packing

    with job.running():
        whole = _each(settings_of(config), packing.unpack, "unpacked")
    raise typer.Exit(0 if whole else 1)


@app.command()
def clean(config: Config = None) -> None:
    """Remove what killed writers have left: drafts, and files that no item names, when they are a day old. Items stay."""
    with job.running():
        removed = [path for root in _roots(settings_of(config)) for path in kept.clean(root)]
    for path in removed:
        typer.echo(f"removed {path}")
    typer.echo(f"{len(removed)} files removed")


def settings_of(config: list[Path] | None) -> dict[str, Any]:
    """The configuration in these files; without any that of the run in the working folder, and where none was begun the demo's.

    Which it is, is said where a user sees it, beside the places of the store.
    """
    from codecap.status import CONFIG, recorded

    if config:
        settings, whose = configuration.load(*config), ", ".join(map(str, config))
    elif CONFIG.exists():
        settings, whose = recorded(), f"the run in {Path.cwd()}"
    else:
        settings, whose = configuration.load(DEMO), "the demo, since no run was begun in this folder"
    store = " and ".join(str(root.absolute()) for root in _places(settings))
    typer.echo(f"store: {store} (configuration: {whose})", err=True)
    return settings


def _each(settings: Mapping[str, Any], work: Callable[[Path], Iterable[tuple[Path, Done]]], done: str) -> bool:
    """Work on each root, and tell what was done; whether nothing was damaged."""
    items = files = lost = 0
    for root in _roots(settings):
        for folder, made in work(root):
            items, files, lost = items + made.items, files + made.files, lost + len(made.lost)
            if made.items or made.files:
                typer.echo(f"{made.items:6} items {done}, {made.files:+6} files  {folder}")
            for told in made.lost:
                typer.echo(told)
    typer.echo(f"{items} items {done}, {files:+} files")
    return not lost


def _roots(settings: Mapping[str, Any]) -> list[Path]:
    """The store's roots that are there, each once; the store goes by the configuration from here on.

    Raises:
        UserError: none is there.
    """
    places = _places(settings)
    roots = [root for root in places if root.is_dir()]
    if not roots:
        raise UserError(
            f"{' and '.join(str(root.absolute()) for root in places)}: no such folder, so there is no store to look at; "
            "name the run's configuration with --config, or go to the run's folder"
        )
    for root in places:
        if root not in roots:
            typer.echo(f"codecap: {root.absolute()}: no such folder: nothing was put there yet, or all of it is gone", err=True)
    kept.use(settings["store"])
    return roots


def _not_there(settings: Mapping[str, Any]) -> Iterator[str]:
    """Roots that are not there; and files in the store that rows of this folder's run name, and that are not there."""
    from codecap.shards import SHARDS, Journals

    places = _places(settings)
    for root in places:
        if not root.is_dir():
            yield f"{root}: no such folder; what the run needs of it is made again at the next run"
    for mark in Journals(SHARDS).every().values():
        for path in map(Path, mark.files):
            in_it = any(path.absolute().is_relative_to(root.absolute()) for root in places)
            if in_it and not kept.there(path):
                yield f"{path}: missing; it is made again at the next run"


def _places(settings: Mapping[str, Any]) -> list[Path]:
    return list(dict.fromkeys(Path(settings["store"][root]) for root in ("durable", "bulk")))
