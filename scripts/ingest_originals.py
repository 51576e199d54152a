"""Bring the chosen parts of one shard of originals to the canonical clock."""

from pathlib import Path

from codecap import job
from codecap.collect.clips import ingest_shard
from codecap.records import Ingested, Original, Part, PassedOver, read_rows, write_rows


def ingest_originals(shard: job.Shard, *, config: dict, settings: dict, code: str, inputs: dict, clips: Path) -> None:
    rows = list(read_rows(inputs["originals"], Original))
    shard.reads(row.path for row in rows)
    ours = {row.candidate.candidate_id for row in rows}
    parts = [row for row in read_rows(inputs["parts"], Part) if row.candidate_id in ours]
    passed_over = [row for row in read_rows(inputs["passed_over"], PassedOver) if row.candidate_id in ours]
    made = ingest_shard(rows, parts, passed_over, settings, code, bulk=Path(config["store"]["bulk"]))
    ingested = list(shard.counted(made, "clips", len(parts) + len(ours - {part.candidate_id for part in parts})))
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
            inputs=dict(snakemake.input.items()),
            clips=Path(snakemake.output.clips),
        )
