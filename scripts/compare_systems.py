"""Turn the rows of all stages into tables with intervals."""

from collections.abc import Iterator
from pathlib import Path

from codecap import job, plan
from codecap.annotate.validate import Problem
from codecap.compare.columns import describe
from codecap.compare.tables import tabulate
from codecap.records import Annotation, Caption, HumanScore, Render, Row, Score, read_rows

TITLE = "CodeCap: can code be a good video caption?"


def compare_systems(*, config: dict, models: dict, problems: list[str], inputs: dict, comparison: Path) -> None:
    def rows(name: str, kind: type[Row]) -> Iterator[Row]:
        return (row for path in inputs[name] for row in read_rows(path, kind))

    tabulate(
        title=TITLE,
        models=models,
        metrics=describe(config["metrics"]),
        clips=plan.all_clips(config),
        annotations=rows("annotations", Annotation),
        captions=rows("captions", Caption),
        renders=rows("renders", Render),
        scores=rows("scores", Score),
        humans=rows("humans", HumanScore),
        problems=[*problems, *(f"{row.place}: {row.message}" for row in rows("problems", Problem) if row.severity == "error")],
        out_dir=comparison.parent,
    )


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        compare_systems(
            config=snakemake.config,
            models=snakemake.params.models,
            problems=list(snakemake.params.problems),
            inputs=dict(snakemake.input.items()),
            comparison=Path(snakemake.output.comparison),
        )
