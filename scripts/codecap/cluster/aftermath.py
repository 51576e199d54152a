"""The end of a run in words: which shards did not finish, why, where their logs are, and what to do."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.cluster import fates
from codecap.cluster.fates import Cause, Fate
from codecap.shards import Journals, Mark

_TRIES = re.compile(  # in Snakemake's log, in the order in which they were made
    r"Job (?P<taken>\d+) has been submitted with SLURM jobid (?P<job>\d+) \(log: "
    r"|SLURM sbatch failed\. The error message was '(?P<words>.*?)'\.\s+sbatch call:.*?\n    jobid: (?P<refused>\d+)",
    re.DOTALL,
)
_SHOWN = 6  # names on one line
_MOST_CAUSES = 12  # paragraphs


@dataclass(frozen=True)
class Failed:
    """A job of Snakemake's that did not come through in this run.

    Attributes:
        shard: rule and wildcards, "render_captions/vtrace/03".
        number: Snakemake's number of it in this run.
        log: its own log file.
    """

    shard: str
    number: int
    log: str = ""

    @classmethod
    def of(cls, rule: str, wildcards: Iterable[str], number: int, log: str) -> Failed:
        return cls("/".join([rule, *wildcards]), number, str(log))


@dataclass(frozen=True)
class Run:
    """What is known of a run besides its shards' journals.

    Attributes:
        name: which run this is; journals of other runs say nothing about it.
        log: Snakemake's own log of it: it names SLURM's jobs.
        clips: ids of the clips of each bucket.
        systems: to find them among wildcards.
        not_begun: jobs that need those which failed, and so did not run.
    """

    name: str
    log: Path | None
    clips: Mapping[str, Sequence[str]]
    systems: Collection[str] = ()
    not_begun: int = 0


@dataclass(frozen=True)
class _Unfinished:
    """A shard and why it is not finished: those of one rule with the same `why` and `cure` are told together."""

    shard: str
    why: str
    cure: str
    node: str = ""
    done: int = 0
    logs: tuple[str, ...] = ()

    @property
    def group(self) -> tuple[str, str, str]:
        return self.shard.partition("/")[0], self.why, self.cure


@dataclass(frozen=True)
class _Tries:
    """The last of SLURM's jobs for one of Snakemake's, and why sbatch has refused others since."""

    job: str
    refused: str


_NO_TRY = _Tries("", "")


def told(
    run: Run,
    failed: Sequence[Failed],
    journals: Journals,
    fates_of: Callable[[Iterable[str]], Mapping[str, Fate]] = fates.of_all,
) -> str:
    """One block of text; "" when every shard of this run is finished and no row failed by our fault.

    Args:
        failed: the jobs that did not come through.
        fates_of: why SLURM's jobs are no more.
    """
    marks = {shard: mark for shard, mark in journals.every().items() if mark.run == run.name}
    names = {job.shard for job in failed}
    with_failures = [mark for shard, mark in marks.items() if mark.unfinished and shard not in names]
    lines = [*_of_failed(run, failed, marks, fates_of), *_of_rows(with_failures)]
    if not lines:
        return ""
    if run.not_begun:
        lines.append(f"  {_count(run.not_begun, 'job')} that need them did not run.")
    head = f"{_count(len(failed) + len(with_failures), 'shard')} did not finish; what they have done is kept:"
    return "\n".join([head, *lines, "  Run the same command again to go on: nothing that is finished is done again."])


def _of_failed(
    run: Run, failed: Sequence[Failed], marks: Mapping[str, Mark], fates_of: Callable[[Iterable[str]], Mapping[str, Fate]]
) -> Iterator[str]:
    tries = _tries(run.log)
    jobs = {job.shard: tries.get(job.number, _NO_TRY).job or _slurm_job(marks.get(job.shard)) for job in failed}
    found = fates_of([job for job in jobs.values() if job])
    groups: dict[tuple[str, str, str], list[_Unfinished]] = {}
    for job in failed:
        clips = run.clips.get(job.shard.rpartition("/")[2], ())
        shard = _unfinished(job, marks.get(job.shard), found.get(jobs[job.shard]), tries.get(job.number, _NO_TRY).refused, clips)
        groups.setdefault(shard.group, []).append(shard)
    by_size = sorted(groups.items(), key=lambda group: -len(group[1]))
    for (rule, why, cure), shards in by_size[:_MOST_CAUSES]:
        yield from _of_group(run, rule, why, cure, shards)
    if len(by_size) > _MOST_CAUSES:
        yield f"  and {_count(sum(len(shards) for _, shards in by_size[_MOST_CAUSES:]), 'shard')} for other causes: see their logs"


def _tries(run_log: Path | None) -> dict[int, _Tries]:
    """What became of the tries to submit each of Snakemake's jobs, by its number."""
    text = run_log.read_text(encoding="utf-8", errors="replace") if run_log is not None and run_log.is_file() else ""
    found: dict[int, _Tries] = {}
    for told in _TRIES.finditer(text):
        if told["taken"]:
            found[int(told["taken"])] = _Tries(told["job"], "")
        else:
            parts = [part.strip() for part in told["words"].split("sbatch: error:") if part.strip()]
            before = found.get(int(told["refused"]), _NO_TRY)
            found[int(told["refused"])] = _Tries(before.job, "; ".join(parts))
    return found


def _slurm_job(mark: Mark | None) -> str:
    return "" if mark is None else mark.slurm_job


def _unfinished(job: Failed, mark: Mark | None, fate: Fate | None, refused: str, clips: Collection[str]) -> _Unfinished:
    """What is known of one failed job."""
    why, cure, node = _why(mark, fate, refused)
    if refused and (mark is not None or fate is not None):
        why = f"{why}; then SLURM took no job: {refused}"
        cure = "run again: nodes that failed are left out until then; `codecap slurm check` says whether a setting does not fit"
    logs = tuple(_short(log) for log in (mark.log if mark and mark.log else job.log, (fate and fate.log) or "") if log)
    why = _in_general(why, [*job.shard.split("/")[1:-1], *clips])
    return _Unfinished(job.shard, why, cure, node, 0 if mark is None else mark.done, logs)


def _short(log: str) -> str:
    """A path below the working folder, from there."""
    return os.path.relpath(log) if Path(log).is_relative_to(Path.cwd()) else log


def _why(mark: Mark | None, fate: Fate | None, refused: str) -> tuple[str, str, str]:
    """Why in words, what to do, and the node where that is known. What SLURM says of a job's end explains what the job saw."""
    told_by_slurm = fate is not None and fate.cause not in (Cause.UNKNOWN, Cause.FINISHED, Cause.FAILED, Cause.ALIVE)
    if told_by_slurm:
        words, _, node = fate.words.partition(" on ")
        return words + (f"; {mark.detail}" if mark is not None and mark.state == "stopped" else ""), fate.cure, node
    if mark is not None and mark.state == "failed":
        return mark.detail or "an error ended it", "see the log", mark.host
    if mark is not None and mark.state == "stopped":
        return mark.detail, "nothing; more --retries, or a higher cluster.longest_min, finish it in one run", mark.host
    if mark is not None and mark.state == "finished":
        return "it finished, but its output is not there", "raise latency-wait in the profile, or see whether the disk is full", ""
    if mark is not None:
        why = "killed: its process is no more, and nothing says why"
        return (
            why,
            "see the log; if it was memory, " + ("raise cluster.memory_factor" if mark.slurm_job else "use fewer --cores"),
            mark.host,
        )
    if refused:
        return f"SLURM took no job: {refused}", "`codecap slurm check` says which settings do not fit", ""
    return "its job ended before its work began", "see the log", ""


def _in_general(why: str, names: Collection[str]) -> str:
    """Without what is one shard's own, its counts, systems and clips, so that shards of one cause are told together.

    >>> _in_general("captions of still: stopped after 12 of 32: time limit near", ["still"])
    'captions: stopped: time limit near'
    """
    why = re.sub(r" after \d+ of \d+( clips)?", "", why)
    for name in names:
        why = re.sub(rf"( (of|by) {re.escape(name)}\b)|(?<!\w){re.escape(name)}(: | |$)", "", why)
    return why


def _of_group(run: Run, rule: str, why: str, cure: str, shards: Sequence[_Unfinished]) -> Iterator[str]:
    nodes = _listed(sorted({shard.node for shard in shards if shard.node}))
    yield f"  {rule}: {why}" + (f" (on {nodes})" if nodes else "")
    systems = [system for system in run.systems if any(system in shard.shard.split("/") for shard in shards)]
    yield f"    shards  {_listed([shard.shard.partition('/')[2] or rule for shard in shards])}" + (
        f"; of {_listed(systems)}" if len(systems) > 1 else ""
    )
    clips = sorted({clip for shard in shards for clip in run.clips.get(shard.shard.rpartition("/")[2], ())})
    if clips:
        total = sum(len(run.clips.get(shard.shard.rpartition("/")[2], ())) for shard in shards)
        left = max(total - sum(shard.done for shard in shards), 0)
        yield f"    clips   {left} left" + (f" of {total}, among them " if left < total else ": ") + _listed(clips)
    logs = [log for shard in shards for log in shard.logs]
    if logs:
        yield f"    logs    {_listed(logs, shown=2)}"
    if cure:
        yield f"    to do   {cure}"


def _of_rows(marks: Sequence[Mark]) -> Iterator[str]:
    """Shards that came through, with rows that failed by our fault: the next run tries those rows again."""
    groups: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        for reason in mark.failures or {mark.detail or "failed by our fault": 1}:
            groups.setdefault((mark.rule, reason), []).append(mark)
    for (rule, reason), held in groups.items():
        yield f"  {rule}: {_count(sum(mark.failures.get(reason, 1) for mark in held), 'clip')} to be tried again: {reason}"
        yield f"    shards  {_listed(['/'.join(mark.wildcards) for mark in held])}"
        yield f"    logs    {_listed([mark.log for mark in held if mark.log], shown=2)}"


def _listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """The first few names, and how many more there are."""
    kept = list(Counter(names))
    more = f" and {len(kept) - shown} more" if len(kept) > shown else ""
    return ", ".join(kept[:shown]) + more


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
