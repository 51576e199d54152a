"""Follow the objects of one of the demo's clips through its damaged videos."""

from pathlib import Path

from codecap import job
from codecap.records import ObjectPrompts, ObjectTracks, Render, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.validity import candidates, demo, measuring


def segment_damages(shard: job.Shard, *, config: dict, name: str, segmenter: dict, inputs: dict, tracks: Path) -> None:
    bulk = Path(config["store"]["bulk"])
    clip, _ = candidates.opening(demo.clip(name), demo.annotation(name), bulk)
    renders = list(read_rows(inputs["renders"], Render))
    prompts = list(read_rows(inputs["prompts"], ObjectPrompts))
    shard.reads(row.mp4 for row in renders)
    found = measuring.traced(prompts, renders, clip, Choice(**segmenter), bulk)
    rows = list(shard.counted(found, f"tracks for {name}", len(prompts)))
    write_rows(tracks, ObjectTracks, rows)
    failed = [(row.system, row.status) for row in rows if row.retry]
    shard.settle(f"tracks for {name}", failed, files=[row.masks for row in rows])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        segment_damages(
            shard,
            config=snakemake.config,
            name=snakemake.wildcards.clip,
            segmenter=snakemake.params.segmenter,
            inputs=dict(snakemake.input.items()),
            tracks=Path(snakemake.output.tracks),
        )
