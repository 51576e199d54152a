"""`codecap slurm`: the settings of the site, compared with the cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codecap import config as configuration
from codecap import job
from codecap.errors import UserError

if TYPE_CHECKING:
    from codecap.cluster.findings import Finding

app = typer.Typer(no_args_is_help=True, help="The settings of a SLURM cluster.")

PROFILE = configuration.PROJECT / "profiles" / "slurm"


@app.callback()
def main() -> None:
    """The settings of a SLURM cluster."""


@app.command()
def check(
    write: Annotated[bool, typer.Option("--write", help="Write the settings that fit into config/cluster.yaml.")] = False,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default none: the paper's."),
    ] = None,
    profile: Annotated[Path, typer.Option("--profile", help="Folder of the Snakemake profile.")] = PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Say which settings of config/cluster.yaml fit this cluster, and what would; exit status 1 when one does not fit.

    Run it on a login node. It asks sinfo, scontrol and sacctmgr, and compares with what the configured run's largest jobs ask for.
    --write asks nothing, keeps comments, and prints what it changed. What a file of --config sets is to be changed there.
    """
    from codecap.cluster import check as checking
    from codecap.cluster import largest, settings, site, site_file
    from codecap.cluster.findings import Verdict

    with job.running():
        configured = configuration.load(*config or [])
        here = site.read()
        options = configuration.read(profile / "config.yaml")
        asked, of_what = largest.of(configured)
        set_by = _set_by(config or [])

        def examined() -> list[Finding]:
            return checking.examine(here, settings.of(configured), asked, options)

        findings = examined()
        difference = ""
        if write:
            values = checking.to_write(findings)
            difference = site_file.write({key: value for key, value in values.items() if key not in set_by})
            configured = configuration.load(*config or [])
            findings = examined()
    wrong = [finding for finding in findings if finding.verdict is Verdict.WRONG]
    if as_json:
        told = {
            "slurm": here.version,
            "findings": [{**vars(finding), "set_by": set_by.get(finding.setting)} for finding in findings],
            "written": difference,
            "compared_with": of_what,
        }
        typer.echo(json.dumps(told, indent=1))
    else:
        typer.echo(f"SLURM {here.version}, cluster {here.settings.get('ClusterName', '?')}")
        for finding in findings:
            typer.echo(as_line(finding, set_by.get(finding.setting)))
        typer.echo(f"compared with the largest jobs of {of_what}")
        if difference:
            typer.echo(difference)
        elif write:
            typer.echo(f"{site_file.FILE}: nothing to change")
        if not write and any(finding.decided and finding.setting not in set_by for finding in wrong):
            typer.echo("codecap slurm check --write puts what fits into config/cluster.yaml")
    raise typer.Exit(1 if wrong else 0)


def _set_by(config: list[Path]) -> dict[str, str]:
    """Settings of section `cluster` that files laid over config/cluster.yaml hold, and the file that counts for each."""
    return {key: str(path) for path in config for key in configuration.read(path).get("cluster") or {}}


def as_line(finding: Finding, set_by: str | None = None) -> str:
    """One finding, for the terminal.

    Args:
        set_by: the file of --config that the value comes from.
    """
    from codecap.cluster.findings import Verdict

    value = "null" if finding.value is None else finding.value
    fits = f"; would fit: {finding.fits}" if finding.fits is not None and finding.fits != finding.value else ""
    differs = finding.verdict is Verdict.WRONG or finding.decided
    there = f"; set by {set_by}: change it there" if set_by and differs else ""
    return f"{finding.verdict:13} {finding.setting:22} {value!s:12} {finding.told}{fits}{there}"


def doctor_there(config: list[Path], partition: str | None, gres: str | None, wait_min: float, as_json: bool) -> int:
    """Run the doctor as a job on a partition, print what it found, and return its exit status."""
    from codecap.cluster import doctor_job, settings

    with job.running():
        cluster = settings.of(configuration.load(*config))
        nodes = cluster.nodes("cpu" if gres is None else "gpu")
        partition = partition or nodes.partition
        if partition is None:
            raise UserError("--gres without --partition: set cluster.gpu_partition (config/cluster.yaml), or name a partition")
        of_theirs = nodes if partition == nodes.partition else None
        arguments = [part for path in config for part in ("--config", str(path.absolute()))]
        found = doctor_job.examine(
            [*arguments, *(["--json"] if as_json else [])],
            partition=partition,
            account=nodes.account,
            qos=of_theirs and of_theirs.qos,
            gres=gres,
            constraint=of_theirs and of_theirs.constraint,
            longest_wait_s=60 * wait_min,
            tell=lambda words: typer.echo(f"codecap: {words}", err=True),
        )
    typer.echo(found.printed, nl=False)
    return found.status
