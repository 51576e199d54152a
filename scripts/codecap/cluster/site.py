"""What a cluster has and allows this user: partitions, nodes, accounts, limits."""

from __future__ import annotations

import grp
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codecap.cluster import facts, slurm
from codecap.cluster.facts import NodeGroup

_GONE = ("down", "drained", "draining", "fail", "failing", "inval", "unknown", "future", "planned_down")
_UNLIMITED = ("UNLIMITED", "")


@dataclass(frozen=True)
class Gres:
    """Things of a node that are not processors or memory: "gpu:a100:4"."""

    name: str
    type: str | None
    count: int

    @classmethod
    def of(cls, text: str) -> tuple[Gres, ...]:
        """What sinfo says of a node.

        >>> Gres.of("gpu:a100:4(S:0-1),shard:8")
        (Gres(name='gpu', type='a100', count=4), Gres(name='shard', type=None, count=8))
        """
        found = []
        for part in re.sub(r"\([^)]*\)", "", text).split(","):
            name, *rest = part.split(":")
            count = int(rest.pop()) if rest and rest[-1].isdigit() else 1
            if name:
                found.append(cls(name, rest[0] if rest else None, count))
        return tuple(found)


@dataclass(frozen=True)
class Partition:
    """A partition, as far as a job's chance to run there goes. `longest_min` is None where there is no limit."""

    name: str
    is_default: bool
    up: bool
    longest_min: int | None
    most_mb_node: int | None
    most_mb_cpu: int | None
    accounts: frozenset[str] | None  # None: all
    denied_accounts: frozenset[str]
    groups: frozenset[str] | None
    qualities: frozenset[str] | None
    own_qos: str | None  # whose limits hold for all its jobs
    preempt_mode: str
    nodes: tuple[NodeGroup, ...]

    @property
    def usable(self) -> tuple[NodeGroup, ...]:
        """Nodes that take jobs now or after those that run."""
        return tuple(group for group in self.nodes if not group.state.lower().startswith(_GONE))

    @property
    def away(self) -> str | None:
        """Why it starts no jobs now, although it may later; None where it does."""
        if not self.up:
            return "is not up"
        return "has no node that takes jobs now" if self.nodes and not self.usable else None

    @property
    def largest_mb(self) -> int:
        """Memory of the largest node, or less where a job may not have all of it."""
        held = max((group.memory_mb for group in self.nodes), default=0)
        return min(held, self.most_mb_node) if self.most_mb_node else held

    @property
    def most_cpus(self) -> int:
        return max((group.cpus for group in self.nodes), default=0)

    @property
    def gres(self) -> tuple[Gres, ...]:
        return tuple(gres for group in self.nodes for gres in Gres.of(group.gres))

    @property
    def has_gpus(self) -> bool:
        return any(gres.name == "gpu" for gres in self.gres)

    @property
    def features(self) -> frozenset[str]:
        return frozenset(feature for group in self.nodes for feature in group.features)


@dataclass(frozen=True)
class Site:
    """A cluster as one user sees it.

    Attributes:
        version: of SLURM, "22.05.8".
        settings: `scontrol show config`.
        associations: accounts that the user may use, with limits; None where the cluster keeps no accounts.
        qualities: limits of each quality of service.
        groups: the user's groups.
    """

    partitions: Mapping[str, Partition]
    settings: Mapping[str, str]
    associations: Sequence[Mapping[str, str]] | None = None
    default_account: str | None = None
    qualities: Mapping[str, Mapping[str, str]] | None = None
    groups: Collection[str] = ()

    @property
    def version(self) -> str:
        return self.settings.get("SLURM_VERSION", "?")

    @property
    def accounts(self) -> list[str]:
        return sorted({row["Account"] for row in self.associations or () if row["Account"]})

    @property
    def default_partition(self) -> Partition | None:
        return next((partition for partition in self.partitions.values() if partition.is_default), None)

    def refusal(self, partition: Partition, account: str | None) -> str | None:
        """Why this user's jobs are not taken by a partition; None when they are."""
        if not partition.up:
            return "is not up"
        if partition.groups is not None and not partition.groups & set(self.groups):
            return f"is for the groups {', '.join(sorted(partition.groups))}"
        mine = {account} if account else set(self.accounts)
        if self.associations is not None and mine and partition.accounts is not None and not partition.accounts & mine:
            return f"is for the accounts {', '.join(sorted(partition.accounts))}"
        if mine and mine <= partition.denied_accounts:
            return f"is not for the account {', '.join(sorted(mine))}"
        return None

    def longest_min(self, partition: Partition, account: str | None, qos: str | None) -> int | None:
        """Most minutes that a job may ask for there; None where there is no limit."""
        limits = [partition.longest_min]
        for row in self.associations or ():
            if row["Account"] == (account or self.default_account) and row["Partition"] in ("", partition.name):
                limits.append(minutes(row["MaxWall"]))
                qos = qos or row["DefaultQOS"]
        limits += [minutes((self.qualities or {}).get(name or "", {}).get("MaxWall", "")) for name in (qos, partition.own_qos)]
        return min((limit for limit in limits if limit is not None), default=None)

    def most_jobs(self, account: str | None, qos: str | None) -> int | None:
        """Most jobs that the user may have in the queue at once; None where there is no limit."""
        rows = [row for row in self.associations or () if row["Account"] == (account or self.default_account)]
        limits = [row["MaxSubmitJobs"] for row in rows]
        names = [qos] if qos else [row["DefaultQOS"] for row in rows]
        limits += [(self.qualities or {}).get(name or "", {}).get("MaxSubmitJobsPerUser", "") for name in names]
        return min((int(limit) for limit in limits if limit.isdigit()), default=None)


def read() -> Site:
    """Ask this cluster.

    Raises:
        SlurmError: see `slurm.ask`; NoSlurm where there is none.
    """
    settings, nodes = facts.settings(), facts.node_groups()
    partitions = {
        name: partition(pairs, [group for group in nodes if group.partition == name]) for name, pairs in facts.partitions().items()
    }
    groups = {grp.getgrgid(number).gr_name for number in {os.getgid(), *os.getgroups()} if _has_name(number)}
    try:
        associations, default, qualities = facts.associations(), facts.default_account(), facts.qualities()
    except slurm.NoAccounting:
        return Site(partitions, settings, groups=groups)
    own = settings.get("ClusterName", "")
    associations = [row for row in associations if row["Cluster"].lower() == own.lower()]
    return Site(partitions, settings, associations, default, qualities, groups)


def _has_name(number: int) -> bool:
    try:
        return bool(grp.getgrgid(number))
    except KeyError:
        return False


def partition(pairs: Mapping[str, str], nodes: Sequence[NodeGroup]) -> Partition:
    """A partition of what scontrol says of it and sinfo of its nodes."""
    return Partition(
        name=pairs["PartitionName"],
        is_default=pairs.get("Default") == "YES",
        up=pairs.get("State") == "UP",
        longest_min=minutes(pairs.get("MaxTime", "")),
        most_mb_node=slurm.first_number(pairs, "MaxMemPerNode") or None,
        most_mb_cpu=slurm.first_number(pairs, "MaxMemPerCPU") or None,
        accounts=_names(pairs.get("AllowAccounts", "ALL")),
        denied_accounts=_names(pairs.get("DenyAccounts", "")) or frozenset(),
        groups=_names(pairs.get("AllowGroups", "ALL")),
        qualities=_names(pairs.get("AllowQos", "ALL")),
        own_qos=None if pairs.get("QoS", "N/A") == "N/A" else pairs["QoS"],
        preempt_mode=pairs.get("PreemptMode", "OFF"),
        nodes=tuple(nodes),
    )


def _names(text: str) -> frozenset[str] | None:
    return None if text in ("ALL", "(null)") else frozenset(name for name in text.split(",") if name)


def minutes(text: str) -> int | None:
    """A limit of SLURM's in whole minutes; None where there is none."""
    found = slurm.seconds(text)
    return None if found is None else found // 60
