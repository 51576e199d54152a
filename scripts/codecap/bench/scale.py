"""What the workflow itself costs at full scale: jobs, CPU time, files, and what one more system or clip makes anew.

A project of stand-ins (see `stand_in_project`) is run from its clips table to its report, with the real rules, scripts, records and
store. **Overhead** is the CPU time of all processes of a run, less that of the stand-ins' own code, which they measure by their
threads' clocks. What a real stage computes (a decoded frame, a token, a pixel) is no part of it; what carries it is: starting
processes, reading and writing rows, keys and items of the store, tables and report.

Of a large benchmark a tenth is run on demand, one bucket of its clips with all systems; planning is measured at full size all the
same, on a project whose outputs are empty files.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from codecap.bench.plan import BUCKETS, DRY, Planning, codecap_s, jobs_of, nothing_left, planning
from codecap.bench.snakemake_run import Run, run
from codecap.bench.stand_in_project import add_clip, add_system, lay
from codecap.bench.stand_ins.requests import calls
from codecap.store import made

ROOTS = ("store/durable", "store/bulk")
MB = 2**20


@dataclass(frozen=True)
class Finding:
    """One measured number.

    Attributes:
        most: what it may be at most; None for one that only describes.
        how: how it was come by, where it was not read off.
    """

    what: str
    value: float
    unit: str = ""
    most: float | None = None
    how: str = ""

    @property
    def holds(self) -> bool:
        return self.most is None or self.value <= self.most


@dataclass(frozen=True)
class Files:
    """How many files lie where, and the bytes of those in the store and in results/."""

    store: int
    results: int
    snakemake: int
    logs: int
    store_mb: float
    results_mb: float

    @classmethod
    def of(cls, project: Path) -> Files:
        counted = {name: _count(project / name) for name in ("store", "results", ".snakemake", "logs", "benchmarks")}
        return cls(
            store=counted["store"][0],
            results=counted["results"][0],
            snakemake=counted[".snakemake"][0],
            logs=counted["logs"][0] + counted["benchmarks"][0],
            store_mb=counted["store"][1] / MB,
            results_mb=counted["results"][1] / MB,
        )


@dataclass(frozen=True)
class Simulated:
    """A whole run of a project, and what came after it.

    Attributes:
        ran: from the clips table to the report.
        stand_ins_cpu_s: of these, what the stand-ins' own code took.
        files: before items were packed; `packed`, files of the store afterwards.
        status_s: wall time of `codecap status`.
        more, more_items: a run with one more system, after packing, and the items that it made, by stage and system.
        clip_items: items that one more clip made, by stage and system.
    """

    ran: Run
    jobs: int
    stand_ins_cpu_s: float
    files: Files
    packed: int
    status_s: float
    more: Run
    more_items: Counter[tuple[str, str]]
    clip_items: Counter[tuple[str, str]]

    @property
    def overhead_cpu_s(self) -> float:
        return self.ran.cpu_s - self.stand_ins_cpu_s


def measure(systems: int, clips: int, *, tenth: bool = False, cores: int = 2) -> list[Finding]:
    """Run a benchmark of this size with stand-ins, or a tenth of its clips, and plan all of it.

    Raises:
        RuntimeError: a run failed, or one more system or clip made what it should not.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-scale-") as folder:
        planned = planning(lay(Path(folder) / "planned", systems=systems, clips=clips, buckets=BUCKETS))
        if tenth:
            held = max(round(clips / BUCKETS), 1)
            project = lay(Path(folder) / "tenth", systems=systems, clips=held, buckets=1)
        else:
            held, project = clips, lay(Path(folder) / "whole", systems=systems, clips=clips, buckets=BUCKETS)
        return findings(planned, simulate(project, cores), clips=clips, held=held)


def simulate(project: Path, cores: int) -> Simulated:
    """Run a new project, pack its store, then run it with one more system and one more clip.

    Raises:
        RuntimeError: a run failed, or one more system or clip made what it should not.
    """
    jobs = jobs_of(run(project, *DRY))
    ran = run(project, "--cores", str(cores))
    stand_ins_cpu_s, files = sum(call["cpu_s"] for call in calls(project)), Files.of(project)
    nothing_left(project)
    status_s = codecap_s(project, "status")
    codecap_s(project, "store", "pack")
    packed = Files.of(project).store
    nothing_left(project)
    before = _items(project)
    system = add_system(project)
    more = run(project, "--cores", str(cores))
    after = _items(project)
    clip_id = add_clip(project)
    run(project, "--cores", str(cores))
    return Simulated(
        ran=ran,
        jobs=jobs,
        stand_ins_cpu_s=stand_ins_cpu_s,
        files=files,
        packed=packed,
        status_s=status_s,
        more=more,
        more_items=_only(after - before, "system", system),
        clip_items=_only(_items(project) - after, "clip", clip_id),
    )


def findings(planned: Planning, simulated: Simulated, *, clips: int, held: int) -> list[Finding]:
    """All numbers at full size.

    Args:
        planned: at full size.
        simulated: with `held` of the `clips`; what grows with their number is multiplied.
    """
    times, by = clips / held, "" if held == clips else f" x {clips}/{held} clips"

    def grown(what: str, value: float, unit: str = "", most: float | None = None, told: str = "") -> Finding:
        how = (told or f"{value:,.0f}") + by if told or by else ""
        return Finding(what, round(value * times, 1 if unit else None), unit, most, how)

    ran, files = simulated.ran, simulated.files
    parts = f"(main {ran.main_cpu_s:.0f} + jobs {ran.jobs_cpu_s:.0f} - stand-ins {simulated.stand_ins_cpu_s:.1f})"
    overhead = grown("overhead", simulated.overhead_cpu_s, "CPU s", 9000, parts)
    each_s = simulated.overhead_cpu_s / simulated.jobs
    return [
        Finding("jobs", planned.jobs, "", 1500),
        Finding("dry run", round(planned.dry_run.cpu_s, 1), "CPU s", 10),
        Finding("nothing to do", round(planned.no_op.cpu_s, 1), "CPU s", 10),
        overhead,
        Finding("overhead of a job", round(each_s, 2), "CPU s", None, f"{simulated.overhead_cpu_s:.0f} / {simulated.jobs} jobs"),
        Finding(
            "left for a scheduler",
            round((9000 - overhead.value) / planned.jobs, 2),
            "CPU s a job",
            None,
            f"(9000 - {overhead.value:.0f}) / {planned.jobs}",
        ),
        grown("wall time", ran.wall_s, "s"),
        Finding("main process", round(max(ran.main_rss_mb, planned.no_op.main_rss_mb)), "MB"),
        grown("files of the store", files.store, "", 120_000),
        grown("files of the store, packed", simulated.packed, "", 5000),
        grown("files in results/", files.results),
        grown("files in .snakemake/", files.snakemake),
        grown("files in logs/ and benchmarks/", files.logs),
        grown("store", files.store_mb, "MB"),
        grown("results/", files.results_mb, "MB"),
        Finding("one more model", planned.more_jobs, "jobs", 100),
        Finding("planning it", round(planned.more.cpu_s, 1), "CPU s", 10),
        Finding("items that it makes a stage and clip", max(simulated.more_items.values()) / held, "", 1),
        Finding("items of one more clip, a stage and system", max(simulated.clip_items.values()), "", 1),
        Finding(
            "codecap status",
            round(max(planned.status_s, simulated.status_s), 2),
            "s",
            3,
            f"the longer of {planned.status_s:.2f} on all shards' journals, {simulated.status_s:.2f} on the store of {held} clips",
        ),
    ]


def as_table(found: list[Finding]) -> str:
    lines = []
    for finding in found:
        limit = "" if finding.most is None else f"at most {finding.most:,.0f}" + ("" if finding.holds else "  EXCEEDED")
        value = f"{finding.value:,.2f}".removesuffix(".00")
        lines.append(f"{finding.what:44} {value:>12} {finding.unit:12} {limit:24} {finding.how}".rstrip())
    return "\n".join(lines)


def _count(folder: Path) -> tuple[int, int]:
    """How many files lie under a folder, and their bytes."""
    found = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(found), sum(found)


def _items(project: Path) -> Counter[tuple[str, str, str]]:
    """How often each item was made, by the store's log: stage, system, clip."""
    return Counter((entry["stage"], entry["system"], entry["clip_id"]) for root in ROOTS for entry in made(project / root))


def _only(items: Counter[tuple[str, str, str]], what: str, name: str) -> Counter[tuple[str, str]]:
    """Items by stage and system, which are all of one system or clip.

    Raises:
        RuntimeError: there are none, or others.
    """
    others = [item for item in items if item[1 if what == "system" else 2] != name]
    if others or not items:
        told = f"{len(others)} items that are not its own, as {others[0]}" if others else "nothing"
        raise RuntimeError(f"the new {what} {name} made {told}")
    counted: Counter[tuple[str, str]] = Counter()
    for (stage, system, _), count in items.items():
        counted[stage, system] += count
    return counted
