"""Fetch one entry of the table of weights, on a node with network."""

from pathlib import Path

from codecap import job
from codecap.weights import manifest
from codecap.weights.fetching import fetch


def fetch_weights(*, name: str, fetched: Path) -> None:
    fetch(name, tell=job.LOG.info)
    fetched.write_bytes(manifest.path_of(name).read_bytes())


if "snakemake" in globals():
    with job.running(snakemake.log[0], network=True):
        fetch_weights(name=snakemake.wildcards.weights, fetched=Path(snakemake.output.fetched))
