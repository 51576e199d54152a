"""Follow one shard's prompted objects through one system's renders."""

from pathlib import Path

from codecap import job, plan
from codecap.records import ObjectPrompts, ObjectTracks, Render, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import segment_shard


def segment_objects(
    shard: job.Shard, *, config: dict, bucket: str, system: str, params: dict, renders: Path, prompts: Path, tracks: Path
) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    rendered = {render.clip_id: render for render in read_rows(renders, Render)}
    shard.reads(row.mp4 for row in rendered.values())
    found = segment_shard(
        read_rows(prompts, ObjectPrompts),
        rendered,
        clips,
        Choice(**params["segmenter"]),
        bulk=Path(config["store"]["bulk"]),
    )
    rows = list(shard.counted(found, f"tracks of {system}", len(clips)))
    write_rows(tracks, ObjectTracks, rows)
    failed = [(row.clip_id, row.status) for row in rows if row.retry]
    shard.settle(f"tracks of {system}", failed, files=[row.masks for row in rows])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        segment_objects(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            renders=Path(snakemake.input.renders),
            prompts=Path(snakemake.input.prompts),
            tracks=Path(snakemake.output.tracks),
        )
