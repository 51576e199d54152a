"""What is said of a setting of the site, and what the settings are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What is said of one setting."""

    OK = "ok"
    WRONG = "does not fit"
    UNSET = "not set"  # and may stay so
    NOTE = "note"  # to be known; nothing has to be changed


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
