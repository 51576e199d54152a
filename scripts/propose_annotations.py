"""Draft annotations of one shard of the benchmark's own clips, to score with them as they are."""

from pathlib import Path

from codecap import job, plan
from codecap.annotate.drafts import draft_shard
from codecap.records import Annotation, write_rows


def propose_annotations(shard: job.Shard, *, config: dict, bucket: str, params: dict, annotations: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    made = draft_shard(clips, params["proposer"], params["settings"], params["code"], Path(config["store"]["durable"]))
    rows = list(shard.counted(made, "drafts", len(clips)))
    write_rows(annotations, Annotation, rows)
    missing = sorted({clip.clip_id for clip in clips} - {row.clip_id for row in rows})
    shard.settle("drafts", [(clip_id, "no annotation, see the log") for clip_id in missing])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        propose_annotations(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            params=dict(snakemake.params.items()),
            annotations=Path(snakemake.output.annotations),
        )
