"""Measure what one shard of originals shows."""

from pathlib import Path

from codecap import job
from codecap.collect.survey import survey_shard
from codecap.records import Original, Survey, read_rows, write_rows


def survey_originals(shard: job.Shard, *, config: dict, params: dict, originals: Path, surveys: Path) -> None:
    rows = [row for row in read_rows(originals, Original) if row.status == "ok"]
    shard.reads(row.path for row in rows)
    made = survey_shard(rows, params["shots"], params["ingest"], params["code"], durable=Path(config["store"]["durable"]))
    write_rows(surveys, Survey, shard.counted(made, "surveys", len(rows)))
    shard.settle("surveys")


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        survey_originals(
            shard,
            config=snakemake.config,
            params=dict(snakemake.params.items()),
            originals=Path(snakemake.input.originals),
            surveys=Path(snakemake.output.surveys),
        )
