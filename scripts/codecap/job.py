"""What every job and command shares: a log, progress in it, a journal of a shard's work, and errors told in words."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from codecap import stopping, store, weights
from codecap.deadline import work_s
from codecap.errors import UserError
from codecap.shards import RESULTS, SHARDS, Journals, Mark, in_general, this_run
from codecap.store import StoreError, explained

LOG = logging.getLogger("codecap")
EVERY_S = 10.0
END_S = 15.0  # for a job to end once its work has: it writes its rows, and Snakemake looks at them
MOST_REASONS = 10  # that a journal tells apart
REASON_LENGTH = 300
DETAIL_LENGTH, TRACE_LENGTH = 2000, 8000
PASSING = (OSError, MemoryError, ImportError, EOFError, subprocess.SubprocessError)  # another node may fare better
OF_THE_NODE = re.compile(r"CUDA|cuDNN|cuBLAS|NVML|allocate memory|start new thread", re.IGNORECASE)  # in a RuntimeError
GONE = "which rows of a stage before name, is gone (purged, or the store has moved)"
CURE_OF_GONE = "run again: what made it is planned anew, and takes what it can from the store; if it is told again, add --forceall"

T = TypeVar("T")


class Named(Protocol):
    """A rule's params or resources: plain values by name, as in a dictionary."""

    def get(self, name: str, default: Any, /) -> Any: ...


@contextlib.contextmanager
def running(log: str | Path | None = None, network: bool = False) -> Iterator[None]:
    """Run a job's or a command's work: log to a file, end on an error that the user can cure with one message and status 1.

    A programming error goes through with its traceback. Where the scheduler or a terminal ends it, what it has begun is cleaned up.

    Args:
        network: whether libraries of models may download; only what fetches weights says so.
    """
    if not network:
        weights.work_offline()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if threading.current_thread() is threading.main_thread():
            signal.signal(number, _end)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
        filename=None if log is None else str(log),
        filemode="w",
        force=True,
    )
    try:
        yield
    except Exception as error:
        message = in_words(error)
        if message is None:
            LOG.exception("stopped by a programming error")
            raise
        if log is not None:
            LOG.error(message)
        print(f"codecap: {message}", file=sys.stderr)
        raise SystemExit(1) from None


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def in_words(error: BaseException) -> str | None:
    """One message for an error that a user can cure; None for any other."""
    if isinstance(error, UserError):
        return str(error.args[-1]) if error.args else str(error)
    if isinstance(error, OSError):
        cured = explained(error, Path(os.fsdecode(error.filename)) if error.filename else Path.cwd())
        if isinstance(cured, StoreError):
            return in_words(cured)
        return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else None
    return None


@contextlib.contextmanager
def shard(
    rule: str,
    wildcards: Iterable[str],
    log: Sequence[str | Path],
    resources: Named,
    params: Named,
    config: dict[str, Any],
    network: bool = False,
    longest_item_s: float = 0.0,
) -> Iterator[Shard]:
    """Run a rule's job as `running` does, and keep the journal of its shard.

    Where its time limit is near, or a signal asks it to end, it begins no new item, ends with status `stopping.STATUS`, and goes
    on at its next try. Where an attempt before, in this run, has failed by what another one cannot cure, it ends at once with the
    same words.

    Args:
        rule, wildcards: name the shard; the wildcards' values in the order of the rule's output.
        log: the rule's log files, of which the first is written.
        resources: `attempt`, Snakemake's number of the attempt, and `runtime`, the minutes that the job may take.
        params: `this_try`, where a shard that has failures of ours is tried again.
        config: the run's configuration.
        network: see `running`.
        longest_item_s: most that one item may take, where that is known and it is dear to break one off: none is begun when less
            is left.
    """
    name, attempt = "/".join([rule, *wildcards]), resources.get("attempt", 1)
    store.use(config["store"])
    stop_before_s = max((config.get("cluster") or {}).get("stop_before_s", 0), longest_item_s)
    with running(log[0], network):
        roots = [Path(config["store"][root]) for root in ("durable", "bulk")]
        mine = Shard(Journals(SHARDS), name, params.get("this_try", 0), attempt, str(log[0]), roots)
        mine.must_not_have_failed()
        _work_in_scratch()
        grace_s = max(stop_before_s - END_S, stop_before_s / 2)
        with stopping.watched(work_s(resources.get("runtime", None), stop_before_s), grace_s, mine.was_ended), mine:
            yield mine
            if store.current().pack:
                _pack(config["buckets"])


def _work_in_scratch() -> None:
    """Have temporary files of this job, and of what it starts, lie in the node's own folder, where the configuration names one."""
    if store.current().scratch is not None:
        folder = store.scratch_folder()
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["TMPDIR"], tempfile.tempdir = str(folder.absolute()), None


def _pack(buckets: int) -> None:
    """Pack the items of this job, see `codecap.store.packing`."""
    from codecap.plan import bucket_of
    from codecap.store.packing import pack_touched

    pack_touched(lambda clip_id: bucket_of(clip_id, buckets))


class Shard:
    """A shard's work, told in its journal: at its start, now and then while items are finished, and at its end.

    Args:
        this_try, attempt, log: see `Mark`.
        roots: of the store.
    """

    def __init__(self, journals: Journals, name: str, this_try: int, attempt: int, log: str, roots: Sequence[Path]) -> None:
        self._journals, self._roots = journals, roots
        self._before = journals.read(name)
        self._lock = threading.Lock()
        self._mark = Mark(
            shard=name,
            this_try=this_try,
            started=_now(),
            run=this_run(),
            attempt=attempt,
            ooms=self._before.ooms if self._before else 0,
            usd=self._before.usd if self._before else 0.0,
            slurm_job=os.environ.get("SLURM_JOB_ID", ""),
            host=socket.gethostname(),
            pid=os.getpid(),
            log=log,
        )
        self._what = ""
        self._read: list[Path] = []

    def must_not_have_failed(self) -> None:
        """End at once where an attempt of this run has failed for good."""
        before = self._before
        if before is None or not before.for_good or self._mark.attempt == 1:
            return
        if before.run and (before.run, before.this_try) == (self._mark.run, self._mark.this_try):
            LOG.error("not tried again: %s", before.trace or before.detail)  # Snakemake has deleted the log that said so
            print(f"codecap: {before.detail}", file=sys.stderr)
            raise SystemExit(1)

    def __enter__(self) -> Shard:
        self._write()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            try:
                self._write(state="finished", ended=_now())
            except OSError as full:
                self._fail(full)
                raise
        elif isinstance(error, stopping.Stopped):
            self.was_ended()
            raise SystemExit(stopping.STATUS) from None
        elif isinstance(error, KeyboardInterrupt):
            self._try_to_write(state="stopped", ended=_now(), detail="interrupted")
        elif isinstance(error, FileNotFoundError) and (lost := self._lost()):
            gone = StoreError(errno.ENOENT, lost)
            self._fail(gone, cause=f"a file of the store, {GONE}: {CURE_OF_GONE}")
            raise gone from error
        elif isinstance(error, Exception):
            self._fail(error)

    def counted(self, items: Iterable[T], what: str, total: int, usd: Callable[[], Any] = lambda: 0) -> Iterator[T]:
        """Pass items on, log and tell in the journal how many are done, and begin no new one when the job should stop.

        Args:
            items: each is made when it is asked for.
            what: they are, for whoever reads the log.
            usd: what they have cost so far.

        Raises:
            stopping.Stopped: the job should stop.
        """
        self._what, before_usd = what, self._mark.usd
        self._write(total=total)

        def until_stopped() -> Iterator[T]:
            coming = iter(items)
            try:
                while True:
                    if self._mark.done < total:
                        stopping.check()
                    try:
                        item = next(coming)
                    except StopIteration:
                        return
                    finally:
                        self._set(usd=before_usd + float(usd()))
                    self._set(done=self._mark.done + 1)
                    if _now() - self._mark.told >= EVERY_S:
                        self._try_to_write()
                    yield item
            finally:
                if hasattr(coming, "close"):
                    coming.close()  # now, and not when the error that is under way is forgotten

        return counted(until_stopped(), what, total)

    def reads(self, files: Iterable[Path | None]) -> None:
        """Name files that rows of stages before name: where something fails and one of them is gone, that is told."""
        self._read = [path for path in files if path is not None]

    def settle(self, what: str, failed: Iterable[tuple[str, ...]] = (), files: Iterable[Path | None] = ()) -> None:
        """Say how the rows have come out.

        Args:
            failed: those that failed by our fault: of which clip, why, and which row it was where a clip has several. The shard is
                tried again at the next run.
            files: that the rows name; where one of the store is gone, the shard is made again at the next run.
        """
        failed = list(failed)
        clips: dict[str, set[str]] = {}
        for clip_id, reason, *_ in failed:
            clips.setdefault(self._in_general(reason, clip_id)[:REASON_LENGTH], set()).add(clip_id)
        most = sorted(clips, key=lambda reason: -len(clips[reason]))[:MOST_REASONS]
        unfinished = tell_unfinished(what, [f"{', '.join([*row, clip_id])}: {reason}" for clip_id, reason, *row in failed])
        lost = self._lost() if failed else ""
        if lost:
            LOG.error(lost)
            print(f"codecap: {lost}", file=sys.stderr)
        held = tuple(path.as_posix() for path in files if path is not None and self._is_of_store(path))
        self._set(
            unfinished=unfinished,
            detail=lost,
            cause=CURE_OF_GONE if lost else "",
            failures={reason: len(clips[reason]) for reason in most},
            files=held,
        )

    def _is_of_store(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self._roots)

    def _lost(self) -> str:
        """What to do where files that it reads are gone; "" where all are there."""
        gone = [path for path in self._read if not store.there(path)]
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return f"{gone[0]}{more}, {GONE}: {CURE_OF_GONE}" if gone else ""

    def _in_general(self, words: str, *names: str) -> str:
        return in_general(words, names, [*self._roots, RESULTS])

    def was_ended(self) -> None:
        """Say that it was stopped before its end."""
        mark = self._mark
        if not mark.total:
            told = f"{mark.shard}: stopped: {stopping.reason()}; begins anew at its next try"
        else:
            broken = stopping.broken_off()
            told = f"{self._what}: stopped{'' if broken else ' cleanly'} after {mark.done} of {mark.total}: {stopping.reason()}; "
            told += "what was under way is begun anew at its next try" if broken else "goes on at its next try"
        LOG.error(told)
        print(f"codecap: {told}", file=sys.stderr)
        self._try_to_write(state="stopped", ended=_now(), detail=told)

    def _fail(self, error: Exception, cause: str = "") -> None:
        words = in_words(error)
        detail = words or f"stopped by a programming error: {type(error).__name__}: {error}"
        told = {"detail": detail[:DETAIL_LENGTH], "for_good": _is_for_good(error)}
        if words is None:
            told["trace"] = "".join(traceback.format_exception(error))[-TRACE_LENGTH:]
        elif isinstance(error, OSError):
            told["cause"] = cause or self._in_general(detail)[:DETAIL_LENGTH]
        self._try_to_write(state="failed", ended=_now(), **told)

    def _set(self, **told: Any) -> None:
        self._mark = dataclasses.replace(self._mark, **told)

    def _write(self, **told: Any) -> None:
        with self._lock:
            self._set(**told, told=_now())
            self._journals.write(self._mark.shard, self._mark)

    def _try_to_write(self, **told: Any) -> None:
        """What happens to the work matters more than that it cannot be told."""
        try:
            self._write(**told)
        except OSError as error:
            LOG.warning("the journal of %s cannot be written: %s", self._mark.shard, in_words(error) or error)


def _is_for_good(error: Exception) -> bool:
    """Whether another attempt, on another node, would meet the same error."""
    if isinstance(error, UserError) and not isinstance(error, OSError):
        return not error.may_pass
    return not isinstance(error, PASSING) and not (isinstance(error, RuntimeError) and OF_THE_NODE.search(str(error)))


def _now() -> float:
    return round(time.time(), 3)


def tell_unfinished(what: str, reasons: Sequence[str]) -> bool:
    """Say on the terminal what failed by our fault and is tried again at the next run; true if anything did."""
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        message = f"{what}: tried again at the next run: {reasons[0]}{more}"
        LOG.error(message)
        print(f"codecap: {message}", file=sys.stderr)
    return bool(reasons)


def counted(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Pass items on and log how many are done, at which rate, and the time left: now and then, and at the end."""
    started = told = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - told >= EVERY_S or done == total:
            rate = done / max(now - started, 1e-9)
            left_s = (total - done) / rate
            LOG.info("%s: %d of %d, %.2f a second, %d s left", what, done, total, rate, left_s)
            told = now
