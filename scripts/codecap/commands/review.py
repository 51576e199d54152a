"""`codecap filter review` and `codecap filter decide`: people keep or drop clips, and the next run obeys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job, store

DEMO = [configuration.PROJECT / "config" / "demo.yaml"]
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files of the run, laid over config/config.yaml; by default config/demo.yaml."),
]


def review(
    out: Annotated[Path, typer.Option("--out", help="Folder of the review sheet; made anew.")],
    config: Config = DEMO,
) -> None:
    """Make a page on which a person keeps or drops the run's clips by single keys: contact sheets, verdicts, reasons.

    Run it where `snakemake dataset` ran. The page works from disk in any browser, and exports what was decided as a table.

        codecap filter review --out review
        codecap filter decide decisions-*.tsv
        snakemake ... dataset
    """
    from codecap.filtering.decisions import of_config
    from codecap.filtering.review import make_review, of_run

    with job.running():
        settings = configuration.load(*config)
        store.use(settings["store"])
        found = of_run(settings)
        page = make_review(found, of_config(settings), out)
    kept = sum(one.verdict.decision == "keep" for one in found)
    typer.echo(f"{page}  {len(found)} clips; the filter keeps {kept}")


def decide(
    files: Annotated[list[Path], typer.Argument(help="Tables that the review sheet exported.")],
    config: Config = DEMO,
) -> None:
    """Check what was decided on a review sheet, and add it to the configuration's table of decisions, for you to commit.

    Nothing is taken over when anything is wrong; each wrong line is named. Of two decisions about one clip the later one holds.
    """
    from codecap.filtering.decisions import place_of, take_over
    from codecap.filtering.review import of_run

    with job.running():
        settings = configuration.load(*config)
        table = place_of(settings)
        if table is None:
            raise configuration.ConfigError("decisions: is null; name the table that they are put into, as config/decisions.tsv")
        changed, disputes = take_over(files, table, {one.clip.clip_id: one.clip for one in of_run(settings)})
    for dispute in disputes:
        typer.echo(dispute)
    typer.echo(f"{table}  {changed} decisions are new or changed; the next run of `snakemake dataset` obeys them")
