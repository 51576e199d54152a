"""`codecap weights`: what there is, what is here, and how it comes here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job

app = typer.Typer(
    no_args_is_help=True, help="The weights of the real backends: one folder, fetched and checked before anything runs."
)

Names = Annotated[list[str] | None, typer.Argument(help="Entries of resources/weights.yaml; by default those that are needed.")]
Config = Annotated[
    list[Path] | None,
    typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default none: the paper's."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command("list")
def list_(config: Config = None, as_json: AsJson = False) -> None:
    """List all weights: size, licence, whether they are here, and whether the configuration needs them."""
    from codecap import weights
    from codecap.weights import needs

    with job.running():
        wanted = needs.of(configuration.load(*config or []))
        rows = [
            {
                "name": name,
                "about": told.about,
                "size_gb": told.size_gb,
                "licence": told.licence,
                "gated": told.gated,
                **_state(name),
                "prepared": _prepared(name) if told.prepare else None,
                "needed_by": wanted.get(name, []),
                "sources": [part.model_dump(mode="json", exclude_defaults=True) for part in told.parts],
            }
            for name, told in weights.table().items()
        ]
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        marks = [row["state"], *(["prepared" if row["prepared"] else "not prepared"] if row["prepared"] is not None else [])]
        gate = ", gated" if row["gated"] else ""
        typer.echo(f"{row['name']:26} {row['size_gb']:6.2f} GB  {', '.join(marks)}  ({row['licence']}{gate})")
        if row["problem"]:
            typer.echo(f"{'':37} {row['problem']}")
        if row["needed_by"]:
            typer.echo(f"{'':37} needed by {', '.join(row['needed_by'])}")
    typer.echo(f"folder: {weights.folder()}")


@app.command()
def fetch(names: Names = None, config: Config = None) -> None:
    """Fetch weights, where there is a network; what is there and unchanged is left. Gated ones need HF_TOKEN."""
    from codecap.weights.fetching import fetch, in_bytes

    with job.running(network=True):
        for name in _chosen(names, config):
            made = fetch(name, tell=lambda line: typer.echo(line, err=True))
            typer.echo(f"{name}: {len(made.files)} files, {in_bytes(sum(file.size_bytes for file in made.files.values()))}")


@app.command()
def verify(names: Names = None, config: Config = None) -> None:
    """Read every byte and compare it with the table and with the first fetch. Exit status 1 when something is wrong."""
    from codecap import weights
    from codecap.weights import manifest

    with job.running():
        problems = 0
        for name in _chosen(names, config):
            told = weights.entry(name)
            try:
                found = manifest.verify(name, told)
            except weights.WeightsMissing as error:
                found = [str(error)]
            for problem in found:
                typer.echo(f"{name}: {problem}", err=True)
            if not found:
                exact = all(part.pinned for part in told.parts)
                typer.echo(f"{name}: ok" + ("" if exact else f" ({manifest.UNVERIFIED}; as at the first fetch)"))
            problems += len(found)
    raise typer.Exit(1 if problems else 0)


@app.command()
def prepare(
    names: Names = None,
    config: Config = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A released checkpoint of your own, for the one entry that is named.")
    ] = None,
    code: Annotated[Path | None, typer.Option(help="A checkout of your own to build the network with.")] = None,
) -> None:
    """Convert what is slow to load, once: V-JEPA 2.1's training checkpoint becomes a file of the encoder alone."""
    from codecap import weights
    from codecap.weights import preparing

    if checkpoint and len(names or []) != 1:
        raise typer.BadParameter("needs the one entry that it is a checkpoint of: codecap weights prepare NAME --checkpoint FILE")
    with job.running():
        for name in names or [name for name in _chosen(names, config) if weights.entry(name).prepare]:
            typer.echo(f"{name}: {preparing.prepare(name, checkpoint, code)}")


def _chosen(names: list[str] | None, config: list[Path] | None) -> list[str]:
    from codecap.weights import entry, needs

    if names:
        for name in names:
            entry(name)  # a wrong name is told before anything is fetched
        return names
    needed = list(needs.of(configuration.load(*config or [])))
    if not needed:
        typer.echo("this configuration needs no weights")
    return needed


def _state(name: str) -> dict[str, str]:
    from codecap import weights
    from codecap.weights import manifest

    try:
        manifest.check(name, weights.entry(name))
    except weights.WeightsMissing as error:
        there = manifest.path_of(name).exists()
        return {"state": "wrong" if there else "not here", "problem": str(error) if there else ""}
    return {"state": "here", "problem": ""}


def _prepared(name: str) -> bool:
    from codecap import weights

    try:
        weights.find_prepared(name)
    except weights.WeightsMissing:
        return False
    return True
