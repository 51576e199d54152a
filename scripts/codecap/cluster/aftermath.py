"""The end of a run in words: which shards did not finish, why, where their logs are, and what to do."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codecap.cluster import fates, refusals
from codecap.cluster.fates import Cause, Fate
from codecap.shards import Journals, Mark, in_general

_TRIES = re.compile(  # in Snakemake's log, in the order in which they were made
    r"Job (?P<taken>\d+) has been submitted with SLURM jobid (?P<job>\d+) \(log: "
    r"|(?:exit status (?P<status>\d+)|<Signals\.\w+: (?P<signal>\d+)>)\.\n(?:\[[^\n]*\n)?Error in rule \w+:\n"
    r"(?:    [^\n]*\n)*?    jobid: (?P<ended>\d+)"
    rf"|    message: {refusals.BEGINS}(?P<words>.*?)"
    r"(?:'\.\s+sbatch call:.*?|For further error details[^\n]*)\n    jobid: (?P<refused>\d+)",
    re.DOTALL,
)
_STATUS = re.compile(r"exit status (\d+)|<Signals\.\w+: (\d+)>")
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)
_SEE_LOG = "see the log"
_SHOWN = 6  # names on one line
_MOST_CAUSES = 12  # paragraphs


@dataclass(frozen=True)
class Failed:
    """A job of Snakemake's that did not come through in this run.

    Attributes:
        shard: rule and wildcards, "render_captions/vtrace/03".
        number: Snakemake's number of it in this run.
        log: its own log file.
        cancelled: it was under way in SLURM when the run was stopped.
    """

    shard: str
    number: int
    log: str = ""
    cancelled: bool = False

    @classmethod
    def of(cls, rule: str, wildcards: Iterable[str], number: int, log: str, cancelled: bool = False) -> Failed:
        return cls("/".join([rule, *wildcards]), number, str(log), cancelled)


@dataclass(frozen=True)
class Run:
    """What is known of a run besides its shards' journals.

    Attributes:
        name: which run this is; journals of other runs say nothing about it.
        log: Snakemake's own log of it: it names SLURM's jobs.
        clips: ids of the clips of each bucket.
        systems: to find them among wildcards.
        not_begun: jobs that need those which failed, or were to come after those which were cancelled, and so did not run.
        stopped: somebody ended it (Ctrl-C, or SLURM its main process), and SLURM's jobs were cancelled.
    """

    name: str
    log: Path | None
    clips: Mapping[str, Sequence[str]]
    systems: Collection[str] = ()
    not_begun: int = 0
    stopped: bool = False


@dataclass(frozen=True)
class _Unfinished:
    """A shard and why it is not finished: those of one rule with the same `why` and `cure` are told together.

    Attributes:
        any_rule: the cause is none of its rule's, and told together for all.
        done: its clips that have their row.
        rows_of: it came through, and rows of so many clips are to be tried again; 0: it failed.
    """

    shard: str
    why: str
    cure: str
    node: str = ""
    any_rule: bool = False
    done: int = 0
    rows_of: int = 0
    logs: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        return self.shard.partition("/")[0]

    @property
    def group(self) -> tuple[str, str, str, bool]:
        return "" if self.any_rule else self.rule, self.why, self.cure, self.rows_of > 0


@dataclass(frozen=True)
class _Tries:
    """Of one of Snakemake's jobs: the last of SLURM's for it, why sbatch has refused others since, and the signal that ended it."""

    job: str = ""
    refused: str = ""
    signal: int = 0


_NO_TRY, _NO_MARK = _Tries(), Mark("")


def told(
    run: Run,
    failed: Sequence[Failed],
    journals: Journals,
    fates_of: Callable[[Iterable[str]], Mapping[str, Fate]] = fates.of_all,
) -> str:
    """One block of text; "" when every shard of this run is finished and no row failed by our fault.

    Where a shard's own job could not say why it is not finished, its journal says so from now on.

    Args:
        failed: the jobs that did not come through.
        fates_of: why SLURM's jobs are no more.
    """
    marks = {shard: mark for shard, mark in journals.every().items() if mark.run == run.name and not refusals.is_kept(mark)}
    failed = [job for job in failed if not job.cancelled or marks.get(job.shard, _NO_MARK).state != "finished"]
    names = {job.shard for job in failed}
    with_failures = [mark for shard, mark in marks.items() if mark.unfinished and shard not in names]
    unfinished = [*_of_failed(run, failed, marks, fates_of, journals), *_of_rows(run, with_failures)]
    if not unfinished and not run.stopped:
        return ""
    cancelled = sum(job.cancelled for job in failed)
    lines = [_head(run, cancelled, len(failed) - cancelled + len(with_failures))]
    groups: dict[tuple[str, str, str, bool], list[_Unfinished]] = {}
    for shard in unfinished:
        groups.setdefault(shard.group, []).append(shard)
    by_size = sorted(groups.values(), key=len, reverse=True)
    for shards in by_size[:_MOST_CAUSES]:
        lines += _of_group(run, shards)
    if more := by_size[_MOST_CAUSES:]:
        names = {shard.shard for shards in more for shard in shards}
        lines.append(f"  and {_count(len(names), 'shard')} for {_count(len(more), 'other cause')}: see their logs")
    if run.not_begun:
        lines.append(f"  {_count(run.not_begun, 'job')} {'that need them ' if failed and not run.stopped else ''}did not run.")
    return "\n".join([*lines, "  Run the same command again to go on: nothing that is finished is done again."])


def _head(run: Run, cancelled: int, others: int) -> str:
    if not run.stopped:
        return f"{_count(others, 'shard')} did not finish; what they have done is kept:"
    told = f"stopped; {_count(cancelled, 'job')} cancelled"
    told += f", and {_count(others, 'shard')} did not finish" if others else ""
    return told + ("; what they have done is kept:" if cancelled or others else "; what was done is kept.")


def _of_failed(
    run: Run,
    failed: Sequence[Failed],
    marks: Mapping[str, Mark],
    fates_of: Callable[[Iterable[str]], Mapping[str, Fate]],
    journals: Journals,
) -> Iterator[_Unfinished]:
    tries = _tries(run.log)
    jobs = {job.shard: tries.get(job.number, _NO_TRY).job or _slurm_job(marks.get(job.shard)) for job in failed}
    found = fates_of([jobs[job.shard] for job in failed if jobs[job.shard] and not job.cancelled])
    for job in failed:
        mark, fate = marks.get(job.shard), found.get(jobs[job.shard])
        if job.cancelled:
            done = 0 if mark is None else mark.done
            yield _Unfinished(job.shard, "cancelled, as the run was stopped", "", any_rule=True, done=done)
            continue
        unfinished = _unfinished(run, job, mark, fate, tries.get(job.number, _NO_TRY))
        if mark is None and unfinished.why.startswith(refusals.SAID):
            refusals.keep(journals, run.name, job.shard, tries[job.number].refused)
        elif mark is not None and mark.state == "running":
            _keep(journals, mark, unfinished)
        yield unfinished


def _keep(journals: Journals, mark: Mark, unfinished: _Unfinished) -> None:
    """Have the journal of a job that was killed say why. Its state stays: the next plan sees by it what to ask SLURM about."""
    why = unfinished.why + (f" on {unfinished.node}" if unfinished.node else "")
    with contextlib.suppress(OSError):  # a full disk: the words on the terminal are enough
        journals.write(mark.shard, replace(mark, detail=why))


def _of_rows(run: Run, marks: Sequence[Mark]) -> Iterator[_Unfinished]:
    """Shards that came through, with rows that failed by our fault: the next run tries those rows again."""
    for mark in marks:
        for reason, clips in (mark.failures or {mark.detail or "failed by our fault": 1}).items():
            why = in_general(reason, _names(run, mark.shard))
            yield _Unfinished(mark.shard, why, mark.cause, rows_of=clips, logs=tuple(log for log in [mark.log] if log))


def _tries(run_log: Path | None) -> dict[int, _Tries]:
    """What became of the tries to submit each of Snakemake's jobs, by its number."""
    text = run_log.read_text(encoding="utf-8", errors="replace") if run_log is not None and run_log.is_file() else ""
    found: dict[int, _Tries] = {}
    for told in _TRIES.finditer(text):
        if told["taken"]:
            found[int(told["taken"])] = _Tries(told["job"])
        elif told["ended"]:
            number = int(told["ended"])
            found[number] = replace(found.get(number, _NO_TRY), signal=_signal(told["status"], told["signal"]))
        else:
            before = found.get(int(told["refused"]), _NO_TRY)
            found[int(told["refused"])] = _Tries(before.job, refusals.plain(told["words"]))
    return found


def _slurm_job(mark: Mark | None) -> str:
    return "" if mark is None else mark.slurm_job


def _signal(status: str | None, number: str | None) -> int:
    """The signal that ended a process, from a shell's exit status or by its number; 0 where it was none."""
    return int(number) if number else max(int(status or 0) - 128, 0)


def _unfinished(run: Run, job: Failed, mark: Mark | None, fate: Fate | None, tries: _Tries) -> _Unfinished:
    """What is known of one failed job."""
    why, cure, node = _why(mark, fate, tries)
    if tries.refused and (mark is not None or fate is not None):
        why = f"{why}; then {refusals.SAID}{tries.refused}"
        cure = "run again: nodes that failed are left out until then; `codecap slurm check` says whether a setting does not fit"
    logs = [mark.log if mark and mark.log else job.log, (fate and fate.log) or ""]
    logs = tuple(_short(log) for log in (logs if mark else reversed(logs)) if log)  # SLURM's first, where the work never began
    any_rule = (mark is not None and why == mark.cause != "") or why.startswith(refusals.SAID)
    why = in_general(why, _names(run, job.shard))
    return _Unfinished(job.shard, why, cure, node, any_rule, 0 if mark is None else mark.done, logs=logs)


def _names(run: Run, shard: str) -> list[str]:
    """What is the shard's own in its words: its system and its clips."""
    return [*(part for part in shard.split("/") if part in run.systems), *run.clips.get(shard.rpartition("/")[2], ())]


def _short(log: str) -> str:
    """A path below the working folder, from there."""
    return os.path.relpath(log) if Path(log).is_relative_to(Path.cwd()) else log


def _why(mark: Mark | None, fate: Fate | None, tries: _Tries) -> tuple[str, str, str]:
    """Why in words, what to do ("" where the words say it), and the node where that is known.

    What SLURM says of a job's end explains what the job saw.
    """
    told_by_slurm = fate is not None and fate.cause not in (Cause.UNKNOWN, Cause.FINISHED, Cause.FAILED, Cause.ALIVE)
    if told_by_slurm:
        words, _, node = fate.words.partition(" on ")
        return words + (f"; {mark.detail}" if mark is not None and mark.state == "stopped" else ""), fate.cure, node
    if mark is None:
        if tries.refused:
            return f"{refusals.SAID}{tries.refused}", refusals.CURE, ""
        return "its job ended before its work began", _SEE_LOG, ""
    by_slurm = bool(mark.slurm_job)
    if mark.state == "failed":
        return mark.cause or mark.detail or "an error ended it", _SEE_LOG if mark.trace or not mark.detail else "", mark.host
    if mark.state == "stopped":
        cure = "nothing; more --retries, or a higher cluster.longest_min, finish it in one run" if by_slurm else ""
        return mark.detail, cure, mark.host
    if mark.state == "finished":
        cure = "see whether the disk is full" + (", or raise latency-wait in the profile" if by_slurm else "")
        return "it finished, but its output is not there", cure, ""
    ended_by = tries.signal or _signal_in(fate)
    if ended_by in _CRASHES:
        return f"crashed (signal {ended_by})", _SEE_LOG, mark.host
    memory = "raise cluster.memory_factor" if by_slurm else "use fewer --cores"
    return "killed: its process is no more, and nothing says why", f"{_SEE_LOG}; if it was memory, {memory}", mark.host


def _signal_in(fate: Fate | None) -> int:
    """The signal that SLURM's log says has ended a job's process; 0 where it says none."""
    if fate is None or fate.log is None or not Path(fate.log).is_file():
        return 0
    found = _STATUS.findall(Path(fate.log).read_text(encoding="utf-8", errors="replace"))
    return _signal(*found[-1]) if found else 0


def _of_group(run: Run, shards: Sequence[_Unfinished]) -> Iterator[str]:
    """The paragraph of one cause."""
    rules = sorted({shard.rule for shard in shards})
    nodes = _listed(sorted({shard.node for shard in shards if shard.node}))
    again = (
        f"{_count(sum(_most(run, shards, lambda shard: shard.rows_of)), 'clip')} to be tried again: " if shards[0].rows_of else ""
    )
    yield f"  {_listed(rules)}: {again}{shards[0].why}" + (f" (on {nodes})" if nodes else "")
    systems = [system for system in run.systems if any(system in shard.shard.split("/") for shard in shards)]
    names = [shard.shard if len(rules) > 1 else shard.shard.partition("/")[2] or shard.rule for shard in shards]
    yield f"    shards  {_listed(names)}" + (f"; of {_listed(systems)}" if len(systems) > 1 else "")
    clips = sorted({clip for shard in shards for clip in _clips(run, shard)})
    if clips and not again:
        total = sum(_most(run, shards, lambda shard: len(_clips(run, shard))))
        left = sum(_most(run, shards, lambda shard: max(len(_clips(run, shard)) - shard.done, 0)))
        yield f"    clips   {left} left" + (f" of these {total}: " if left < total else ": ") + _listed(clips)
    logs = [log for shard in shards for log in shard.logs if _has_words(Path(log))]
    if logs:
        yield f"    logs    {_listed(logs, shown=2)}"
    if cure := shards[0].cure:
        yield f"    to do   {cure if logs else cure.replace(_SEE_LOG, 'run again; no log says more')}"


def _clips(run: Run, shard: _Unfinished) -> Sequence[str]:
    return run.clips.get(shard.shard.rpartition("/")[2], ())


def _has_words(log: Path) -> bool:
    return log.is_file() and log.stat().st_size > 0


def _most(run: Run, shards: Sequence[_Unfinished], count: Callable[[_Unfinished], int]) -> Iterable[int]:
    """The most of a count that shards of the same clips and system have: the same clip in two lanes is one."""
    most: dict[tuple[str, ...], int] = {}
    for shard in shards:
        *others, bucket = shard.shard.split("/")
        same = (bucket, *(part for part in others if part in run.systems))
        most[same] = max(most.get(same, 0), count(shard))
    return most.values()


def _listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """The first few names, and how many more there are."""
    kept = list(Counter(names))
    more = f" and {len(kept) - shown} more" if len(kept) > shown else ""
    return ", ".join(kept[:shown]) + more


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
