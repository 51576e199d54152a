"""Make the reference side of one lane's metrics for one shard of clips."""

from pathlib import Path

from codecap import job, plan
from codecap.records import write_rows
from codecap.retries import Retries
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane, Reference, describe_shard


def describe_references(*, config: dict, bucket: str, lane: str, params: dict, references: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    store = {root: Path(config["store"][root]) for root in ("durable", "bulk")}
    metrics = Lane([Choice(**metric) for metric in params["metrics"]], Choice(**params["shots"]), **store)
    rows = list(job.counted(describe_shard(clips, metrics), "references", len(clips)))
    write_rows(references, Reference, rows)
    unfinished = job.tell_unfinished("references", [row.status for row in rows if row.status != "ok"])
    Retries(plan.RETRIES).settle(f"describe_references/{lane}/{bucket}", params["this_try"], unfinished)


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        describe_references(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            lane=snakemake.wildcards.lane,
            params=dict(snakemake.params.items()),
            references=Path(snakemake.output.references),
        )
