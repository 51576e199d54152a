"""Draft annotations of one shard of the benchmark's own clips, to score with them as they are."""

from pathlib import Path

from codecap import job, plan
from codecap.annotate.drafts import drafts, to_try_again
from codecap.records import Annotation, write_rows


def propose_annotations(
    shard: job.Shard, *, config: dict, bucket: str, params: dict, proposals: Path | None, annotations: Path
) -> None:
    clips = plan.shard_clips(config, bucket)
    made = drafts(clips, params["drafted_by"], Path(config["store"]["durable"]), proposals)
    rows = list(shard.counted(made, "drafts", len(clips)))
    write_rows(annotations, Annotation, rows)
    shard.settle("drafts", to_try_again(clips, rows, proposals))


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        propose_annotations(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            params=dict(snakemake.params.items()),
            proposals=Path(snakemake.input.proposals) if snakemake.input.proposals else None,
            annotations=Path(snakemake.output.annotations),
        )
