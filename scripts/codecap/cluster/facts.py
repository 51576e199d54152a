"""What SLURM says of a cluster: its settings, partitions, nodes, and the accounts of this user.

Each question is asked once: somebody waits for the answer, and can ask again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codecap.cluster import slurm


@dataclass(frozen=True)
class NodeGroup:
    """Nodes of one partition that are alike."""

    partition: str
    nodes: int
    cpus: int
    memory_mb: int
    gres: str
    features: frozenset[str]
    state: str


def settings() -> dict[str, str]:
    """The cluster's configuration (`scontrol show config`).

    Raises:
        SlurmError: see `ask`.
    """
    return read_settings(slurm.ask("scontrol", "show", "config", tries=1))


def read_settings(text: str) -> dict[str, str]:
    """`Key   = value` lines; headings and the state of the controllers have none."""
    pairs = (line.partition(" = ") for line in text.splitlines())
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def partitions() -> dict[str, dict[str, str]]:
    """Every partition that the user may see, with its settings.

    Raises:
        SlurmError: see `ask`.
    """
    return read_partitions(slurm.ask("scontrol", "--oneliner", "show", "partition", tries=1))


def read_partitions(text: str) -> dict[str, dict[str, str]]:
    """Partitions of scontrol's lines, by name."""
    lines = (slurm.read_pairs(line) for line in text.splitlines())
    return {pairs["PartitionName"]: pairs for pairs in lines if "PartitionName" in pairs}


def node_groups() -> list[NodeGroup]:
    """The nodes of every partition.

    Raises:
        SlurmError: see `ask`.
    """
    form = slurm.PART.join(("%R", "%D", "%c", "%m", "%G", "%f", "%T"))
    return list(read_node_groups(slurm.ask("sinfo", "--noheader", "--exact", "--all", f"--format={form}", tries=1)))


def read_node_groups(text: str) -> Iterator[NodeGroup]:
    """Groups of alike nodes of sinfo's lines, in the format of `node_groups`."""
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(slurm.PART)]
        if len(fields) == 7:
            name, nodes, cpus, memory_mb, gres, features, state = fields
            gres, features = ("" if text == "(null)" else text for text in (gres, features))
            held = frozenset(feature for feature in features.split(",") if feature)
            yield NodeGroup(name, int(nodes), _whole(cpus), _whole(memory_mb), gres, held, state.rstrip("*~#!%$@^-"))


def associations() -> list[dict[str, str]]:
    """Accounts that this user may use, with their limits, of this cluster; none where there is no accounting.

    Raises:
        SlurmError: see `ask`.
    """
    keys = ("Cluster", "Account", "Partition", "QOS", "DefaultQOS", "MaxJobs", "MaxSubmitJobs", "MaxWall")
    return _managed(keys, "assoc", "where", f"user={slurm.user()}")


def default_account() -> str | None:
    """The account of jobs that name none.

    Raises:
        SlurmError: see `ask`.
    """
    rows = _managed(("User", "DefaultAccount"), "user", "where", f"name={slurm.user()}")
    return next((row["DefaultAccount"] for row in rows if row["DefaultAccount"]), None)


def qualities() -> dict[str, dict[str, str]]:
    """Every quality of service, by name, with its limits.

    Raises:
        SlurmError: see `ask`.
    """
    rows = _managed(("Name", "MaxWall", "MaxSubmitJobsPerUser", "MaxJobsPerUser", "PreemptMode"), "qos")
    return {row["Name"]: row for row in rows}


def _managed(keys: Sequence[str], *what: str) -> list[dict[str, str]]:
    told = slurm.ask("sacctmgr", "--noheader", "--parsable2", "show", *what, f"format={','.join(keys)}", tries=1)
    return read_managed(told, keys)


def read_managed(text: str, keys: Sequence[str]) -> list[dict[str, str]]:
    """Rows of sacctmgr's lines, parted by `|`."""
    rows = (line.split("|") for line in text.splitlines())
    return [dict(zip(keys, row, strict=True)) for row in rows if len(row) == len(keys)]


def _whole(text: str) -> int:
    """The least of a group's values: sinfo writes `4000+` where they differ."""
    return int(re.sub(r"\D.*", "", text) or 0)
