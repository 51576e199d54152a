"""End of the data set's stages: a clips table, the verdicts, and one drafted annotation a clip, for people to review and commit."""

from pathlib import Path

from codecap import job
from codecap.collect.dataset import tabulate
from codecap.filtering import decisions
from codecap.records import Annotation, Ingested, Verdict, read_rows


def tabulate_dataset(*, config: dict, inputs: dict, clips: Path, verdicts: Path, annotations: Path) -> None:
    tabulate(
        ingested=[row for path in inputs["clips"] for row in read_rows(path, Ingested)],
        verdicts=[row for path in inputs["verdicts"] for row in read_rows(path, Verdict)],
        drafts=[row for path in inputs["drafts"] for row in read_rows(path, Annotation)],
        decisions=decisions.of_config(config),
        clips_table=clips,
        verdicts_table=verdicts,
        annotations=annotations,
        clips_folder=Path(config["store"]["bulk"]) / "clips",
    )


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        tabulate_dataset(
            config=snakemake.config,
            inputs=dict(snakemake.input.items()),
            clips=Path(snakemake.output.clips),
            verdicts=Path(snakemake.output.verdicts),
            annotations=Path(snakemake.output.annotations),
        )
