"""Make the reference side of one lane's metrics for one shard of clips."""

from pathlib import Path

from codecap import job, plan
from codecap.records import write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane, Reference, describe_shard


def describe_references(*, config: dict, bucket: str, metrics: list[dict], shots: dict, references: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    store = {root: Path(config["store"][root]) for root in ("durable", "bulk")}
    lane = Lane([Choice(**metric) for metric in metrics], Choice(**shots), **store)
    write_rows(references, Reference, job.counted(describe_shard(clips, lane), "references", len(clips)))


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        describe_references(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            metrics=snakemake.params.metrics,
            shots=snakemake.params.shots,
            references=Path(snakemake.output.references),
        )
