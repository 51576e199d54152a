"""Ask every source which videos it offers."""

from pathlib import Path

from codecap import job
from codecap.collect import collect_candidates
from codecap.records import Candidate, write_rows


def discover_candidates(*, sources: dict, candidates: Path) -> None:
    write_rows(candidates, Candidate, collect_candidates(sources))


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        discover_candidates(sources=snakemake.params.sources, candidates=Path(snakemake.output.candidates))
