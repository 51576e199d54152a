"""`codecap dataset`: freeze a data set, publish it, check one, and make its videos again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job, store

app = typer.Typer(no_args_is_help=True, help="Freeze a data set, publish it, check one, make its videos again, look for link rot.")
DEMO = [configuration.PROJECT / "config" / "demo.yaml"]
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files of the run, laid over config/config.yaml; by default config/demo.yaml."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def freeze(
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Clips table to take clips from; by default results/3_annotate/clips.tsv, else --out."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The frozen table; by default the configuration's `clips`.")] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Of the data set, as 1.1.0; by default `dataset.version`.")
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Let clips leave a table that was frozen before.")] = False,
    config: Annotated[
        list[Path] | None, typer.Option("--config", help="Configuration files laid over config/config.yaml, in order.")
    ] = None,
) -> None:
    """Write the clips table that the benchmark runs on: only clips with an approved annotation, each with its digest and version.

    A run tells when an annotation is not the one that the table was frozen with. After a change, freeze a later version: only what
    depends on the changed annotations is scored again. Commit the table and the annotations together.

        codecap dataset freeze --version 1.1.0 --config my.yaml
    """
    from codecap.publish.freezing import freeze as write

    with job.running():
        settings = configuration.load(*(config or ()))
        store.use(settings["store"])
        found = write(settings, source, out, version, drop)
    for clip_id, reason in found.left_out.items():
        typer.echo(f"{clip_id}: not in the table: {reason}", err=True)
    told = found.version
    typer.echo(f"{found.table}  version {told.version}, {told.clips} clips, sha256 {told.sha256}")
    if not found.is_new:
        typer.echo("nothing has changed since then")
    for what, names in (("came in or changed", told.changed), ("left", told.left)) if found.is_new else ():
        if names:
            typer.echo(f"{what}: {', '.join(names)}")


@app.command()
def export(
    out: Annotated[Path, typer.Option("--out", help="Folder to publish; made anew.")],
    ledger: Annotated[
        Path | None, typer.Option(help="ledger.jsonl of the collection; by default the run's in this folder.")
    ] = None,
    config: Config = DEMO,
) -> None:
    """Write the committed clips table, its annotations, ledger and recipe as a folder to publish, with Croissant metadata.

    Videos are put in only where their licence allows it (`dataset.media_licences` in the configuration); the others can be made
    again by `codecap dataset rebuild`, from their sites.
    """
    from codecap.publish.about import About
    from codecap.publish.export import export as write
    from codecap.publish.material import read_material

    with job.running():
        settings = configuration.load(*config)
        store.use(settings["store"])
        about = About.of(settings.get("dataset") or {})
        material = read_material(settings, ledger)
        made = write(material, about, out)
    typer.echo(f"{out}  {made.clips} clips, {made.videos} with their video, {made.bytes / 1e6:.1f} MB")
    if not material.ledger:
        typer.echo("no clip has an address: no ledger of a collection is here; name it with --ledger, if there is one")
    for clip_id, reason in made.lost.items():
        typer.echo(f"{clip_id}: nobody can have its video: its licence does not allow it here, and {reason}")
    unsaid = [name for name in ("url", "creators", "citation") if not getattr(about, name)]
    if unsaid:
        typer.echo(f"not said, though whoever uses it will ask: {', '.join(f'dataset.{name}' for name in unsaid)}")


@app.command()
def verify(folder: Annotated[Path, typer.Argument(help="A folder that `codecap dataset export` made.")]) -> None:
    """Check a published folder: digests, tables, annotations, prints, metadata, and that videos are those of the table.

    The exit status is 1 when something is wrong.
    """
    from codecap.publish.verifying import verify as check

    with job.running():
        problems = check(folder)
    for problem in problems:
        typer.echo(problem)
    typer.echo(f"{len(problems)} problems")
    raise typer.Exit(1 if problems else 0)


@app.command()
def recheck(config: Config = DEMO) -> None:
    """Ask the sites of a collection which of its videos they have still, and which of those that could not be had are there now.

    Nothing is fetched. The ledger keeps the answers. A call that was broken off is gone on with by the next one of the same day.
    """
    from datetime import UTC, datetime

    from codecap.collect.recheck import recheck as ask

    with job.running():
        settings = configuration.load(*config)
        store.use(settings["store"])
        roots = [Path(settings["store"][name]) for name in ("bulk", "durable")]
        told = []
        for one in ask(settings["sources"], *roots, datetime.now(UTC).strftime("%Y-%m-%d")):
            told.append(one)
            state = "not asked" if one.there is None else "gone" if one.is_lost else "can be had" if one.can_be_had else ""
            if state:
                typer.echo(f"{state:10} {one.entry.candidate.candidate_id}  {one.entry.candidate.locator}  {one.reason}".rstrip())
    lost, new = sum(one.is_lost for one in told), sum(one.can_be_had for one in told)
    unknown = sum(one.there is None for one in told)
    typer.echo(f"{len(told)} asked about: {lost} gone, {new} can be had again, {unknown} not answered")
    typer.echo(
        "next: snakemake ... dataset -R fetch_originals brings what can be had, and tells all of it in results/1_collect/ledger.tsv"
    )


@app.command()
def rebuild(
    folder: Annotated[Path, typer.Argument(help="A published folder: from `codecap dataset export`, wherever it comes from.")],
    out: Annotated[Path, typer.Option("--out", help="Where clips.tsv, clips/ and annotations/ go; an earlier call goes on there.")],
    originals: Annotated[
        list[Path] | None, typer.Option("--originals", help="Files, and folders of files, to use instead of fetching them.")
    ] = None,
    keep_originals: Annotated[bool, typer.Option("--keep-originals", help="Keep what was fetched.")] = False,
    config: Config = DEMO,
    as_json: AsJson = False,
) -> None:
    """Make the videos of a published data set again: fetch the originals, cut the clips, compare them with the published ones.

    Each clip is bit-equal, equivalent (the same pictures in other bytes, found by their looks), or lost, with the reason; the same
    stands in OUT/rebuilt.jsonl. How sites are reached (proxy, cookies) is taken from `sources` of your configuration.
    The exit status is 1 when a clip is lost. Another call tries those again.
    """
    from codecap.publish.fetching import Originals
    from codecap.publish.folder import read_published
    from codecap.publish.rebuild import rebuild as make
    from codecap.publish.rebuild import summary

    with job.running():
        settings = configuration.load(*config)
        published = read_published(folder)
        rows = make(published, out, Originals(published, settings["sources"], out, originals or []), keep_originals)
    told = summary(rows)
    if as_json:
        typer.echo(json.dumps({**told, "rows": [row.model_dump(mode="json") for row in rows]}, indent=1))
    else:
        for row in rows:
            shift = f"{row.offset_s:+.2f} s  " if row.offset_s else ""
            apart = f"differs by {row.mean_levels:.1f} levels" if row.mean_levels is not None else ""
            typer.echo(f"{row.state:10} {row.clip_id}  {shift}{apart}{row.reason}")
        typer.echo(", ".join(f"{told[state]} {state}" for state in ("bit-equal", "equivalent", "lost")))
    raise typer.Exit(1 if told["lost"] else 0)
