"""Render one shard of one system's captions."""

from pathlib import Path

from codecap import job, plan
from codecap.records import Caption, Outcome, Render, read_rows, write_rows
from codecap.render.renders import render_shard


def render_captions(
    shard: job.Shard, *, config: dict, bucket: str, system: str, params: dict, threads: int, captions: Path, renders: Path
) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    captioned = list(read_rows(captions, Caption))
    shard.reads(path for row in captioned for path in (row.html, row.mp4))
    rows = render_shard(
        captioned,
        clips,
        settings=params["settings"],
        code=params["code"],
        bulk=Path(config["store"]["bulk"]),
        browsers=threads,
    )
    rows = list(shard.counted(rows, f"renders of {system}", len(clips)))
    write_rows(renders, Render, rows)
    failed = [(row.clip_id, row.detail) for row in rows if row.outcome is Outcome.INFRA_ERROR]
    shard.settle(f"renders of {system}", failed, files=[row.mp4 for row in rows])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        render_captions(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            threads=snakemake.threads,
            captions=Path(snakemake.input.captions),
            renders=Path(snakemake.output.renders),
        )
