"""Make the reference side of one lane's metrics for one shard of clips."""

from pathlib import Path

from codecap import job, plan
from codecap.records import write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane, Reference, describe_shard


def describe_references(shard: job.Shard, *, config: dict, bucket: str, params: dict, references: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    store = {root: Path(config["store"][root]) for root in ("durable", "bulk")}
    metrics = Lane([Choice(**metric) for metric in params["metrics"]], Choice(**params["shots"]), **store)
    rows = list(shard.counted(describe_shard(clips, metrics), "references", len(clips)))
    write_rows(references, Reference, rows)
    shard.settle(
        "references",
        failed=[(row.clip_id, row.status) for row in rows if row.status != "ok"],
        files=[path for row in rows for path in metrics.files(row)],
    )


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        describe_references(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            params=dict(snakemake.params.items()),
            references=Path(snakemake.output.references),
        )
