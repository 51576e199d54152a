"""Decide for one shard of ingested clips which are structured 2D content."""

from pathlib import Path

from codecap import job
from codecap.filtering.verdict import filter_shard
from codecap.records import Ingested, Verdict, read_rows, write_rows


def filter_clips(shard: job.Shard, *, config: dict, settings: dict, code: str, clips: Path, verdicts: Path) -> None:
    rows = [row.clip for row in read_rows(clips, Ingested) if row.clip is not None]
    made = filter_shard(rows, settings, code, durable=Path(config["store"]["durable"]))
    write_rows(verdicts, Verdict, shard.counted(made, "verdicts", len(rows)))


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        filter_clips(
            shard,
            config=snakemake.config,
            settings=snakemake.params.settings,
            code=snakemake.params.code,
            clips=Path(snakemake.input.clips),
            verdicts=Path(snakemake.output.verdicts),
        )
