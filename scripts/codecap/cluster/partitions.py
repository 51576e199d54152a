"""Which partition jobs of one kind go to, whether it takes them, and which one would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codecap.cluster.findings import Asked, Finding, Verdict
from codecap.cluster.settings import Cluster, Kind, key_of
from codecap.cluster.site import Partition, Site


class Judged:
    """The partition of one kind of node.

    Attributes:
        asked: what partitions are judged by: the largest jobs, and where only `memory_factor` makes them too large for every
            partition, those without it.
        best: the partition that fits best, if one does.
    """

    def __init__(self, site: Site, cluster: Cluster, kind: Kind, asked: Asked | None) -> None:
        self._site, self._cluster, self._kind = site, cluster, kind
        self.asked = asked
        self.best = self._choice()
        if asked is not None and cluster.memory_factor > 1 and self.best is None:
            self.asked = replace(asked, memory_mb=int(asked.memory_mb / cluster.memory_factor))
            self.best = self._choice()
            if self.best is None:
                self.asked = asked

    @property
    def taken(self) -> Partition | None:
        """The partition that other settings are judged by: the one that jobs will go to, as far as that is known."""
        named = self._site.partitions.get(self._named(self._kind) or "")
        if self._kind == "gpu":
            alike = [partition for partition in (named, self.best, *self._site.partitions.values()) if partition]
            return next((partition for partition in alike if partition.has_gpus), None)
        usual = self._site.default_partition
        return named or (usual if usual is not None and self._is_away(usual) else None) or self.best or usual

    def findings(self) -> Iterator[Finding]:
        """What is said of the setting, one finding for each partition that it names."""
        key, fits = key_of(self._kind, "partition"), self.best.name if self.best else None
        value = getattr(self._cluster, key)
        if value is None:
            yield self._unset(key, fits)
            return
        several = "," in value
        for name in value.split(","):
            of = f"{name}: " if several else ""
            partition = self._site.partitions.get(name)
            if partition is None:
                told = f"there is no partition {name}; there are {', '.join(self._site.partitions)}"
                yield self._wrong(key, value, told, decided=True)
            elif lack := self._lacks(partition):
                yield self._wrong(key, value, f"{name} {lack}", decided=not self._is_away(partition))
            elif partition.away:
                told = f"{of}none of its nodes takes jobs now" + ("" if several else "; jobs wait until one does")
                yield Finding(key, value, Verdict.NOTE, told, fits)
            elif partition.has_gpus and self._kind != "gpu":
                told = f"{of}its nodes have GPUs, which these jobs do not use: {_described(partition)}"
                yield Finding(key, value, Verdict.NOTE, told, None if self._is_for_gpus(self.best) else fits)
            else:
                yield Finding(key, value, Verdict.OK, f"{of}{_described(partition)}")

    def _unset(self, key: str, fits: str | None) -> Finding:
        if self._kind == "network":
            told = "the same as partition; whether its nodes reach a network, `codecap doctor --partition` says"
            return Finding(key, None, Verdict.UNSET, told)
        if self._kind == "gpu" and self.asked is None:
            return Finding(key, None, Verdict.UNSET, "the configured run needs no GPU", fits)
        if fits is None:
            return Finding(key, None, Verdict.WRONG, f"no partition fits: {self._why_none()}")
        default = self._site.default_partition
        usual = default if self._kind == "cpu" else self._site.partitions.get(self._named("cpu") or "")
        if usual is None:
            return self._wrong(key, None, "not set", decided=True)
        if usual.away and self._is_away(usual):
            verdict = Verdict.NOTE if usual.up else Verdict.WRONG
            return Finding(key, None, verdict, f"jobs go to {usual.name}, which {usual.away}", fits)
        if self._lacks(usual) is None:
            return Finding(key, None, Verdict.UNSET, f"jobs go to {usual.name}", fits, decided=not self._is_for_gpus(self.best))
        return self._wrong(key, None, "not set", decided=True)

    def _wrong(self, key: str, value: str | None, told: str, decided: bool) -> Finding:
        """CPU jobs are not sent to GPU nodes without being asked for."""
        if self._is_for_gpus(self.best):
            return Finding(key, value, Verdict.WRONG, f"{told}; what is left has GPUs", self.best.name)
        return Finding(key, value, Verdict.WRONG, told, self.best and self.best.name, decided=decided and self.best is not None)

    def _named(self, kind: Kind) -> str | None:
        """The first of the partitions that jobs are sent to; SLURM takes the one that starts them first."""
        named = self._cluster.nodes(kind).partition
        return named.partition(",")[0] if named else None

    def _is_for_gpus(self, partition: Partition | None) -> bool:
        """Whether it has GPUs, and jobs of this kind use none."""
        return partition is not None and partition.has_gpus and self._kind != "gpu"

    def _is_away(self, partition: Partition) -> bool:
        """Whether it takes jobs of this kind, only not now."""
        return partition.away is not None and self._lacks(replace(partition, up=True)) is None

    def _choice(self) -> Partition | None:
        """The partition that fits best: the default one where it fits, else the longest, else the largest.

        One with GPUs for jobs that use none only where no other fits.
        """
        nodes = self._cluster.nodes(self._kind)
        usable = [partition for partition in self._site.partitions.values() if partition.usable]
        fitting = [partition for partition in usable if self._lacks(partition) is None]
        fitting = [partition for partition in fitting if not self._is_for_gpus(partition)] or fitting

        def worth(partition: Partition) -> tuple[bool, float, int]:
            limit = self._site.longest_min(partition, nodes.account, nodes.qos)
            count = sum(group.nodes for group in partition.usable)
            return partition.is_default, float("inf") if limit is None else limit, count

        return max(fitting, key=worth, default=None)

    def _lacks(self, partition: Partition) -> str | None:
        """Why a partition cannot take jobs of this kind; None when it can."""
        asked = self.asked
        if (refusal := self._site.refusal(partition, self._cluster.nodes(self._kind).account)) is not None:
            return refusal
        if not partition.nodes:
            return "has no nodes"
        if self._kind == "gpu" and not partition.has_gpus:
            return "has no nodes with GPUs"
        if asked is not None and asked.memory_mb > partition.largest_mb:
            return f"has nodes of {partition.largest_mb} MB at most, and {asked.rule} asks for {asked.memory_mb} MB"
        if asked is not None and asked.threads > partition.most_cpus:
            return f"has nodes of {partition.most_cpus} CPUs at most, and {asked.rule} asks for {asked.threads}"
        return None

    def _why_none(self) -> str:
        lacks = {name: self._lacks(partition) or partition.away for name, partition in self._site.partitions.items()}
        return "; ".join(f"{name} {lack}" for name, lack in lacks.items()) or "there are none"


def _described(partition: Partition) -> str:
    nodes = sum(group.nodes for group in partition.usable)
    longest = "no limit of time" if partition.longest_min is None else f"at most {partition.longest_min} min"
    gpus = sorted({f"{gres.type or ''} GPU".strip() for gres in partition.gres if gres.name == "gpu"})
    held = f", {', '.join(gpus)}" if gpus else ""
    return f"{nodes} nodes, up to {partition.most_cpus} CPUs and {partition.largest_mb} MB{held}, {longest}"
