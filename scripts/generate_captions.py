"""Caption one shard of clips with one system."""

from pathlib import Path

from codecap import job, plan
from codecap.generate.captions import caption_shard
from codecap.records import Caption, Outcome, write_rows


def generate_captions(shard: job.Shard, *, config: dict, bucket: str, system: str, params: dict, captions: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    rows = caption_shard(
        clips, system, params["harness"], params["settings"], params["code"], durable=Path(config["store"]["durable"])
    )
    rows = list(shard.counted(rows, f"captions of {system}", len(clips)))
    write_rows(captions, Caption, rows)
    failed = [(row.clip_id, row.detail) for row in rows if row.outcome is Outcome.INFRA_ERROR]
    shard.settle(f"captions of {system}", failed, files=[path for row in rows for path in (row.html, row.text, row.mp4)])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        generate_captions(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            captions=Path(snakemake.output.captions),
        )
