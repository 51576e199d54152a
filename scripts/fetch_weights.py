"""Fetch one entry of the table of weights, on a node with network."""

from pathlib import Path

from codecap import job
from codecap.weights import outputs
from codecap.weights.fetching import fetch


def fetch_weights(*, name: str, state: str, fetched: Path) -> None:
    fetch(name, tell=job.LOG.info)
    outputs.write(fetched, name, state)


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config, network=True
    ):
        fetch_weights(name=snakemake.wildcards.weights, state=snakemake.params.state, fetched=Path(snakemake.output.fetched))
