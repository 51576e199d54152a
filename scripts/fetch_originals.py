"""Fetch one shard of candidates."""

from pathlib import Path

from codecap import job, plan
from codecap.collect import fetch_shard
from codecap.records import LATER, Candidate, Original, read_rows, write_rows


def fetch_originals(shard: job.Shard, *, config: dict, bucket: str, candidates: Path, originals: Path) -> None:
    offered = [row for row in read_rows(candidates, Candidate) if plan.bucket_of(row.candidate_id, config["buckets"]) == bucket]
    roots = [Path(config["store"][name]) for name in ("bulk", "durable")]
    rows = list(shard.counted(fetch_shard(offered, config["sources"], *roots), "originals", len(offered)))
    write_rows(originals, Original, rows)
    failed = [row for row in rows if row.status == "failed" and (row.cause is None or row.cause in LATER)]
    shard.settle("originals", [(row.candidate.candidate_id, row.reason) for row in failed], files=[row.path for row in rows])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        fetch_originals(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            candidates=Path(snakemake.input.candidates),
            originals=Path(snakemake.output.originals),
        )
