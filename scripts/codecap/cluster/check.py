"""Which settings of the site fit this cluster: each one judged, with what would fit in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from codecap.cluster.settings import KINDS, Cluster, Kind
from codecap.cluster.site import Gres, Partition, Site

_FIRST_LOOK = "slurm-init-seconds-before-status-checks"
STOP_WITHIN_S = 20  # a job that is cancelled stops within this time


class Verdict(StrEnum):
    """What is said of one setting."""

    OK = "ok"
    WRONG = "does not fit"
    UNSET = "not set"  # and may stay so
    NOTE = "note"  # about the cluster; no setting of ours


@dataclass(frozen=True)
class Finding:
    """One setting.

    Attributes:
        setting: its key in section `cluster`, an option of the profile, or a setting of SLURM's.
        told: why, in words.
        fits: what would fit, where that can be decided.
        decided: whether `fits` is to be written into config/cluster.yaml.
    """

    setting: str
    value: Any
    verdict: Verdict
    told: str
    fits: Any = None
    decided: bool = False


@dataclass(frozen=True)
class Asked:
    """The largest jobs of a run on one kind of node: most memory, most minutes, most threads, each of some rule."""

    memory_mb: int
    minutes: int
    threads: int = 1
    rule: str = "the largest job"


def examine(site: Site, cluster: Cluster, asked: Mapping[Kind, Asked], profile: Mapping[str, Any]) -> list[Finding]:
    """All findings, those of the configuration first.

    Args:
        asked: what the configured run's largest jobs ask for on each kind of node that it needs, and no others.
        profile: options of the Snakemake profile.
    """
    chosen = {kind: _choice(site, cluster, kind, asked.get(kind)) for kind in KINDS}
    findings = [finding for kind in KINDS for finding in _partition(site, cluster, kind, asked.get(kind), chosen[kind])]
    taken = {kind: _taken(site, cluster, kind, chosen[kind]) for kind in KINDS}
    for prefix in ("", "gpu_"):
        findings += _account(site, cluster, prefix)
    for prefix, kind in (("", "cpu"), ("gpu_", "gpu")):
        findings += _qos(site, cluster, prefix, taken[kind])
        findings += _constraint(cluster, prefix, taken[kind])
    findings += _gres(cluster, taken["gpu"], "gpu" in asked)
    findings += [finding for kind in KINDS for finding in _minutes(site, cluster, kind, asked.get(kind), taken[kind])]
    findings += _memory(cluster, asked, taken)
    findings += _stop(cluster)
    return [*findings, *_profile(site, cluster, profile), *_cluster(site, taken, profile)]


def _key(kind: Kind, name: str) -> str:
    return name if kind == "cpu" else f"{kind}_{name}"


def _named(cluster: Cluster, kind: Kind) -> str | None:
    """The first of the partitions that jobs are sent to; SLURM takes the one that starts them first."""
    named = cluster.nodes(kind).partition
    return named.partition(",")[0] if named else None


def _taken(site: Site, cluster: Cluster, kind: Kind, best: Partition | None) -> Partition | None:
    """The partition that other settings are judged by: the named one, else the one that fits best, else one of the right kind."""
    named = site.partitions.get(_named(cluster, kind) or "")
    if kind == "gpu":
        alike = [partition for partition in (named, best, *site.partitions.values()) if partition and partition.has_gpus]
        return next(iter(alike), None)
    return named or best or site.default_partition


def _choice(site: Site, cluster: Cluster, kind: Kind, asked: Asked | None) -> Partition | None:
    """The partition that fits best, if one does: the default one where it fits, else the longest, else the largest."""
    account, qos = cluster.nodes(kind).account, cluster.nodes(kind).qos
    fitting = [
        partition
        for partition in site.partitions.values()
        if partition.usable and not _lacks(site, partition, account, kind, asked) and (kind == "gpu" or not partition.has_gpus)
    ]
    if not fitting and kind != "gpu":
        fitting = [item for item in site.partitions.values() if item.usable and not _lacks(site, item, account, kind, asked)]

    def worth(partition: Partition) -> tuple[bool, float, int]:
        limit = site.longest_min(partition, account, qos)
        return partition.is_default, float("inf") if limit is None else limit, sum(group.nodes for group in partition.usable)

    return max(fitting, key=worth, default=None)


def _lacks(site: Site, partition: Partition, account: str | None, kind: Kind, asked: Asked | None) -> str | None:
    """Why a partition cannot take jobs of a kind; None when it can."""
    if (refusal := site.refusal(partition, account)) is not None:
        return refusal
    if not partition.nodes:
        return "has no nodes"
    if kind == "gpu" and not partition.has_gpus:
        return "has no nodes with GPUs"
    if asked is not None and asked.memory_mb > partition.largest_mb:
        return f"has nodes of {partition.largest_mb} MB at most, and {asked.rule} asks for {asked.memory_mb} MB"
    if asked is not None and asked.threads > partition.most_cpus:
        return f"has nodes of {partition.most_cpus} CPUs at most, and {asked.rule} asks for {asked.threads}"
    return None


def _partition(site: Site, cluster: Cluster, kind: Kind, asked: Asked | None, best: Partition | None) -> Iterator[Finding]:
    key, fits = _key(kind, "partition"), best.name if best else None
    value = getattr(cluster, key)
    if value is None:
        if kind == "network":
            told = "the same as partition; whether its nodes reach a network, `codecap doctor --partition` says"
            yield Finding(key, None, Verdict.UNSET, told)
        elif kind == "gpu" and asked is None:
            yield Finding(key, None, Verdict.UNSET, "the configured run needs no GPU", fits)
        elif fits is None:
            yield Finding(key, None, Verdict.WRONG, f"no partition fits: {_why_none(site, cluster, kind, asked)}")
        else:
            usual = site.default_partition if kind == "cpu" else site.partitions.get(_named(cluster, "cpu") or "")
            used = usual is not None and _lacks(site, usual, cluster.nodes(kind).account, kind, asked) is None
            verdict = Verdict.UNSET if used else Verdict.WRONG
            yield Finding(key, None, verdict, "not set" if not used else f"jobs go to {usual.name}", fits, decided=True)
        return
    for name in value.split(","):
        partition = site.partitions.get(name)
        if partition is None:
            told = f"there is no partition {name}; there are {', '.join(site.partitions)}"
            yield Finding(key, value, Verdict.WRONG, told, fits, decided=fits is not None)
        elif lack := _lacks(site, partition, cluster.nodes(kind).account, kind, asked):
            yield Finding(key, value, Verdict.WRONG, f"{name} {lack}", fits, decided=fits is not None)
        else:
            yield Finding(key, value, Verdict.OK, _described(partition))


def _why_none(site: Site, cluster: Cluster, kind: Kind, asked: Asked | None) -> str:
    account = cluster.nodes(kind).account
    lacks = {name: _lacks(site, partition, account, kind, asked) for name, partition in site.partitions.items()}
    return "; ".join(f"{name} {lack or 'has no node that takes jobs'}" for name, lack in lacks.items()) or "there are none"


def _described(partition: Partition) -> str:
    nodes = sum(group.nodes for group in partition.usable)
    longest = "no limit of time" if partition.longest_min is None else f"at most {partition.longest_min} min"
    gpus = sorted({f"{gres.type or ''} GPU".strip() for gres in partition.gres if gres.name == "gpu"})
    held = f", {', '.join(gpus)}" if gpus else ""
    return f"{nodes} nodes, up to {partition.most_cpus} CPUs and {partition.largest_mb} MB{held}, {longest}"


def _account(site: Site, cluster: Cluster, prefix: str) -> Iterator[Finding]:
    key, value = f"{prefix}account", getattr(cluster, f"{prefix}account")
    if site.associations is None:
        if value is None:
            yield Finding(key, None, Verdict.OK, "this cluster keeps no accounts")
        else:
            told = "this cluster keeps no accounts, and Snakemake's executor refuses one that it cannot find"
            yield Finding(key, value, Verdict.WRONG, told, None, decided=True)
    elif value is not None and value.lower() not in {account.lower() for account in site.accounts}:
        told = f"you have no account {value}; you have {', '.join(site.accounts) or 'none'}"
        yield Finding(key, value, Verdict.WRONG, told, None if prefix else site.default_account, decided=True)
    elif value is not None:
        yield Finding(key, value, Verdict.OK, f"one of {', '.join(site.accounts)}" if len(site.accounts) > 1 else "your account")
    elif prefix:
        yield Finding(key, None, Verdict.UNSET, "the same as account")
    else:
        told = (
            "Snakemake's executor guesses one, at times wrongly"
            if site.accounts
            else "you have no account; ask whoever runs the cluster"
        )
        verdict = Verdict.UNSET if site.default_account else Verdict.WRONG
        yield Finding(key, None, verdict, told, site.default_account, decided=site.default_account is not None)


def _qos(site: Site, cluster: Cluster, prefix: str, partition: Partition | None) -> Iterator[Finding]:
    key, value = f"{prefix}qos", getattr(cluster, f"{prefix}qos")
    allowed = {name for row in site.associations or () for name in row["QOS"].split(",") if name}
    if value is None:
        yield Finding(key, None, Verdict.UNSET, "the same as qos" if prefix else "the default one")
    elif site.associations is None:
        yield Finding(
            key, value, Verdict.WRONG, "this cluster keeps no accounts, and so has no qualities of service", None, decided=True
        )
    elif value not in allowed:
        told = f"not yours; you have {', '.join(sorted(allowed)) or 'none'}"
        yield Finding(key, value, Verdict.WRONG, told, None, decided=True)
    elif partition is not None and partition.qualities is not None and value not in partition.qualities:
        told = f"partition {partition.name} takes {', '.join(sorted(partition.qualities))}"
        yield Finding(key, value, Verdict.WRONG, told, next(iter(sorted(partition.qualities & allowed)), None))
    else:
        yield Finding(key, value, Verdict.OK, "yours")


def _constraint(cluster: Cluster, prefix: str, partition: Partition | None) -> Iterator[Finding]:
    key, value = f"{prefix}constraint", getattr(cluster, f"{prefix}constraint")
    if value is None:
        yield Finding(key, None, Verdict.UNSET, "any node of the partition")
        return
    known = partition.features if partition else frozenset()
    missing = [name for name in re.findall(r"[A-Za-z_][\w.:+-]*", value) if name not in known]
    if missing:
        told = f"no node there has {', '.join(missing)}; there are {', '.join(sorted(known)) or 'no features'}"
        yield Finding(key, value, Verdict.WRONG, told, None, decided=True)
    else:
        yield Finding(key, value, Verdict.OK, "nodes there have it")


def _gres(cluster: Cluster, partition: Partition | None, needed: bool) -> Iterator[Finding]:
    if partition is None or not partition.has_gpus:
        told = "no partition with GPUs" + ("" if needed else "; the configured run needs none")
        yield Finding("gres", cluster.gres, Verdict.WRONG if needed else Verdict.OK, told)
        return
    (wanted,) = Gres.of(cluster.gres)
    alike = [gres for gres in partition.gres if gres.name == wanted.name and wanted.type in (None, gres.type)]
    if any(gres.count >= wanted.count for gres in alike):
        yield Finding("gres", cluster.gres, Verdict.OK, f"nodes of {partition.name} have it")
        return
    held = sorted({":".join(filter(None, (gres.name, gres.type, str(gres.count)))) for gres in partition.gres})
    yield Finding("gres", cluster.gres, Verdict.WRONG, f"nodes of {partition.name} have {', '.join(held)}", "gpu:1", decided=True)


def _minutes(site: Site, cluster: Cluster, kind: Kind, asked: Asked | None, partition: Partition | None) -> Iterator[Finding]:
    key = _key(kind, "longest_min")
    value, nodes = getattr(cluster, key), cluster.nodes(kind)
    limit = None if partition is None else site.longest_min(partition, nodes.account, nodes.qos)
    if value is not None and limit is not None and value > limit:
        yield Finding(key, value, Verdict.WRONG, f"at most {limit} minutes on partition {partition.name}", limit, decided=True)
    elif value is not None:
        yield Finding(key, value, Verdict.OK, "no limit on this cluster" if limit is None else f"at most {limit} minutes there")
    elif limit is None:
        yield Finding(key, None, Verdict.UNSET, "no limit on this cluster" if partition else "no partition of this kind")
    elif asked is not None and asked.minutes > limit:
        told = f"{asked.rule} asks for {asked.minutes} minutes, and {limit} are the most on partition {partition.name}"
        yield Finding(key, None, Verdict.WRONG, told, limit, decided=True)
    else:
        yield Finding(key, None, Verdict.UNSET, f"at most {limit} minutes on partition {partition.name}", limit, decided=True)


def _memory(cluster: Cluster, asked: Mapping[Kind, Asked], taken: Mapping[Kind, Partition | None]) -> Iterator[Finding]:
    held = {
        partition.name: partition.largest_mb for kind, partition in taken.items() if partition and (kind in asked or kind == "cpu")
    }
    if not held:
        return
    name = min(held, key=held.__getitem__)
    most, value = held[name], cluster.largest_mb
    if value is None:
        yield Finding("largest_mb", None, Verdict.UNSET, f"nodes of {name} have {most} MB at most", most, decided=True)
    elif value > most:
        yield Finding("largest_mb", value, Verdict.WRONG, f"nodes of {name} have {most} MB at most", most, decided=True)
    elif short := [wants for wants in asked.values() if wants.memory_mb > value]:
        told = f"{short[0].rule} asks for {short[0].memory_mb} MB; nodes of {name} have {most}"
        yield Finding("largest_mb", value, Verdict.WRONG, told, most, decided=True)
    else:
        yield Finding("largest_mb", value, Verdict.OK, f"nodes of {name} have {most} MB at most")


def _stop(cluster: Cluster) -> Iterator[Finding]:
    longest = [getattr(cluster, _key(kind, "longest_min")) for kind in KINDS]
    shortest_s = min((60 * limit for limit in longest if limit), default=None)
    if shortest_s is not None and cluster.stop_before_s > shortest_s / 3:
        told = f"jobs of at most {shortest_s // 60} minutes would spend their time on stopping"
        yield Finding("stop_before_s", cluster.stop_before_s, Verdict.WRONG, told, max(int(shortest_s / 10), 10))
    else:
        yield Finding("stop_before_s", cluster.stop_before_s, Verdict.OK, "longer than one item takes, as a rule")


def _profile(site: Site, cluster: Cluster, profile: Mapping[str, Any]) -> Iterator[Finding]:
    jobs, most = profile.get("jobs"), site.most_jobs(cluster.account, cluster.qos)
    if isinstance(jobs, int):
        told = "no limit of jobs in the queue" if most is None else f"you may have {most} jobs in the queue"
        verdict = Verdict.OK if most is None or jobs <= most else Verdict.WRONG
        yield Finding("profile: jobs", jobs, verdict, told, None if verdict is Verdict.OK else max(most or 1, 1))
    age_s = _seconds(site, "MinJobAge")
    first_s = profile.get(_FIRST_LOOK, 40)
    if age_s is not None and age_s < 3 * first_s and site.associations is None:
        told = f"the controller forgets jobs after {age_s} s, and there is no accounting to ask instead"
        yield Finding(f"profile: {_FIRST_LOOK}", first_s, Verdict.WRONG, told, max(age_s // 3, 1))
    else:
        yield Finding(
            f"profile: {_FIRST_LOOK}", first_s, Verdict.OK, f"the controller forgets ended jobs after {age_s} s (MinJobAge)"
        )


def _cluster(site: Site, taken: Mapping[Kind, Partition | None], profile: Mapping[str, Any]) -> Iterator[Finding]:
    wait_s = _seconds(site, "KillWait")
    if wait_s is not None and wait_s < STOP_WITHIN_S:
        told = f"a cancelled job has {wait_s} s to stop, which takes up to {STOP_WITHIN_S} s: what it works on then is done again"
        yield Finding("KillWait", wait_s, Verdict.NOTE, told)
    age_s = _seconds(site, "MinJobAge")
    if age_s is not None and age_s < 3 * profile.get(_FIRST_LOOK, 40):
        told = "ended jobs are forgotten before the executor looks; accounting is asked instead, or the job is done again"
        yield Finding("MinJobAge", age_s, Verdict.NOTE, told)
    if site.associations is None:
        told = "none: why a job died is told from the controller and from its log alone"
        yield Finding("AccountingStorageType", site.settings.get("AccountingStorageType"), Verdict.NOTE, told)
    for partition in {item.name: item for item in taken.values() if item}.values():
        if partition.preempt_mode not in ("OFF", ""):
            told = "jobs may be preempted: they stop, and are tried again by Snakemake (slurm-no-requeue stays)"
            yield Finding(f"PreemptMode of {partition.name}", partition.preempt_mode, Verdict.NOTE, told)
        if partition.most_mb_cpu:
            told = "more memory than this for each CPU makes SLURM give, and charge, more CPUs"
            yield Finding(f"MaxMemPerCPU of {partition.name}", partition.most_mb_cpu, Verdict.NOTE, told)


def _seconds(site: Site, key: str) -> int | None:
    found = re.match(r"\d+", site.settings.get(key, ""))
    return int(found.group()) if found else None


def to_write(findings: list[Finding]) -> dict[str, Any]:
    """What of the findings is to be put into config/cluster.yaml."""
    return {finding.setting: finding.fits for finding in findings if finding.decided}
