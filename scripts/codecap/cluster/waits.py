"""Why jobs wait in SLURM's queue, and which of them wait until somebody does something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from codecap.cluster.slurm import Job

HOPELESS = (  # reasons for which SLURM starts no job before somebody changes something
    "AccountNotAllowed",
    "AssocMaxWallDurationPerJobLimit",
    "BadConstraints",
    "InvalidAccount",
    "InvalidQOS",
    "JobHeldAdmin",
    "JobHeldUser",
    "PartitionConfig",
    "PartitionDown",
    "PartitionInactive",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "QOSMaxMemoryPerJob",
    "QOSMaxWallDurationPerJobLimit",
    "QOSNotAllowed",
)
NODES_AWAY = ("ReqNodeNotAvail", "Nodes required for job are DOWN")  # drained by somebody, failed, or kept for a reservation


def reasons(jobs: Iterable[Job]) -> Counter[str]:
    """How many jobs wait for each reason; one that SLURM has not looked at yet has none.

    What follows a comma is left out: `ReqNodeNotAvail, UnavailableNodes:n[1-9]` counts as `ReqNodeNotAvail`.
    """
    told = (job.reason.partition(",")[0].replace("_", " ") for job in jobs if job.state == "PENDING")
    return Counter(reason for reason in told if reason not in ("", "None", "(null)"))


def worries(jobs: Iterable[Job]) -> dict[str, str]:
    """What to tell a person of jobs that do not start by themselves, by their reason."""
    return {reason: words for reason, count in reasons(jobs).items() if (words := _worry(reason, count))}


def _worry(reason: str, count: int) -> str:
    jobs = f"{count:,} job" if count == 1 else f"{count:,} jobs"
    if reason in HOPELESS:
        return f"{jobs} will not start as the settings are: {reason}; `codecap slurm check` says what fits"
    if reason in NODES_AWAY:
        wait = "waits" if count == 1 else "wait"
        return f"{jobs} {wait} for nodes that are down, drained or reserved ({reason}); `sinfo -R` says since when and why"
    return ""
