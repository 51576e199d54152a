"""`codecap bench report`: what the report costs at full scale, measured on a drawn run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from codecap import job


def report(
    systems: Annotated[int, typer.Option(min=2, max=99)] = 16,
    clips: Annotated[int, typer.Option(min=2, max=999)] = 323,
    tenth: Annotated[bool, typer.Option("--tenth", help="Build a tenth of the clips, and say what the whole would cost.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure the report of a drawn run: time and memory of building it, its size, how long its pages take to open in the browser.

    Needs about a gigabyte in the folder for temporary files (TMPDIR). The exit status is 1 when a number exceeds its limit.
    """
    with job.running():
        from codecap.bench.report import measure
        from codecap.bench.scale import as_table

        found = measure(systems, clips, tenth=tenth)
    typer.echo(json.dumps([asdict(finding) for finding in found], indent=1) if as_json else as_table(found))
    raise typer.Exit(0 if all(finding.holds for finding in found) else 1)
