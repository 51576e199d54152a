"""The settings of the site: section `cluster` of the configuration (config/cluster.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Kind = Literal["cpu", "gpu", "network"]
KINDS: tuple[Kind, ...] = ("cpu", "gpu", "network")


@dataclass(frozen=True)
class Nodes:
    """What to ask for one kind of node. None leaves it to the cluster."""

    partition: str | None
    account: str | None
    qos: str | None
    gres: str | None
    constraint: str | None
    longest_min: int | None


@dataclass(frozen=True)
class Cluster:
    """Every key of the section, as config/cluster.yaml explains it."""

    partition: str | None = None
    gpu_partition: str | None = None
    network_partition: str | None = None
    account: str | None = None
    gpu_account: str | None = None
    qos: str | None = None
    gpu_qos: str | None = None
    gres: str = "gpu:1"
    constraint: str | None = None
    gpu_constraint: str | None = None
    longest_min: int | None = None
    gpu_longest_min: int | None = None
    network_longest_min: int | None = None
    largest_mb: int | None = None
    memory_factor: float = 1.0
    time_factor: float = 1.0
    stop_before_s: int = 120

    def nodes(self, kind: Kind) -> Nodes:
        """The settings for one kind of node; what is not set for GPU or network nodes is that of CPU nodes.

        >>> Cluster(partition="batch", gpu_partition="a100").nodes("gpu").partition
        'a100'
        """
        if kind == "gpu":
            return Nodes(
                partition=self.gpu_partition or self.partition,
                account=self.gpu_account or self.account,
                qos=self.gpu_qos or self.qos,
                gres=self.gres,
                constraint=self.gpu_constraint,
                longest_min=self.gpu_longest_min,
            )
        network = kind == "network"
        return Nodes(
            partition=(self.network_partition if network else None) or self.partition,
            account=self.account,
            qos=self.qos,
            gres=None,
            constraint=self.constraint,
            longest_min=self.network_longest_min if network else self.longest_min,
        )


def key_of(kind: Kind, name: str) -> str:
    """The key of a setting that each kind of node has.

    >>> key_of("cpu", "partition"), key_of("gpu", "partition")
    ('partition', 'gpu_partition')
    """
    return name if kind == "cpu" else f"{kind}_{name}"


def counted_gres(gres: str, count: int) -> str:
    """What a job asks for that needs another number of GPUs than `gres` says.

    >>> counted_gres("gpu:a100:1", 4), counted_gres("gpu", 2), counted_gres("gpu:1", 1)
    ('gpu:a100:4', 'gpu:2', 'gpu:1')
    """
    name, _, last = gres.rpartition(":")
    return f"{name if last.isdigit() else gres}:{count}"


def of(config: Mapping[str, Any]) -> Cluster:
    """The section of a checked configuration; what is not named keeps its default."""
    section = config.get("cluster") or {}
    return Cluster(**{field.name: section[field.name] for field in fields(Cluster) if field.name in section})
