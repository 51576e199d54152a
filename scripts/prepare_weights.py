"""Convert one entry of the table of weights to the form that loads fast."""

from pathlib import Path

from codecap import job
from codecap.weights import PREPARED, outputs
from codecap.weights.preparing import prepare


def prepare_weights(*, name: str, state: str, prepared: Path) -> None:
    prepare(name)
    outputs.write(prepared, name + PREPARED, state)


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        prepare_weights(name=snakemake.wildcards.weights, state=snakemake.params.state, prepared=Path(snakemake.output.prepared))
