"""Read the approved annotations of one shard of clips."""

from pathlib import Path

from codecap import config as configuration
from codecap import job, plan
from codecap.annotate.approved import gather
from codecap.records import Annotation, write_rows


def gather_annotations(*, config: dict, bucket: str, annotations: Path) -> None:
    gathered, problems = gather(plan.shard_clips(config, bucket), configuration.find(config["annotations_folder"]))
    for problem in problems:
        job.LOG.error("%s", problem)
    write_rows(annotations, Annotation, (row for row in gathered.values() if isinstance(row, Annotation)))


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        gather_annotations(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            annotations=Path(snakemake.output.annotations),
        )
