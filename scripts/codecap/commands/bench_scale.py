"""`codecap bench scale`: what the workflow itself costs at full scale, measured on a run with stand-ins."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Annotated

import typer

from codecap import job


def scale(
    systems: Annotated[int, typer.Option(min=1)] = 16,
    clips: Annotated[int, typer.Option(min=1)] = 323,
    tenth: Annotated[bool, typer.Option("--tenth", help="Run one bucket of ten, and say what the whole would cost.")] = False,
    cores: Annotated[int, typer.Option(min=1, help="Jobs at once; by default one a processor.")] = os.cpu_count() or 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure what the workflow itself costs: a whole run whose plugins compute nothing, then one more model and one more clip.

    Jobs, CPU seconds, memory, files. Needs some gigabytes in the folder for temporary files (TMPDIR), and for all of 16 x 323 about
    an hour of two processors. The exit status is 1 when a number exceeds its limit.
    """
    with job.running():
        from codecap.bench.scale import as_table, measure

        found = measure(systems, clips, tenth=tenth, cores=cores)
    typer.echo(json.dumps([asdict(finding) for finding in found], indent=1) if as_json else as_table(found))
    raise typer.Exit(0 if all(finding.holds for finding in found) else 1)
