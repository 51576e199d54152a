"""Find where one shard's annotated objects are in one system's renders."""

from pathlib import Path

from codecap import job, plan
from codecap.exchange import session
from codecap.records import Annotation, ObjectPrompts, Render, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import prompt_shard


def prompt_objects(
    shard: job.Shard, *, config: dict, bucket: str, system: str, params: dict, renders: Path, annotations: Path, prompts: Path
) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    durable = Path(config["store"]["durable"])
    rendered = list(read_rows(renders, Render))
    shard.reads(row.mp4 for row in rendered)
    rows = prompt_shard(
        rendered,
        clips,
        {row.clip_id: row for row in read_rows(annotations, Annotation)},
        Choice(**params["prompter"]),
        durable=durable,
    )
    with session(durable, config.get("exchange"), stage="prompt_objects", system=system) as exchange:
        rows = list(shard.counted(rows, f"objects of {system}", len(clips), usd=lambda: exchange.paid_usd))
    write_rows(prompts, ObjectPrompts, rows)
    shard.settle(f"objects of {system}", [(row.clip_id, row.status) for row in rows if row.retry])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        prompt_objects(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            renders=Path(snakemake.input.renders),
            annotations=Path(snakemake.input.annotations),
            prompts=Path(snakemake.output.prompts),
        )
