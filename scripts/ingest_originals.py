"""Bring one shard of originals to the canonical clock."""

from pathlib import Path

from codecap import job
from codecap.collect.clips import ingest_shard
from codecap.records import Ingested, Original, read_rows, write_rows


def ingest_originals(*, config: dict, settings: dict, code: str, originals: Path, clips: Path) -> None:
    rows = list(read_rows(originals, Original))
    made = ingest_shard(rows, settings, code, bulk=Path(config["store"]["bulk"]))
    write_rows(clips, Ingested, job.counted(made, "clips", len(rows)))


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        ingest_originals(
            config=snakemake.config,
            settings=snakemake.params.settings,
            code=snakemake.params.code,
            originals=Path(snakemake.input.originals),
            clips=Path(snakemake.output.clips),
        )
