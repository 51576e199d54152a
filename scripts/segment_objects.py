"""Follow one shard's prompted objects through one system's renders."""

from pathlib import Path

from codecap import job, plan
from codecap.records import ObjectPrompts, ObjectTracks, Render, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import segment_shard


def segment_objects(*, config: dict, bucket: str, system: str, segmenter: dict, renders: Path, prompts: Path, tracks: Path) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    rows = segment_shard(
        read_rows(prompts, ObjectPrompts),
        {render.clip_id: render for render in read_rows(renders, Render)},
        clips,
        Choice(**segmenter),
        bulk=Path(config["store"]["bulk"]),
    )
    write_rows(tracks, ObjectTracks, job.counted(rows, f"tracks of {system}", len(clips)))


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        segment_objects(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            segmenter=snakemake.params.segmenter,
            renders=Path(snakemake.input.renders),
            prompts=Path(snakemake.input.prompts),
            tracks=Path(snakemake.output.tracks),
        )
