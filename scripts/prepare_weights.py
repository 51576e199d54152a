"""Convert one entry of the table of weights to the form that loads fast."""

from pathlib import Path

from codecap import job
from codecap.weights import PREPARED, manifest
from codecap.weights.preparing import prepare


def prepare_weights(*, name: str, prepared: Path) -> None:
    prepare(name)
    prepared.write_bytes(manifest.path_of(name + PREPARED).read_bytes())


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        prepare_weights(name=snakemake.wildcards.weights, prepared=Path(snakemake.output.prepared))
