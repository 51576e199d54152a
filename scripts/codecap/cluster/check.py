"""Which settings of the site fit this cluster: each one judged, with what would fit in its place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from codecap.cluster import partitions
from codecap.cluster.findings import Asked, Finding, Verdict
from codecap.cluster.requests import STEP_MB
from codecap.cluster.settings import KINDS, Cluster, Kind, key_of
from codecap.cluster.site import Gres, Partition, Site

_FIRST_LOOK = "slurm-init-seconds-before-status-checks"
STOP_WITHIN_S = 20  # a job that is cancelled stops within this time


def examine(site: Site, cluster: Cluster, asked: Mapping[Kind, Asked], profile: Mapping[str, Any]) -> list[Finding]:
    """All findings, those of the configuration first.

    Args:
        asked: what the configured run's largest jobs ask for on each kind of node that it needs, and no others.
        profile: options of the Snakemake profile.
    """
    judged = {kind: partitions.Judged(site, cluster, kind, asked.get(kind)) for kind in KINDS}
    findings = [finding for kind in KINDS for finding in judged[kind].findings()]
    taken = {kind: judged[kind].taken for kind in KINDS}
    for prefix in ("", "gpu_"):
        findings += _account(site, cluster, prefix)
    for prefix, kind in (("", "cpu"), ("gpu_", "gpu")):
        findings += _qos(site, cluster, prefix, taken[kind])
        findings += _constraint(cluster, prefix, taken[kind])
    findings += _gres(cluster, taken["gpu"], "gpu" in asked)
    findings += [finding for kind in KINDS for finding in _minutes(site, cluster, kind, asked.get(kind), taken[kind])]
    findings += _memory_factor(cluster, asked, judged)
    plainly = {kind: judged[kind].asked for kind in asked}
    findings += _memory(cluster, plainly, taken)
    findings += _stop(cluster)
    return [*findings, *_profile(site, cluster, profile), *_cluster(site, taken, profile)]


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
    key = key_of(kind, "longest_min")
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


def _memory_factor(cluster: Cluster, asked: Mapping[Kind, Asked], judged: Mapping[Kind, partitions.Judged]) -> Iterator[Finding]:
    """Only where no partition is large enough with it, and one is without."""
    for kind, job in asked.items():
        plain, partition = judged[kind].asked, judged[kind].taken
        if plain == job or partition is None:
            continue
        if partition.largest_mb < plain.memory_mb:
            partition = judged[kind].best or partition
        most, value = partition.largest_mb, cluster.memory_factor
        told = f"{job.rule} asks for {job.memory_mb} MB with it; nodes of {partition.name} have {most} MB at most"
        if cluster.largest_mb is not None and cluster.largest_mb <= most:
            yield Finding("memory_factor", value, Verdict.NOTE, f"{told}, and it gets the {cluster.largest_mb} of largest_mb")
        else:
            fits = math.floor(100 * value * (most // STEP_MB * STEP_MB) / job.memory_mb) / 100
            yield Finding("memory_factor", value, Verdict.WRONG, f"{told}; largest_mb bounds it too", fits)


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
    longest = [getattr(cluster, key_of(kind, "longest_min")) for kind in KINDS]
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
