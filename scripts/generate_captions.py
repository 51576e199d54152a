"""Caption one shard of clips with one system."""

from pathlib import Path

from codecap import job, plan
from codecap.generate.captions import caption_shard
from codecap.records import Caption, Outcome, write_rows
from codecap.retries import Retries


def generate_captions(*, config: dict, bucket: str, system: str, params: dict, captions: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    rows = caption_shard(
        clips, system, params["harness"], params["settings"], params["code"], durable=Path(config["store"]["durable"])
    )
    rows = list(job.counted(rows, f"captions of {system}", len(clips)))
    write_rows(captions, Caption, rows)
    failed = [f"{row.clip_id}: {row.detail}" for row in rows if row.outcome is Outcome.INFRA_ERROR]
    unfinished = job.tell_unfinished(f"captions of {system}", failed)
    Retries(plan.RETRIES).settle(f"generate_captions/{system}/{bucket}", params["this_try"], unfinished)


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        generate_captions(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            captions=Path(snakemake.output.captions),
        )
