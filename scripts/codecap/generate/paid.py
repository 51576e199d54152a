"""Runs that cost money: made once, kept raw, read anew in every job.

A run's key says what was asked of whom, and nothing of our code. So an edit of how answers are read changes rows, and buys nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from codecap import registry, stopping
from codecap.clips import check_file
from codecap.exchange import NotReached
from codecap.generate import local_server, serve
from codecap.generate.entries import FAMILY
from codecap.generate.harnesses import COLUMN, SUFFIX, InfraError, Made, PaidHarness
from codecap.records import Caption, Clip, Outcome
from codecap.store import Draft, Item, ItemStore
from codecap.video import VideoError

RUNS = "runs"  # the stage of raw runs in the store


def caption_shard(
    clips: Iterable[Clip],
    system: str,
    harness: str,
    settings: Mapping[str, Any],
    durable: Path,
    sources: Mapping[str, Caption] | None = None,
) -> Iterator[Caption]:
    """One row a clip, in their order; as many clips at once as the harness says. Within an open `codecap.exchange.session`.

    What failed by our fault is a row `infra_error`, nothing of it is stored, and the next call tries it again.

    Args:
        sources: captions of the other system that this one starts from, by clip (a harness that says `FROM`).

    Raises:
        stopping.Stopped: the process is to end. What was under way has been finished and stored, or thrown away.
        UserError: nothing can be asked as it is configured.
    """
    with contextlib.closing(_Workers(harness, settings)) as workers:
        shard = _Shard(system, workers, durable, sources)
        with ThreadPoolExecutor(max_workers=max(workers.reader.at_once, 1)) as pool:
            rows = [pool.submit(shard.row, clip) for clip in clips]
            try:
                for row in rows:
                    yield row.result()
            finally:
                stopping.wind_up(pool, rows, workers.end)


class _Workers:
    """A system's harness: one that reads and, where the model is served beside the shard (the entry's key `serve`), another one
    that runs, loaded with the first run. So where all runs are in the store, no server is started."""

    def __init__(self, harness: str, settings: Mapping[str, Any]) -> None:
        self._harness, self._settings = harness, settings
        self._open = contextlib.ExitStack()
        self._lock = threading.Lock()
        try:
            self.reader: PaidHarness = registry.make(FAMILY, harness, serve.described(settings))
            self._served = self._open.enter_context(local_server.beside(settings)) if "serve" in settings else None
        except ValueError as error:
            raise registry.Unavailable(f"{FAMILY} {harness}: wrong settings: {error}") from error
        self._runner: PaidHarness | None = None

    def runner(self) -> PaidHarness:
        """Raises `local_server.ServerFailed` where the server does not start."""
        if self._served is None:
            return self.reader
        with self._lock:
            if self._runner is None:
                self._runner = registry.make(FAMILY, self._harness, self._served())
            return self._runner

    def end(self) -> None:
        self.reader.end()
        if self._runner is not None:
            self._runner.end()

    def close(self) -> None:
        self._open.close()


class _Shard:
    def __init__(self, system: str, workers: _Workers, durable: Path, sources: Mapping[str, Caption] | None) -> None:
        self._system, self._workers, self._sources = system, workers, sources
        self._runs = ItemStore(durable, stage=RUNS, salt=workers.reader.identity)
        self._contents = ItemStore(durable, stage="generate", salt=None)

    def row(self, clip: Clip) -> Caption:
        stopping.check()
        source = None if self._sources is None else self._sources[clip.clip_id]
        if source is not None and source.outcome is not Outcome.OK:
            told = f"{source.system}: {source.detail}" if source.detail else f"{source.system} has none"
            return self._without(clip, source.key, source.outcome, told)
        key = self._runs.key(clip.sha256, *([] if source is None else [source.key]))
        try:
            item = self._runs.get_or_make(self._system, clip.clip_id, key, lambda draft: self._run(clip, draft, source))
        except (InfraError, NotReached, VideoError) as error:
            stopping.check()
            return self._without(clip, key, Outcome.INFRA_ERROR, str(error))
        made = self._workers.reader.read(Item(key, item.value["run"], item.files))
        if made.outcome is Outcome.INFRA_ERROR:
            raise RuntimeError(f"{self._system}, {clip.clip_id}: a run that was kept must not read as a failure of ours")
        return self._caption(clip, item, made)

    def _without(self, clip: Clip, key: str, outcome: Outcome, detail: str) -> Caption:
        kind = self._workers.reader.kind
        return Caption(system=self._system, clip_id=clip.clip_id, key=key, outcome=outcome, detail=detail, kind=kind)

    def _run(self, clip: Clip, draft: Draft, source: Caption | None) -> dict[str, Any]:
        check_file(clip)
        worker = self._workers.runner()
        run = worker.run(clip, draft) if source is None else worker.run_from(clip, draft, source)
        return {"run": run, "version": worker.version(), "protocol": worker.protocol, "asked": worker.identity}

    def _caption(self, clip: Clip, item: Item, made: Made) -> Caption:
        key, path = item.key, None
        if isinstance(made.content, Path):
            path = made.content
        elif made.content:
            kept = self._kept(clip, made)
            key, path = kept.key, kept.files[SUFFIX[made.kind]]
        return Caption(
            system=self._system,
            clip_id=clip.clip_id,
            key=key,
            outcome=made.outcome,
            detail=made.detail,
            kind=made.kind,
            salvaged=made.salvaged,
            usage=made.usage,
            cost_usd=made.cost_usd,
            rounds=made.rounds,
            wall_s=made.wall_s,
            tool_calls=made.tool_calls,
            harness_version=item.value["version"],
            protocol=item.value["protocol"],
            **{COLUMN[made.kind]: path},
        )

    def _kept(self, clip: Clip, made: Made) -> Item:
        """The caption's file, under a key of what is in it: what comes after is made anew only where that has changed."""

        def write(draft: Draft) -> dict[str, str]:
            draft.file(SUFFIX[made.kind]).write_bytes(content)
            return {"kind": made.kind}

        content: bytes = made.content
        key = self._contents.key(clip.sha256, made.kind, hashlib.sha256(content).hexdigest())
        return self._contents.get_or_make(self._system, clip.clip_id, key, write)
