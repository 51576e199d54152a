"""The self-test: proof, with the run's own backends, that every score can be wrong.

Candidates that are wrong in a known way are made of the clips and scored like any other. A row that does not hold is reported with
its value and fails the whole; a clip that cannot show a row (nothing moves, it looks the same backwards) is named with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap.clips_table import read_clips
from codecap.records import Annotation, Clip, read_record
from codecap.registry import Unavailable
from codecap.selftest.bench import Bench
from codecap.selftest.rows import ROWS, Check, Sheet

__all__ = ["ROWS", "Check", "report", "run", "run_on_demo"]

DEMO = Path("resources") / "demo"


def run(
    clips: Sequence[Clip],
    annotations: Mapping[str, Annotation],
    config: Mapping[str, Any],
    scratch: Path,
    only: Sequence[str] | None = None,
) -> list[Check]:
    """Run the rows on clips.

    Args:
        clips: canonical clips.
        annotations: by clip id.
        config: a checked configuration; its metrics and backends are what is tested.
        scratch: folder for the candidates and for what is found of them.
        only: names of rows; all by default.

    Raises:
        Unavailable: no such row, or a backend that the configuration names is not there.
    """
    names = list(ROWS) if only is None else list(only)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        raise Unavailable(f"selftest: no row called {', '.join(unknown)}; there are: {', '.join(ROWS)}")
    bench = Bench(clips, annotations, config, scratch)
    return [check for name in names for clip in bench.clips for check in ROWS[name](bench, clip, Sheet(name, clip.clip_id))]


def run_on_demo(config: Mapping[str, Any], scratch: Path, only: Sequence[str] | None = None) -> list[Check]:
    """Run the rows on the demo's clips and annotations."""
    from codecap.config import PROJECT

    clips = read_clips(PROJECT / DEMO / "clips.tsv")
    files = {clip.clip_id: PROJECT / DEMO / "annotations" / f"{clip.clip_id}.json" for clip in clips}
    annotations = {name: read_record(file, Annotation) for name, file in files.items() if file.is_file()}
    return run(clips, annotations, config, scratch, only)


def report(checks: Sequence[Check]) -> str:
    """The checks as a table, one line each, and a last line that says how many hold."""
    lines = []
    for check in checks:
        mark = "not fit" if not check.fit else "holds" if check.held else "FAILS"
        value = "" if not check.fit else "unscored" if check.value is None else f"{check.value:.4g}"
        detail = f"  ({check.detail})" if check.detail else ""
        lines.append(f"{mark:8}{check.row:16} {check.clip:12} {check.what:34} {value:>9}  {check.threshold}{detail}".rstrip())
    fit = [check for check in checks if check.fit]
    failed = sum(not check.held for check in fit)
    last = f"{len(fit) - failed} of {len(fit)} checks hold" + (f", {failed} FAIL" if failed else "")
    unfit = len(checks) - len(fit)
    return "\n".join([*lines, "", last + (f"; {unfit} could not be shown on their clip" if unfit else "")])
