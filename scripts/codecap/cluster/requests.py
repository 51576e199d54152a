"""What each job asks the cluster for: nodes, memory and minutes, as a rule's `resources`.

Nothing of it is in a rule's params, so it re-runs nothing; where no cluster is used, Snakemake passes it over.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from codecap.cluster import nodes, settings
from codecap.cluster.settings import Kind
from codecap.cluster.sizing import BY_ROWS, NOTHING, Clips, Sizes, Work, beside
from codecap.records import Clip
from codecap.shards import Journals, Mark

LEAST_MIN = 10
STEP_MIN, STEP_MB = 10, 100
SITE = {"slurm_partition": "partition", "slurm_account": "account", "qos": "qos", "gres": "gres", "constraint": "constraint"}
BY_LANE = ("describe_references", "score_renders")  # rules whose jobs are not all of one kind
BY_SYSTEM = ("generate_captions",)
GPUS_IN_USE = "gpus_in_use"  # GPUs of a job: on one machine, profiles limit their sum; SLURM is asked for them by `gres`
GPU_CPUS = 2  # one to decode what comes next while the other feeds the GPU


class Requests:
    """The `resources` of every rule.

    Args:
        config: checked.
        buckets: the clips of each shard.
        systems: entries of `models` that take part.
        journals: what the shards' jobs say of themselves.
        killed_for_memory: asked about the SLURM job of a shard that has left no word of its end. None where nobody is to be asked:
            within a job, and where a plan is only shown.

    Raises:
        ConfigError: see `nodes.check`.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        buckets: Mapping[str, Sequence[Clip]],
        systems: Mapping[str, Mapping[str, Any]],
        journals: Journals,
        killed_for_memory: Callable[[str], bool] | None = None,
    ) -> None:
        nodes.check(config)
        self._config, self._systems, self._journals = config, systems, journals
        self._killed_for_memory = killed_for_memory
        self._cluster = settings.of(config)
        self._clips = {bucket: Clips.of(clips) for bucket, clips in buckets.items()}
        self._all = Clips.of([clip for clips in buckets.values() for clip in clips]) if buckets else Clips.unknown(0)
        self._sizes = Sizes(config)
        self._beside = functools.cache(lambda system: beside(config, systems.get(system, {})))
        self._kind = functools.cache(functools.partial(nodes.kind_of, config))
        self._asked = functools.cache(self._asked_for)

    def of(self, rule: str) -> dict[str, Any]:
        """Resources of a rule's jobs: functions of wildcards, threads and attempt, and what is the same for all of them."""

        def asked(wildcards: Any, input: Any, threads: int, attempt: int) -> tuple[int, int]:
            rows = _rows(input) if rule in BY_ROWS else 0
            return self._asked(rule, tuple(wildcards.items()), rows, threads, attempt)

        return {
            "mem_mb": lambda wildcards, input, threads, attempt: asked(wildcards, input, threads, attempt)[0],
            "runtime": lambda wildcards, input, threads, attempt: asked(wildcards, input, threads, attempt)[1],
            "attempt": _attempt,
            GPUS_IN_USE: functools.partial(self._gpus, rule),
            **self._site(rule),
        }

    def _site(self, rule: str) -> dict[str, Any]:
        """What the site is asked for; without what no job of the rule asks for."""
        if rule not in (*BY_LANE, *BY_SYSTEM):
            told = self._cluster.nodes(self._kind(rule))
            found = {name: value for name, key in SITE.items() if (value := getattr(told, key)) is not None}
            return found | ({"cpus_per_task": GPU_CPUS} if self._kind(rule) == "gpu" else {})
        every = [self._cluster.nodes(kind) for kind in settings.KINDS]
        found = {
            name: functools.partial(self._site_of, rule, key)
            for name, key in SITE.items()
            if any(getattr(told, key) is not None for told in every)
        }
        return found | {"cpus_per_task": functools.partial(self._cpus, rule)}

    def _gpus(self, rule: str, wildcards: Any) -> int:
        named = dict(wildcards.items())
        if self._kind_of(rule, named) != "gpu":
            return 0
        return nodes.gpus_of(self._entry(named)) if rule in BY_SYSTEM else 1

    def _cpus(self, rule: str, wildcards: Any) -> int | None:
        return GPU_CPUS if self._kind_of(rule, dict(wildcards.items())) == "gpu" else None

    def _site_of(self, rule: str, key: str, wildcards: Any) -> str | None:
        named = dict(wildcards.items())
        told = getattr(self._cluster.nodes(self._kind_of(rule, named)), key)
        if key == "gres" and told is not None and rule in BY_SYSTEM:
            return settings.counted_gres(told, nodes.gpus_of(self._entry(named)))
        return told

    def _kind_of(self, rule: str, named: Mapping[str, str]) -> Kind:
        if rule in BY_SYSTEM:
            return nodes.of_system(self._entry(named))
        return self._kind(rule, named["lane"] if rule in BY_LANE else "")

    def _entry(self, named: Mapping[str, str]) -> Mapping[str, Any]:
        return self._systems[named["system"]] if "system" in named else {}

    def _asked_for(
        self,
        rule: str,
        wildcards: tuple[tuple[str, str], ...],
        rows: int,
        threads: int,
        attempt: int,  # noqa: ARG002 (each looks at the journal anew)
    ) -> tuple[int, int]:
        """Memory in MB and minutes."""
        named = dict(wildcards)
        shard = "/".join([rule, *named.values()])
        mark = self._journals.read(shard)
        by_rows = rule in BY_ROWS and named.get("drafted") != "proposed"
        clips = Clips.unknown(rows, rule) if by_rows else self._clips.get(named.get("bucket", ""), self._all)
        kind = self._kind_of(rule, named)
        work = Work(
            clips=clips,
            left=_left(clips.count, mark),
            threads=threads,
            lane=named.get("lane", ""),
            harness=self._entry(named).get("harness", ""),
            beside=self._beside(named["system"]) if rule in BY_SYSTEM else NOTHING,
            kind=kind,
            systems=len(self._systems),
        )
        cluster = self._cluster
        once_mb = self._sizes.memory_mb(rule, work) * cluster.memory_factor
        mark = self._with_its_ooms(shard, mark, once_mb)
        memory_mb = _doubled(once_mb, mark)
        minutes = (self._sizes.most_s(rule, work) * cluster.time_factor + max(cluster.stop_before_s, work.beside.longest_s)) / 60
        return (
            _at_most(cluster.largest_mb, memory_mb),
            _at_most(cluster.nodes(kind).longest_min, max(_up(minutes, STEP_MIN), LEAST_MIN)),
        )

    def _with_its_ooms(self, shard: str, mark: Mark | None, once_mb: float) -> Mark | None:
        """A mark that says of a job killed for memory that it was: once told, it stays told.

        Where it had all that the site allows, further attempts of this run would be killed too, and end at once.

        Args:
            once_mb: what the shard asks for before any kill.
        """
        if mark is None or mark.state != "running" or not mark.slurm_job or self._killed_for_memory is None:
            return mark
        if not self._killed_for_memory(mark.slurm_job):
            return mark
        most_mb = self._cluster.largest_mb
        had_all = most_mb is not None and _doubled(once_mb, mark) >= most_mb
        detail = f"out of memory with cluster.largest_mb ({most_mb} MB): raise it" if had_all else "killed: out of memory"
        told = replace(mark, state="failed", ended=mark.told, ooms=mark.ooms + 1, detail=detail, for_good=had_all)
        self._journals.write(shard, told)
        return told


def _attempt(wildcards: Any, attempt: int) -> int:  # noqa: ARG001 (Snakemake passes them first)
    return attempt


def _left(clips: int, mark: Mark | None) -> int:
    """Clips that a shard's next try has to work on. A finished shard that is planned again may have to make all of them anew."""
    if mark is None or mark.state == "finished":
        return clips
    return max(clips - mark.done, 1)


def _doubled(once_mb: float, mark: Mark | None) -> int:
    """Memory in MB after the kills of a mark."""
    return _up(once_mb * 2 ** (mark.ooms if mark else 0), STEP_MB)


def _rows(input: Sequence[str]) -> int:
    """Rows of a job's first input, a clip each, and of those that lie beside it; 0 as long as one is not there."""
    try:
        beside = [path for path in input if Path(path).parent == Path(input[0]).parent]
        return sum(Path(path).read_bytes().count(b"\n") for path in beside)
    except FileNotFoundError:
        return 0


def _up(value: float, step: int) -> int:
    return math.ceil(value / step) * step


def _at_most(limit: int | None, value: int) -> int:
    return value if limit is None else min(value, limit)
