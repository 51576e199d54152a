"""Draft annotations of one shard of the benchmark's own clips, to score with them as they are."""

from pathlib import Path

from codecap import job, plan
from codecap.annotate.drafts import draft_shard
from codecap.records import Annotation, write_rows
from codecap.retries import Retries


def propose_annotations(*, config: dict, bucket: str, params: dict, annotations: Path) -> None:
    clips = plan.shard_clips(config, bucket)
    made = draft_shard(clips, params["proposer"], params["settings"], params["code"], Path(config["store"]["durable"]))
    rows = list(job.counted(made, "drafts", len(clips)))
    write_rows(annotations, Annotation, rows)
    missing = sorted({clip.clip_id for clip in clips} - {row.clip_id for row in rows})
    unfinished = job.tell_unfinished("drafts", [f"{clip_id}: no annotation, see the log" for clip_id in missing])
    Retries(plan.RETRIES).settle(f"propose_annotations/{bucket}", params["this_try"], unfinished)


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        propose_annotations(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            params=dict(snakemake.params.items()),
            annotations=Path(snakemake.output.annotations),
        )
