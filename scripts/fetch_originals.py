"""Fetch one shard of candidates."""

from pathlib import Path

from codecap import job, plan
from codecap.collect import fetch_shard
from codecap.records import Candidate, Original, read_rows, write_rows
from codecap.retries import Retries


def fetch_originals(*, config: dict, bucket: str, this_try: int, candidates: Path, originals: Path) -> None:
    shard = [row for row in read_rows(candidates, Candidate) if plan.bucket_of(row.candidate_id, config["buckets"]) == bucket]
    folder = Path(config["store"]["bulk"]) / "originals"
    rows = list(job.counted(fetch_shard(shard, config["sources"], folder), "originals", len(shard)))
    write_rows(originals, Original, rows)
    unfinished = job.tell_unfinished("originals", [row.reason for row in rows if row.status == "failed"])
    Retries(plan.RETRIES).settle(f"fetch_originals/{bucket}", this_try, unfinished)


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        fetch_originals(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            this_try=snakemake.params.this_try,
            candidates=Path(snakemake.input.candidates),
            originals=Path(snakemake.output.originals),
        )
