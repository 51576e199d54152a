"""Ask the prompter where the objects of one of the demo's clips are in its damaged videos."""

from pathlib import Path

from codecap import job
from codecap.exchange import session
from codecap.records import ObjectPrompts, Render, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.validity import candidates, demo, measuring


def prompt_damages(shard: job.Shard, *, config: dict, name: str, prompter: dict, renders: Path, prompts: Path) -> None:
    durable, bulk = (Path(config["store"][root]) for root in ("durable", "bulk"))
    clip, annotation = candidates.opening(demo.clip(name), demo.annotation(name), bulk)
    made = list(read_rows(renders, Render))
    shard.reads(row.mp4 for row in made)
    with session(durable, config.get("exchange"), stage="prompt_damages", system=name) as exchange:
        found = measuring.prompted(made, clip, annotation, Choice(**prompter), durable)
        rows = list(shard.counted(found, f"prompts for {name}", len(made), usd=lambda: exchange.paid_usd))
    write_rows(prompts, ObjectPrompts, rows)
    shard.settle(f"prompts for {name}", [(row.system, row.status) for row in rows if row.retry])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        prompt_damages(
            shard,
            config=snakemake.config,
            name=snakemake.wildcards.clip,
            prompter=snakemake.params.prompter,
            renders=Path(snakemake.input.renders),
            prompts=Path(snakemake.output.prompts),
        )
