"""Find where one shard's annotated objects are in one system's renders."""

from pathlib import Path

from codecap import job, plan
from codecap.exchange import session
from codecap.records import Annotation, ObjectPrompts, Render, read_rows, write_rows
from codecap.retries import Retries
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import prompt_shard


def prompt_objects(
    *, config: dict, bucket: str, system: str, params: dict, renders: Path, annotations: Path, prompts: Path
) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    durable = Path(config["store"]["durable"])
    rows = prompt_shard(
        read_rows(renders, Render),
        clips,
        {row.clip_id: row for row in read_rows(annotations, Annotation)},
        Choice(**params["prompter"]),
        durable=durable,
    )
    with session(durable, config.get("exchange"), stage="prompt_objects", system=system):
        rows = list(job.counted(rows, f"objects of {system}", len(clips)))
    write_rows(prompts, ObjectPrompts, rows)
    failed = [f"{row.clip_id}: {row.status}" for row in rows if row.retry]
    unfinished = job.tell_unfinished(f"objects of {system}", failed)
    Retries(plan.RETRIES).settle(f"prompt_objects/{system}/{bucket}", params["this_try"], unfinished)


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        prompt_objects(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            renders=Path(snakemake.input.renders),
            annotations=Path(snakemake.input.annotations),
            prompts=Path(snakemake.output.prompts),
        )
