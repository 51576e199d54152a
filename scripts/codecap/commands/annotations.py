"""`codecap annotations`: check them, compare reviewers, hand them to other tools and take them back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codecap import config as configuration
from codecap import job, store
from codecap.commands.annotation_files import export, import_
from codecap.errors import UserError

if TYPE_CHECKING:
    from codecap.annotate.agreement import Agreement, Measure
    from codecap.annotate.quality import Signal
    from codecap.annotate.validate import Problem
    from codecap.records import Clip

app = typer.Typer(no_args_is_help=True, help="Check annotations, compare reviewers, exchange them with other tools.")
app.command()(export)
app.command("import")(import_)

Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files of the run, laid over config/config.yaml; by default config/demo.yaml."),
]
DEMO = [configuration.PROJECT / "config" / "demo.yaml"]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def check(
    clips: Annotated[list[str] | None, typer.Argument(help="Clip ids; by default all of the table.")] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder of <clip_id>.json; by default the configuration's `annotations_folder`.")
    ] = None,
    table: Annotated[Path | None, typer.Option("--table", help="Clips table; by default the configuration's `clips`.")] = None,
    videos: Annotated[
        bool, typer.Option("--videos", help="Decode the videos too: what moves, and doubts about the tracks.")
    ] = False,
    config: Config = DEMO,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with annotations, by named rules, and with --videos which tracks are doubtful.

    Errors keep an annotation from being approved and scored; warnings are worth a look. The exit status is 1 where there is an
    error, also where a clip of the table has no annotation.

        codecap annotations check --videos
        codecap annotations check --from results/3_annotate/annotations --table results/3_annotate/clips.tsv
    """
    with job.running():
        settings = configuration.load(*config)
        store.use(settings["store"])
        chosen, known = _chosen(settings, table, clips)
        folder = configuration.find(settings["annotations_folder"]) if source is None else source
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder of annotations; name one with --from")
        rows = list(_checked(chosen, folder, None if clips else known, videos))
    problems = [problem for found, _ in rows for problem in found]
    doubts = {clip_id: told for _, signals in rows for clip_id, told in signals.items()}
    if as_json:
        told = {
            "problems": [problem.model_dump(mode="json") for problem in problems],
            "signals": {
                clip_id: {name: [signal.model_dump(mode="json") for signal in there] for name, there in found.items()}
                for clip_id, found in doubts.items()
            },
        }
        typer.echo(json.dumps(told, indent=1))
    else:
        _tell(problems, doubts, len(chosen))
    raise typer.Exit(1 if any(problem.severity == "error" for problem in problems) else 0)


@app.command()
def agreement(
    reviews: Annotated[
        Path | None, typer.Option("--reviews", help="Folder of the reviews; by default the configuration's `review.folder`.")
    ] = None,
    config: Config = DEMO,
    as_json: AsJson = False,
) -> None:
    """Say how far two reviewers agree, on the clips that both reviewed before either saw the other's work.

    Overlap of focal intervals, visible intervals and boxes; Cohen's kappa and Gwet's AC1 on what of the drafts is wanted.
    """
    from codecap.annotate.agreement import agreement as measure
    from codecap.review.pairs import pairs

    with job.running():
        settings = configuration.load(*config)
        folder = configuration.find(settings["review"]["folder"]) if reviews is None else reviews
        found = pairs(folder) if folder.is_dir() else []
        if not found:
            raise UserError(
                f"{folder}: no clip there was finished by two reviewers; `review.twice` says how many clips two people get"
            )
        told = measure(found)
    if as_json:
        typer.echo(told.model_dump_json(indent=1))
    else:
        _tell_agreement(told)


def _chosen(settings: Mapping[str, Any], table: Path | None, names: list[str] | None) -> tuple[list[Clip], set[str]]:
    """The clips to check, and the ids of all of the table."""
    from codecap.clips_table import read_clips
    from codecap.plan import clips_folder

    found = configuration.find(settings["clips"]) if table is None else table
    if not found.is_file():
        raise UserError(f"{found}: no such clips table; name one with --table, or a configuration with --config")
    clips = {clip.clip_id: clip for clip in read_clips(found, clips_folder(settings, found))}
    unknown = [name for name in names or [] if name not in clips]
    if unknown:
        raise UserError(f"{', '.join(unknown)}: not in {found}; it has {len(clips)} clips, as {', '.join(list(clips)[:3])}")
    return [clips[name] for name in names] if names else list(clips.values()), set(clips)


def _checked(
    clips: list[Clip], folder: Path, known: set[str] | None, videos: bool
) -> Iterator[tuple[list[Problem], dict[str, Mapping[str, list[Signal]]]]]:
    """Problems and doubts, clip by clip; of all files that belong to no clip first, where `known` says which belong to one."""
    from codecap.annotate.approved import gather, strays
    from codecap.annotate.examining import examine

    if known is not None:
        yield strays(folder, known), {}
    for clip in job.counted(clips, "annotations checked", len(clips)):
        gathered, found = gather([clip], folder)
        annotation = gathered[clip.clip_id]
        if not videos or isinstance(annotation, str):
            yield found, {}
            continue
        examined = examine(annotation, clip)
        told = {(problem.rule, problem.about, problem.message) for problem in found}
        new = [problem for problem in examined.problems if (problem.rule, problem.about, problem.message) not in told]
        yield found + new, {clip.clip_id: examined.signals}


def _tell(problems: list[Problem], doubts: Mapping[str, Mapping[str, list[Signal]]], clips: int) -> None:
    from codecap.annotate.quality import why

    for problem in problems:
        typer.echo(str(problem))
    for clip_id, found in doubts.items():
        for told in why(found):
            typer.echo(f"{clip_id}: doubt: {told}")
    errors = sum(problem.severity == "error" for problem in problems)
    typer.echo(f"{clips} clips, {errors} errors, {len(problems) - errors} warnings")


def _tell_agreement(told: Agreement) -> None:
    typer.echo(f"{len(told.clips)} clips reviewed by two")
    names = {
        "interval_iou": "overlap of focal intervals",
        "visible_iou": "overlap of visible intervals",
        "box_iou": "overlap of boxes",
        "agreed": "same decision",
        "cohen_kappa": "Cohen's kappa",
        "gwet_ac1": "Gwet's AC1",
    }
    for key, name in names.items():
        typer.echo(f"{name:28} {_number(getattr(told, key))}")
    for clip in told.clips:
        wanted = f"both want {clip.both}, one alone {clip.only_first + clip.only_second}, neither {clip.neither}"
        alone = len(clip.unpaired_first) + len(clip.unpaired_second)
        typer.echo(f"{clip.clip_id}  {clip.first} and {clip.second}: {wanted}; {alone} that one alone added or renamed")


def _number(measure: Measure) -> str:
    if measure.value is None:
        return f"not defined, of {measure.n}"
    span = "" if measure.low is None else f" [{measure.low:.3f}, {measure.high:.3f}]"
    return f"{measure.value:.3f}{span}, of {measure.n}"
