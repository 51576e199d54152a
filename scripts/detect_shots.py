"""Cut one shard of ingested clips into shots."""

from pathlib import Path

from codecap import job
from codecap.records import Ingested, read_rows, write_rows
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane, Reference, describe_shard


def detect_shots(shard: job.Shard, *, config: dict, choice: dict, clips: Path, shots: Path) -> None:
    store = {root: Path(config["store"][root]) for root in ("durable", "bulk")}
    rows = [row.clip for row in read_rows(clips, Ingested) if row.clip is not None]
    lane = Lane([], Choice(**choice), **store)
    write_rows(shots, Reference, shard.counted(describe_shard(rows, lane), "shots", len(rows)))


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        detect_shots(
            shard,
            config=snakemake.config,
            choice=snakemake.params.choice,
            clips=Path(snakemake.input.clips),
            shots=Path(snakemake.output.shots),
        )
