"""Turn the rows of all stages into tables with intervals."""

from collections.abc import Iterator
from pathlib import Path

from codecap import job, plan
from codecap.annotate.validate import Problem
from codecap.compare.columns import describe
from codecap.compare.tables import tabulate
from codecap.publish.statistics import statistics_of
from codecap.records import Annotation, Answer, Caption, HumanScore, Render, Row, Score, read_rows, write_record
from codecap.report.figures import draw_all
from codecap.reproducing.sealing import seal

TITLE = "CodeCap: can code be a good video caption?"


def compare_systems(
    *, config: dict, models: dict, texts: dict, problems: list[str], inputs: dict, comparison: Path, figures: Path
) -> None:
    def rows(name: str, kind: type[Row]) -> Iterator[Row]:
        return (row for path in inputs[name] for row in read_rows(path, kind))

    made = tabulate(
        title=TITLE,
        models=models,
        metrics=describe(config["metrics"]),
        clips=plan.all_clips(config),
        annotations=rows("annotations", Annotation),
        captions=rows("captions", Caption),
        renders=rows("renders", Render),
        scores=rows("scores", Score),
        humans=rows("humans", HumanScore),
        answers=rows("answers", Answer),
        problems=[*problems, *(f"{row.place}: {row.message}" for row in rows("problems", Problem) if row.severity == "error")],
        texts=texts,
        config=config,
        out_dir=comparison.parent,
    )
    annotated = {row.clip_id: row for row in rows("annotations", Annotation)}
    draw_all(made, statistics_of(made.clips, annotated), figures)
    sealed = seal(config, plan.all_clips(config), rows("annotations", Annotation), inputs.get("tracks", []))
    write_record(comparison.with_name("artefacts.json"), sealed)


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        compare_systems(
            config=snakemake.config,
            models=snakemake.params.models,
            texts=snakemake.params.texts,
            problems=list(snakemake.params.problems),
            inputs=dict(snakemake.input.items()),
            comparison=Path(snakemake.output.comparison),
            figures=Path(snakemake.output.figures),
        )
