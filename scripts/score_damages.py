"""Score the damaged videos of one of the demo's clips with the metrics of one lane."""

from pathlib import Path

from codecap import job
from codecap.exchange import session
from codecap.records import ObjectTracks, Render, Score, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane
from codecap.validity import candidates, demo, measuring


def score_damages(shard: job.Shard, *, config: dict, name: str, params: dict, inputs: dict, scores: Path) -> None:
    durable, bulk = (Path(config["store"][root]) for root in ("durable", "bulk"))
    clip, annotation = candidates.opening(demo.clip(name), demo.annotation(name), bulk)
    renders = list(read_rows(inputs["renders"], Render))
    tracks = list(read_rows(inputs["tracks"], ObjectTracks)) if inputs.get("tracks") else []
    shard.reads([*(row.mp4 for row in renders), *(row.masks for row in tracks)])
    lane = Lane(measuring.fit(Choice(**metric) for metric in params["metrics"]), Choice(**params["shots"]), durable, bulk)
    with session(durable, config.get("exchange"), stage="score_damages", system=name) as exchange:
        scored = measuring.measured(renders, tracks, clip, annotation, lane)
        of_videos = shard.counted(scored, f"scores of {name}", len(renders), usd=lambda: exchange.paid_usd)
        rows = [row for of_video in of_videos for row in of_video]
    write_rows(scores, Score, rows)
    shard.settle(f"scores of {name}", [(row.system, row.detail, row.metric) for row in rows if row.retry])


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        score_damages(
            shard,
            config=snakemake.config,
            name=snakemake.wildcards.clip,
            params=dict(snakemake.params.items()),
            inputs=dict(snakemake.input.items()),
            scores=Path(snakemake.output.scores),
        )
