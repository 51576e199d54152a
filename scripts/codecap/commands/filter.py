"""`codecap filter`: judge videos, train the scorecard, test it, and let people have the last word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codecap import config as configuration
from codecap import job
from codecap.commands.review import decide, review
from codecap.errors import UserError

if TYPE_CHECKING:
    from codecap.filtering.training import Labelled
    from codecap.records import Clip, Verdict

app = typer.Typer(no_args_is_help=True, help="Tell structured 2D content from all else.")
app.command()(review)
app.command()(decide)

DEMO = [configuration.PROJECT / "config" / "demo.yaml"]
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default config/demo.yaml."),
]
Folder = Annotated[Path | None, typer.Argument(help="Has keep/ and drop/ with videos of any kind.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command()
def check(
    places: Annotated[list[Path], typer.Argument(help="Videos, GIFs, folders of them, or folders with a clips.tsv.")],
    config: Config = DEMO,
    as_json: AsJson = False,
) -> None:
    """Say which videos are structured 2D content, and why (not), axis by axis. The exit status is 1 when one cannot be judged.

    codecap filter check clips
    codecap filter check film.mp4 screencast.gif --json
    """
    problems: list[str] = []
    verdicts: list[Verdict] = []
    with job.running():
        settings = configuration.load(*config)
        for verdict in _verdicts(places, settings, problems):
            verdicts.append(verdict)
            if not as_json:
                typer.echo(f"{verdict.decision:5} {verdict.clip_id}  {'; '.join(verdict.reasons)}")
        for problem in problems or ([] if verdicts else [f"{', '.join(map(str, places))}: no clips in it"]):
            typer.echo(f"codecap: {problem}", err=True)
    if as_json:
        told = [verdict.model_dump(mode="json", exclude={"clip_id", "retry"}) | {"clip": verdict.clip_id} for verdict in verdicts]
        typer.echo(json.dumps(told, indent=1))
    raise typer.Exit(1 if problems or not verdicts else 0)


@app.command()
def train(
    folder: Folder = None,
    specimens: Annotated[bool, typer.Option("--specimens", help="Draw those of which the shipped scorecard is, too.")] = False,
    variants: Annotated[int, typer.Option(min=1, max=100, help="Specimens of each drawer.")] = 3,
    penalty: Annotated[float, typer.Option(min=1e-6, help="Of large coefficients; more makes the chances milder.")] = 3.0,
    out: Annotated[Path, typer.Option("--out", help="Folder for scorecard.yaml, roc.json and roc.svg.")] = Path("filter"),
    config: Config = DEMO,
) -> None:
    """Train the scorecard on clips whose label is known, and tell how well it does on families left out in turn.

    The result is a configuration file:

        codecap filter train --specimens --out filter
        codecap filter train my_clips --specimens --out filter      my_clips/keep/*.mp4, my_clips/drop/*.mp4
        codecap filter check clips --config filter/scorecard.yaml
    """
    import yaml

    from codecap.filtering import evaluation, scorecard, training
    from codecap.filtering.verdict import FilterSettings
    from codecap.records import write_whole

    with job.running():
        told = configuration.load(*config)
        keep_above = FilterSettings.of(told["filter"]).keep_above
        clips = _labelled(folder, told, specimens, False, variants)
        card = training.train(clips, penalty)
        odds = training.left_out(clips, penalty)
        curve = evaluation.curve_of([clip.keep for clip in clips], odds)
        outcome = evaluation.outcome_of(clips, [scorecard.chance_of(value) > keep_above for value in odds])
        record = evaluation.as_record(curve, outcome, clips, odds)
        write_whole(out / "scorecard.yaml", [yaml.safe_dump({"filter": scorecard.as_section(card)}, sort_keys=False)])
        write_whole(out / "roc.json", [json.dumps(record, indent=1) + "\n"])
        write_whole(out / "roc.svg", [evaluation.as_svg(curve, outcome, len(clips))])
    typer.echo(f"{out / 'scorecard.yaml'}  of {len(clips)} clips; area under the curve {curve.area:.3f}, families left out in turn")
    _tell_outcome(outcome)


@app.command("test")
def test_(
    folder: Folder = None,
    unseen: Annotated[
        bool, typer.Option("--unseen", help="Draw the specimens that the shipped scorecard was not trained on, too.")
    ] = False,
    variants: Annotated[int, typer.Option(min=1, max=100, help="Specimens of each drawer.")] = 2,
    config: Config = DEMO,
    as_json: AsJson = False,
) -> None:
    """Tell how many clips whose label is known the configured scorecard decides rightly, with intervals of 95 %. No vote is asked.

    codecap filter test --unseen
    """
    from codecap.filtering import evaluation
    from codecap.filtering.verdict import FilterSettings, keep_chance

    with job.running():
        told = configuration.load(*config)
        settings = FilterSettings.of(told["filter"])
        clips = _labelled(folder, told, False, unseen, variants)
        chances = [keep_chance(clip.features, settings) for clip in clips]
        outcome = evaluation.outcome_of(clips, [chance > settings.keep_above for chance in chances])
    if as_json:
        rows = [
            {"name": clip.name, "keep": clip.keep, "chance": round(chance, 4)} for clip, chance in zip(clips, chances, strict=True)
        ]
        typer.echo(json.dumps(evaluation.outcome_record(outcome) | {"clips": rows}, indent=1))
    else:
        _tell_outcome(outcome)


def _tell_outcome(outcome: Any) -> None:
    typer.echo(f"to keep: {outcome.kept.in_words} kept")
    typer.echo(f"to drop: {outcome.dropped.in_words} dropped")
    for name in outcome.wrong:
        typer.echo(f"wrong: {name}")


def _labelled(folder: Path | None, config: dict[str, Any], seen: bool, unseen: bool, variants: int) -> list[Labelled]:
    """Measured clips of a folder and of specimens, told while they are measured."""
    from codecap.collect.ingest import IngestSettings
    from codecap.filtering import specimens
    from codecap.filtering.labelled import drawn, read_folder

    if folder is None and not seen and not unseen:
        raise UserError("no labelled clips: name a folder that has keep/ and drop/, or have specimens drawn (--help)")
    sources: list[Iterable[Labelled]] = [read_folder(folder, IngestSettings(**config["ingest"]))] if folder else []
    sources += [drawn(specimens.drawers(), variants)] if seen else []
    sources += [drawn(specimens.unseen(), variants)] if unseen else []
    clips = []
    for source in sources:
        for clip in source:
            clips.append(clip)
            if len(clips) % 20 == 0:
                typer.echo(f"measured {len(clips)} clips", err=True)
    return clips


def _verdicts(places: list[Path], config: dict[str, Any], problems: list[str]) -> Iterator[Verdict]:
    """Verdicts on clips of tables and on videos, which are brought to the canonical clock for it."""
    import contextlib
    import tempfile

    from codecap.exchange import session
    from codecap.filtering.verdict import FilterSettings, filter_clip

    settings = FilterSettings.of(config["filter"])
    durable = Path(config["store"]["durable"])
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codecap-filter-")))
        if settings.vote is not None:
            stack.enter_context(session(durable, config.get("exchange"), stage="filter_clips"))
        for clip in _clips(places, config, folder, problems):
            try:
                yield filter_clip(clip, settings)
            except UserError as error:
                problems.append(str(error))


def _clips(places: list[Path], config: dict[str, Any], folder: Path, problems: list[str]) -> Iterator[Clip]:
    from codecap.clips_table import read_clips
    from codecap.collect.ingest import IngestSettings, ingest_files
    from codecap.collect.naming import find_videos

    tables = [place for place in places if (place / "clips.tsv").is_file()]
    for place in tables:
        yield from read_clips(place / "clips.tsv", problems=problems)
    videos, others = find_videos([place for place in places if place not in tables])
    problems += [f"{path}: does not end like a video" for path in others]
    for number, video in enumerate(videos):
        (row,) = ingest_files([video], folder / str(number), settings=IngestSettings(**config["ingest"]))
        if row.clip is None:
            problems.append(row.reason)
        else:
            yield row.clip
            row.clip.mp4.unlink(missing_ok=True)
