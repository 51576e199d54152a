"""Ask a hosted model for the annotations of one shard of clips."""

from pathlib import Path

from codecap import job, plan
from codecap.annotate.proposals import propose_shard
from codecap.collect.known_boxes import annotation_of
from codecap.exchange import session
from codecap.filtering import decisions
from codecap.records import Clip, Ingested, Proposal, Verdict, read_rows, write_rows


def ask_proposer(
    shard: job.Shard, *, config: dict, bucket: str, drafted: str, params: dict, kept: list[Path], proposals: Path
) -> None:
    durable, bulk = (Path(config["store"][root]) for root in ("durable", "bulk"))
    clips = plan.shard_clips(config, bucket) if drafted == "proposed" else _kept(config, bulk, *kept)
    with session(durable, config.get("exchange"), stage="ask_proposer") as exchange:
        made = propose_shard(clips, params["proposer"], params["settings"], params["code"], durable)
        rows = list(shard.counted(made, "proposals", len(clips), usd=lambda: exchange.paid_usd))
    write_rows(proposals, Proposal, rows)
    shard.settle("proposals", [(row.clip_id, row.status) for row in rows if row.retry])


def _kept(config: dict, bulk: Path, clips: Path, verdicts: Path) -> list[Clip]:
    """The clips that the filter keeps and whose boxes are not known already, as those of rendered pages are."""
    found = {row.clip_id: row for row in read_rows(verdicts, Verdict)}
    there = [row.clip for row in read_rows(clips, Ingested) if row.clip is not None]
    kept = decisions.kept(there, found, decisions.of_config(config))
    return [clip for clip in kept if annotation_of(clip, bulk=bulk) is None]


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        ask_proposer(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            drafted=snakemake.wildcards.drafted,
            params=dict(snakemake.params.items()),
            kept=[Path(path) for path in snakemake.input],
            proposals=Path(snakemake.output.proposals),
        )
