"""Score one shard of one system's renders with the metrics of one lane."""

from pathlib import Path

from codecap import job, plan
from codecap.exchange import session
from codecap.records import Annotation, Caption, ObjectTracks, Render, Score, read_rows, write_rows
from codecap.retries import Retries
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane, Reference, score_clips


def score_renders(*, config: dict, bucket: str, system: str, lane: str, params: dict, inputs: dict, scores: Path) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    store = {root: Path(config["store"][root]) for root in ("durable", "bulk")}
    scored = score_clips(
        renders=read_rows(inputs["renders"], Render),
        clips=clips,
        references={row.clip_id: row for row in read_rows(inputs["references"], Reference)},
        annotations={row.clip_id: row for row in read_rows(inputs["annotations"], Annotation)},
        tracks={row.clip_id: row for row in read_rows(inputs["tracks"], ObjectTracks)} if inputs.get("tracks") else {},
        pages={row.clip_id: row.html for row in read_rows(inputs["captions"], Caption)},
        lane=Lane(
            [Choice(**metric) for metric in params["metrics"]],
            Choice(**params["shots"]),
            **store,
            matching=Choice(**params["matching"]) if params["matching"] else None,
        ),
    )
    with session(store["durable"], config.get("exchange"), stage="score_renders", system=system):
        rows = [row for of_clip in job.counted(scored, f"scores of {system}", len(clips)) for row in of_clip]
    write_rows(scores, Score, rows)
    failed = [f"{row.metric}, {row.clip_id}: {row.detail}" for row in rows if row.retry]
    unfinished = job.tell_unfinished(f"scores of {system}", failed)
    Retries(plan.RETRIES).settle(f"score_renders/{lane}/{system}/{bucket}", params["this_try"], unfinished)


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        score_renders(
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            lane=snakemake.wildcards.lane,
            params=dict(snakemake.params.items()),
            inputs=dict(snakemake.input.items()),
            scores=Path(snakemake.output.scores),
        )
