"""A run's status as text for a terminal of 100 columns, and as plain values."""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from codecap.cluster import waits
from codecap.cluster.slurm import Job
from codecap.status.progress import Shard, Stage, Status

WIDTH = 100
SHOWN = 12  # shards in a list; the others are counted
LEAST_NAME = 12  # letters of a system's name that are shown in any case
ALMOST = 0.9  # of a budget


def as_text(status: Status) -> str:
    parts = [_head(status), _stages(status), _systems(status), *_lists(status)]
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part)))


def _head(status: Status) -> Iterator[str]:
    items, done = sum(stage.items for stage in status.stages), sum(stage.done for stage in status.stages)
    yield f"{status.folder}, {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(status.told))}"
    if status.at_work:
        yield f"run        {status.at_work}"
    elif status.main_job is not None:
        yield f"run        {_as_job(status.main_job)}"
    elif status.of("running"):
        yield "run        at work on another machine, or its main process has ended and left jobs"
    elif done < items:
        yield "run        none works here; the same command as before goes on"
    elif status.of("failed", "lost"):
        yield "run        ended, not all of it well; the same command as before goes on"
    else:
        yield "run        finished"
    yield f"done       {done:,} of {items:,} items ({_percent(done, items)})"
    if status.queue is not None and (status.queue or any(shard.mark.slurm_job for shard in status.of("running"))):
        states = Counter("running" if job.state != "PENDING" else "waiting" for job in status.queue)
        yield f"SLURM      {_counted(states['running'], 'job')} running, {states['waiting']} waiting{_commonest(status.queue)}"
    if done < items:
        yield f"time left  {_time_left(status)}"
        guessed = [stage.name for stage in status.stages if not stage.measured and stage.left_s]
        if guessed:
            yield f"           by what such jobs are known to take: {_listed(guessed)}"
    if status.usd or status.budget_usd is not None:
        budget = f" of {status.budget_usd:,.2f}" if status.budget_usd is not None else ""
        yield f"cost       {status.usd:,.2f}{budget} USD"


def _as_job(main: Job) -> str:
    """Of a main process that is itself a job."""
    if main.state == "PENDING":
        return f"waits in the queue as job {main.job_id}" + "".join(f": {reason}" for reason in waits.reasons([main]))
    return f"job {main.job_id} on {main.node}"


def _commonest(queue: Sequence[Job]) -> str:
    """The reason for which most of the waiting jobs wait."""
    reasons = waits.reasons(queue)
    if not reasons:
        return ""
    ((reason, count),) = reasons.most_common(1)
    return f" ({reason})" if count == sum(job.state == "PENDING" for job in queue) else f" ({count} of them: {reason})"


def _time_left(status: Status) -> str:
    if status.left_s is None:
        return f"about {duration(status.work_s)} of one job's work"
    return f"about {duration(status.left_s)}, with {_counted(len(status.of('running')), 'job')} at once as now"


def _stages(status: Status) -> Iterator[str]:
    heads = ("stage", "done", "of", "", "running", "waiting", "failed", "a clip", "left")
    form = "{:20} {:>8} {:>8} {:>5}  {:>8} {:>8} {:>8}  {:>9} {:>11}"
    yield form.format(*heads)
    for stage in status.stages:
        failed = stage.count("failed", "lost")
        yield form.format(
            stage.name,
            f"{stage.done:,}",
            f"{stage.items:,}",
            _percent(stage.done, stage.items),
            stage.count("running") or "",
            stage.count("waiting") or "",
            failed or "",
            _each(stage),
            duration(stage.left_s) if stage.left_s else "",
        ).rstrip()


def _each(stage: Stage) -> str:
    return duration(stage.item_s) if stage.item_s is not None and stage.measured else ""


def _systems(status: Status) -> Iterator[str]:
    """One row a system, one column a stage that has systems, and what each has cost."""
    stages = [stage for stage in status.stages if any(shard.task.system for shard in stage.shards)]
    if not stages or not status.systems:
        return
    columns = [[stage.name, *_cells(stage, status.systems)] for stage in stages]
    usd = _usd(status)
    if any(usd.values()):
        columns.append(["USD", *(f"{usd[system]:,.2f}" for system in status.systems)])
    left = WIDTH - sum(max(map(len, column)) + 1 for column in columns)
    if left < LEAST_NAME:  # a lane's scores are headed by the lane alone
        columns = [[column[0].removeprefix("scores "), *column[1:]] for column in columns]
        left = WIDTH - sum(max(map(len, column)) + 1 for column in columns)
    longest = max(max(left, LEAST_NAME), len("system"))
    names = ["system", *(_short(system, longest) for system in status.systems)]
    widths = [max(map(len, column)) for column in columns]
    name_width = max(map(len, names))
    for name, *cells in zip(names, *columns, strict=True):
        yield f"{name:{name_width}} " + " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    yield "+ running, ! failed"


def _cells(stage: Stage, systems: Sequence[str]) -> Iterator[str]:
    """For each system, the clips done of all, with a sign for what is running or failed."""
    held: dict[str, list[Shard]] = {system: [] for system in systems}
    for shard in stage.shards:
        if shard.task.system:  # else it is about the clips themselves
            held[shard.task.system].append(shard)
    for shards in held.values():
        if not shards:  # texts are not rendered
            yield ""
            continue
        states = {shard.state for shard in shards}
        sign = "!" if states & {"failed", "lost"} else "+" if "running" in states else ""
        yield f"{sign}{sum(shard.done for shard in shards)}/{sum(shard.task.items for shard in shards)}"


def _usd(status: Status) -> Counter[str]:
    usd: Counter[str] = Counter()
    for stage in status.stages:
        for shard in stage.shards:
            usd[shard.task.system] += shard.mark.usd if shard.mark else 0.0
    return usd


def _lists(status: Status) -> Iterator[Iterator[str]]:
    running, failed = status.of("running"), status.of("failed", "lost")
    yield _listed_shards("running", running, _running(running[:SHOWN], status.told))
    yield _listed_shards("failed", failed, (_failed(shard, status.goes_on) for shard in failed[:SHOWN]))
    yield _attention(status)


def _listed_shards(head: str, shards: Sequence[Shard], lines: Iterable[str]) -> Iterator[str]:
    if shards:
        yield f"{head}:"
        for line in lines:
            yield from _wrapped(line)
        if len(shards) > SHOWN:
            yield f"  and {len(shards) - SHOWN} more (--json has all)"


def _running(shards: Sequence[Shard], now: float) -> Iterator[str]:
    """Where, since when and how fast; columns as wide as they must be."""
    rows = []
    for shard in shards:
        mark = shard.mark
        where = mark.host.partition(".")[0] + (f" job {mark.slurm_job}" if mark.slurm_job else "")
        each = f"{duration((mark.told - mark.started) / mark.done)} a clip" if mark.done else ""
        again = f"attempt {mark.attempt}" if mark.attempt > 1 else ""
        rows.append((shard.task.shard, f"{shard.done} of {shard.task.items}", where, duration(now - mark.started), each, again))
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _failed(shard: Shard, goes_on: bool) -> str:
    mark = shard.mark
    if shard.state == "lost":
        why = f"its job {mark.slurm_job} " if mark.slurm_job else f"its process {mark.pid} on {mark.host} "
        why += f"is no more: {mark.detail}" if mark.detail else "is no more and has left no word"
        why += "; it goes on at its next try" if goes_on else "; it goes on at the next run"
    else:
        why = mark.detail or "see its log"
    log = f" (log {mark.log})" if mark.log else ""
    return f"{shard.task.shard}: {shard.done} of {shard.task.items}: {why}{log}"


def _attention(status: Status) -> Iterator[str]:
    found = list(_worries(status))
    if found:
        yield "attention:"
        for line in found:
            yield from _wrapped(line)


def _worries(status: Status) -> Iterator[str]:
    yield from waits.worries(status.queue or ()).values()
    if status.budget_usd is not None and status.usd >= ALMOST * status.budget_usd:
        yield f"{status.usd:,.2f} of {status.budget_usd:,.2f} USD are spent: raise exchange.budget_usd"
    again: Counter[str] = Counter()
    for shard in status.of("finished"):
        again.update(shard.mark.failures if shard.mark else {})
    for reason, count in again.most_common(5):
        yield f"{_counted(count, 'item')} to be tried again at the next run: {reason}"
    killed = [shard for stage in status.stages for shard in stage.shards if shard.mark and shard.mark.ooms]
    if limited := len(status.at_largest):
        yield f"{_counted(limited, 'shard')} out of memory with all that cluster.largest_mb allows: raise cluster.largest_mb"
    if others := len(killed) - limited:
        yield f"{_counted(others, 'shard')} out of memory once or more: raise cluster.memory_factor if there are many"
    yield from status.problems


def as_values(status: Status) -> dict[str, Any]:
    """The same as plain values, with every shard."""
    return {
        "folder": str(status.folder),
        "told": round(status.told, 3),
        "main_process": status.at_work,
        "main_job": None if status.main_job is None else vars(status.main_job),
        "usd": round(status.usd, 6),
        "budget_usd": status.budget_usd,
        "left_s": None if status.left_s is None else round(status.left_s),
        "work_s": round(status.work_s),
        "stages": [_stage_values(stage) for stage in status.stages],
        "shards": [_shard_values(shard) for stage in status.stages for shard in stage.shards],
        "queue": None if status.queue is None else [vars(job) for job in status.queue],
        "attention": list(_worries(status)),
    }


def _stage_values(stage: Stage) -> dict[str, Any]:
    states = {state: stage.count(state) for state in ("finished", "running", "waiting", "failed", "lost")}
    each_s = None if stage.item_s is None else round(stage.item_s, 3)
    told = {"stage": stage.name, "items": stage.items, "done": stage.done, **states}
    return told | {"item_s": each_s, "measured": stage.measured, "left_s": round(stage.left_s)}


def _shard_values(shard: Shard) -> dict[str, Any]:
    task, mark = shard.task, shard.mark
    told = {"shard": task.shard, "stage": task.stage, "system": task.system, "items": task.items, "done": shard.done}
    told |= {"state": shard.state}
    if mark is None:
        return told
    kept = ("started", "told", "ended", "attempt", "ooms", "usd", "slurm_job", "host", "pid", "log", "detail", "failures")
    return told | {name: getattr(mark, name) for name in kept}


def duration(seconds: float) -> str:
    """In words, to two places at most.

    >>> [duration(value) for value in (0.42, 12.4, 95, 3 * 3600 + 24 * 60, 400_000)]
    ['0.42 s', '12 s', '1 min 35 s', '3 h 24 min', '4 d 15 h']
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} d {hours % 24} h"


def _percent(done: int, items: int) -> str:
    """Whole percents; 100 only when all is done, 0 only when nothing is.

    >>> [_percent(*pair) for pair in ((0, 0), (0, 9), (1, 999), (998, 999), (9, 9))]
    ['', '0 %', '1 %', '99 %', '100 %']
    """
    if not items:
        return ""
    share = round(100 * done / items)
    return f"{min(max(share, 1), 99) if 0 < done < items else share} %"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _wrapped(line: str) -> list[str]:
    """A line of a list; what is too long goes on below, names and paths whole."""
    if len(line) <= WIDTH - 2:
        return [f"  {line}"]
    return textwrap.wrap(
        line, WIDTH, initial_indent="  ", subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False
    )


def _short(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"
