"""One model at several levels of thinking effort: which systems are a series, and in which order (the paper's Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.compare.comparison import EffortLevel, EffortSeries

LEVELS = ("", "off", "none", "minimal", "low", "medium", "high", "xhigh", "max")  # of all providers; "" leaves it to the model


def series_of(models: Mapping[str, Mapping[str, Any]]) -> tuple[list[EffortSeries], list[str]]:
    """The series that the entries of `models` name by their key `series`, each from low effort to high.

    The level is the endpoint's `thinking`; numbers of tokens come after the words, by their size.

    Returns:
        The series, and what is odd about them, in words.
    """
    named: dict[str, list[EffortLevel]] = {}
    for system, entry in models.items():
        if entry.get("series") is not None:
            level = EffortLevel(level=level_of(entry), system=system)
            named.setdefault(str(entry["series"]), []).append(level)
    notes = []
    for name, levels in named.items():
        twice = sorted({held.level for held in levels if [other.level for other in levels].count(held.level) > 1})
        for level in twice:
            systems = ", ".join(held.system for held in levels if held.level == level)
            told = repr(level) if level else "no level at all"
            notes.append(f"Series {name} has more than one system of {told}: {systems}.")
    return [EffortSeries(name=name, levels=sorted(levels, key=_place)) for name, levels in named.items()], notes


def level_of(entry: Mapping[str, Any]) -> str:
    """
    >>> level_of({"endpoint": {"thinking": "xhigh"}}), level_of({"harness": "vtrace"})
    ('xhigh', '')
    """
    endpoint = entry.get("endpoint")
    told = endpoint.get("thinking") if isinstance(endpoint, Mapping) else None
    return "" if told is None else str(told)


def _place(level: EffortLevel) -> tuple[int, int, str]:
    if level.level in LEVELS:
        return LEVELS.index(level.level), 0, level.system
    if level.level.isdigit():
        return len(LEVELS) + 1, int(level.level), level.system
    return len(LEVELS), 0, level.system  # a word of one provider alone: in the order of the configuration
