"""Choose the stretches of all originals that become clips; of those that show the same, one is kept."""

from pathlib import Path

from codecap import job
from codecap.collect.parts import PartSettings, choose_all
from codecap.filtering.verdict import FilterSettings
from codecap.records import Duplicate, Original, Part, PassedOver, Survey, read_rows, write_rows


def choose_parts(*, settings: dict, content: dict, inputs: dict, parts: Path, passed_over: Path, duplicates: Path) -> None:
    chosen = choose_all(
        [row for path in inputs["originals"] for row in read_rows(path, Original) if row.status == "ok"],
        [row for path in inputs["surveys"] for row in read_rows(path, Survey)],
        PartSettings.of(settings),
        FilterSettings.of(content),
    )
    write_rows(duplicates, Duplicate, chosen.duplicates)
    write_rows(passed_over, PassedOver, chosen.passed_over)
    write_rows(parts, Part, chosen.parts)


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        choose_parts(
            settings=snakemake.params.settings,
            content=snakemake.params.content,
            inputs=dict(snakemake.input.items()),
            parts=Path(snakemake.output.parts),
            passed_over=Path(snakemake.output.passed_over),
            duplicates=Path(snakemake.output.duplicates),
        )
