"""Caption one shard of clips with one system."""

from pathlib import Path

from codecap import job, plan
from codecap.exchange import session
from codecap.generate import entries
from codecap.generate.captions import caption_shard
from codecap.records import Caption, Outcome, read_rows, write_rows


def generate_captions(
    shard: job.Shard, *, config: dict, bucket: str, system: str, params: dict, sources: Path | None, captions: Path
) -> None:
    clips = plan.shard_clips(config, bucket)
    durable = Path(config["store"]["durable"])
    from_captions = None if sources is None else {row.clip_id: row for row in read_rows(sources, Caption)}
    if from_captions is not None:
        shard.reads(path for row in from_captions.values() for path in (row.html, row.text, row.mp4))
    with session(durable, config.get("exchange"), stage="generate_captions", system=system) as exchange:
        rows = caption_shard(clips, system, params["harness"], params["settings"], params["code"], durable, from_captions)
        rows = list(shard.counted(rows, f"captions of {system}", len(clips), usd=lambda: exchange.paid_usd))
    write_rows(captions, Caption, rows)
    failed = [(row.clip_id, row.detail) for row in rows if row.outcome is Outcome.INFRA_ERROR]
    shard.settle(f"captions of {system}", failed, files=[path for row in rows for path in (row.html, row.text, row.mp4)])


if "snakemake" in globals():
    longest_s = entries.longest_run_s(snakemake.params["settings"])
    told = (snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config)
    with job.shard(*told, longest_item_s=longest_s) as shard:
        generate_captions(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            sources=Path(snakemake.input[0]) if snakemake.input else None,
            captions=Path(snakemake.output.captions),
        )
