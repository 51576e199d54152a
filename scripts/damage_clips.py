"""Damage the opening of one of the demo's clips in every kind and grade."""

from pathlib import Path

from codecap import job
from codecap.records import Render, write_rows
from codecap.validity import candidates, demo


def damage_clips(shard: job.Shard, *, config: dict, name: str, renders: Path) -> None:
    bulk = Path(config["store"]["bulk"])
    clip, annotation = candidates.opening(demo.clip(name), demo.annotation(name), bulk)
    made = candidates.damaged(clip, annotation, bulk)
    rows = list(shard.counted(made, f"damaged videos of {name}", candidates.count(clip, annotation)))
    write_rows(renders, Render, rows)
    shard.settle(f"damaged videos of {name}", files=[row.mp4 for row in rows])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        damage_clips(shard, config=snakemake.config, name=snakemake.wildcards.clip, renders=Path(snakemake.output.renders))
