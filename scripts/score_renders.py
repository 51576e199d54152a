"""Score one shard of one system's renders with the metrics of one lane."""

from pathlib import Path

from codecap import job, plan
from codecap.exchange import session
from codecap.records import Annotation, Caption, ObjectTracks, Render, Score, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane, Reference, score_clips


def score_renders(shard: job.Shard, *, config: dict, bucket: str, system: str, params: dict, inputs: dict, scores: Path) -> None:
    clips = {clip.clip_id: clip for clip in plan.shard_clips(config, bucket)}
    store = {root: Path(config["store"][root]) for root in ("durable", "bulk")}
    rendered = list(read_rows(inputs["renders"], Render))
    tracks = {row.clip_id: row for row in read_rows(inputs["tracks"], ObjectTracks)} if inputs.get("tracks") else {}
    pages = {row.clip_id: row.html for row in read_rows(inputs["captions"], Caption)}
    shard.reads([*(row.mp4 for row in rendered), *(row.masks for row in tracks.values()), *pages.values()])
    scored = score_clips(
        renders=rendered,
        clips=clips,
        references={row.clip_id: row for row in read_rows(inputs["references"], Reference)},
        annotations={row.clip_id: row for row in read_rows(inputs["annotations"], Annotation)},
        tracks=tracks,
        pages=pages,
        lane=Lane(
            [Choice(**metric) for metric in params["metrics"]],
            Choice(**params["shots"]),
            **store,
            matching=Choice(**params["matching"]) if params["matching"] else None,
        ),
    )
    with session(store["durable"], config.get("exchange"), stage="score_renders", system=system) as exchange:
        of_clips = shard.counted(scored, f"scores of {system}", len(clips), usd=lambda: exchange.paid_usd)
        rows = [row for of_clip in of_clips for row in of_clip]
    write_rows(scores, Score, rows)
    shard.settle(f"scores of {system}", [(row.clip_id, row.detail, row.metric) for row in rows if row.retry])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        score_renders(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            system=snakemake.wildcards.system,
            params=dict(snakemake.params.items()),
            inputs=dict(snakemake.input.items()),
            scores=Path(snakemake.output.scores),
        )
