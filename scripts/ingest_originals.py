"""Bring one shard of originals to the canonical clock."""

from pathlib import Path

from codecap import job
from codecap.collect.clips import ingest_shard
from codecap.records import Ingested, Original, read_rows, write_rows


def ingest_originals(shard: job.Shard, *, config: dict, settings: dict, code: str, originals: Path, clips: Path) -> None:
    rows = list(read_rows(originals, Original))
    shard.reads(row.path for row in rows)
    made = ingest_shard(rows, settings, code, bulk=Path(config["store"]["bulk"]))
    ingested = list(shard.counted(made, "clips", len(rows)))
    write_rows(clips, Ingested, ingested)
    shard.settle("clips", files=[row.clip.mp4 for row in ingested if row.clip is not None])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        ingest_originals(
            shard,
            config=snakemake.config,
            settings=snakemake.params.settings,
            code=snakemake.params.code,
            originals=Path(snakemake.input.originals),
            clips=Path(snakemake.output.clips),
        )
