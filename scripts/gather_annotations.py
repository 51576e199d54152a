"""Read and check the approved annotations of one shard of clips."""

import sys
from pathlib import Path

from codecap import config as configuration
from codecap import job, plan
from codecap.annotate.approved import gather
from codecap.annotate.validate import Problem
from codecap.records import Annotation, write_rows


def gather_annotations(*, config: dict, bucket: str, annotations: Path, problems: Path) -> None:
    shards = plan.in_buckets(plan.all_clips(config), config["buckets"])
    every_clip = {clip.clip_id for clips in shards.values() for clip in clips}
    known = every_clip if bucket == min(shards) else None  # files of unknown clips are told once
    gathered, found = gather(shards[bucket], configuration.find(config["annotations_folder"]), known)
    for problem in found:
        job.LOG.error("%s: %s: %s", problem.severity, problem.place, problem.message)
        if problem.severity == "error":
            print(f"codecap: {problem.place}: {problem.message}", file=sys.stderr)
    write_rows(annotations, Annotation, (row for row in gathered.values() if isinstance(row, Annotation)))
    write_rows(problems, Problem, found)


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        gather_annotations(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            annotations=Path(snakemake.output.annotations),
            problems=Path(snakemake.output.problems),
        )
