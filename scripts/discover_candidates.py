"""Ask every source which videos it offers."""

from pathlib import Path

from codecap import job
from codecap.collect import collect_candidates
from codecap.collect.fetching import TURNS
from codecap.collect.ledger import offered_before
from codecap.records import LATER, Asked, Candidate, write_rows


def discover_candidates(shard: job.Shard, *, config: dict, candidates: Path, asked: Path) -> None:
    bulk, durable = (Path(config["store"][name]) for name in ("bulk", "durable"))
    found = collect_candidates(config["sources"], bulk / TURNS, offered_before(durable))
    write_rows(candidates, Candidate, found.candidates)
    write_rows(asked, Asked, found.asked)
    shard.settle("queries", [(f"{row.source} {row.query}", row.reason) for row in found.asked if row.cause in LATER])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        discover_candidates(
            shard,
            config=snakemake.config,
            candidates=Path(snakemake.output.candidates),
            asked=Path(snakemake.output.asked),
        )
