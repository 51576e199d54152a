"""Decide for one shard of ingested clips which are structured 2D content."""

from pathlib import Path

from codecap import job
from codecap.exchange import session
from codecap.filtering.verdict import filter_shard
from codecap.records import Ingested, Verdict, read_rows, write_rows


def filter_clips(shard: job.Shard, *, config: dict, settings: dict, code: str, clips: Path, verdicts: Path) -> None:
    rows = [row.clip for row in read_rows(clips, Ingested) if row.clip is not None]
    durable = Path(config["store"]["durable"])
    with session(durable, config.get("exchange"), stage="filter_clips") as exchange:
        made = filter_shard(rows, settings, code, durable)
        decided = list(shard.counted(made, "verdicts", len(rows), usd=lambda: exchange.paid_usd))
    write_rows(verdicts, Verdict, decided)
    shard.settle("verdicts", [(row.clip_id, row.reasons[0]) for row in decided if row.retry])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        filter_clips(
            shard,
            config=snakemake.config,
            settings=snakemake.params.settings,
            code=snakemake.params.code,
            clips=Path(snakemake.input.clips),
            verdicts=Path(snakemake.output.verdicts),
        )
