"""Build the report, a folder of static pages."""

from pathlib import Path

from codecap import job
from codecap.compare.comparison import Comparison
from codecap.records import Annotation, read_record, read_rows
from codecap.report.site import build_report
from codecap.validity import placing

if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        build_report(
            read_record(Path(snakemake.input.comparison), Comparison),
            annotations=(row for path in snakemake.input.annotations for row in read_rows(Path(path), Annotation)),
            tracks=[Path(path) for path in snakemake.input.tracks],
            tables=Path(snakemake.input.tables),
            figures=Path(snakemake.input.figures),
            validity=placing.FOLDER,
            out_dir=Path(snakemake.output.index).parent,
        )
