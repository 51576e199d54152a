"""Which columns the metrics give, and the wall between protocols: one metric, one protocol, one table."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from codecap import registry
from codecap.compare.comparison import Column, ComparisonError, Items
from codecap.records import Score
from codecap.score.engine.choice import OBJECTS_METRIC, module_of

# The paper's own metrics in the order of its Table 1 and Table 3. They and their stand-ins never share a table.
MAIN = ("visual_similarity", "object_iou", "retention")
RECONSTRUCTION = ("appearance", "mps", "mps_strict", "kss")
CHIEF = ("object_iou", "retention_overall")  # that the paper's Figures 4 and 5 show
PARTS = ("dynamic", "static", "overall")
MOST_COLUMNS = 9  # of a table that is read without scrolling

SUCCESS = Column(
    name="success_rate",
    metric="success_rate",
    label="Video production success rate",
    unit="%",
    lowest=0,
    highest=100,
    higher_is_better=True,
)


@dataclass(frozen=True)
class MetricInfo:
    """What a metric's module says of itself."""

    name: str
    label: str
    unit: str = ""
    lowest: float | None = None
    highest: float | None = None
    higher_is_better: bool | None = None
    items: Items = ""


def describe(metrics: Mapping[str, Mapping[str, Any]]) -> list[MetricInfo]:
    """Ask the plugins of the configured metrics what they are.

    An entry of another name than its module's (a second judge) says so in its label: "Retention (gemini)" of `retention_gemini`.

    Args:
        metrics: the config's entries, by name.

    Raises:
        registry.Unavailable: there is no such metric.
    """
    told = []
    for name, entry in metrics.items():
        plugin = module_of(name, entry)
        module = registry.load("score", plugin)
        label = module.LABEL if name == plugin else f"{module.LABEL} ({name.removeprefix(f'{plugin}_').replace('_', ' ')})"
        lowest, highest = (end if math.isfinite(end) else None for end in module.RANGE)
        needs = set(module.NEEDS)
        items: Items = "objects" if "tracks" in needs else "focal_points" if "focal_points" in needs else ""
        told.append(MetricInfo(name, label, module.UNIT, lowest, highest, module.HIGHER_IS_BETTER, items))
    return told


def columns_of(metrics: Sequence[MetricInfo], scores: Sequence[Score]) -> list[Column]:
    """The columns of all tables, those of the paper first.

    A metric per focal point has three: dynamic, static, overall. A second column of a metric (`mps_strict` of `mps`) is known
    by its metric's name at the start of its own.

    Raises:
        ComparisonError: a metric has rows of two protocols, or rows of a metric that the config does not name.
    """
    protocols = check_protocols(scores)
    measured = {score.metric for score in scores}
    infos = {info.name: info for info in metrics}
    for name in sorted(measured - set(infos)):
        infos[name] = _second_column(name, metrics)
    columns = []
    for info in infos.values():
        protocol, proxy = protocols.get(info.name, ("", False))
        for part in PARTS if info.items == "focal_points" else ("",):
            columns.append(
                Column(
                    name=f"{info.name}_{part}" if part else info.name,
                    metric=info.name,
                    part=part,
                    label=f"{info.label}, {part}" if part else info.label,
                    unit=info.unit,
                    lowest=info.lowest,
                    highest=info.highest,
                    higher_is_better=info.higher_is_better,
                    items=info.items,
                    table=_table_of(info.name),
                    proxy=proxy,
                    protocol=protocol,
                )
            )
    return sorted(columns, key=_place)


def check_protocols(scores: Iterable[Score]) -> dict[str, tuple[str, bool]]:
    """Protocol and proxy mark of each metric's numbers.

    Raises:
        ComparisonError: numbers of one metric were made in two ways.
    """
    seen: dict[str, dict[tuple[str, bool], list[Score]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        if score.status == "ok":
            seen[score.metric][score.protocol, score.proxy].append(score)
    for metric, ways in seen.items():
        if len(ways) > 1:
            told = "; ".join(
                f"{protocol!r}{' (stand-in)' if proxy else ''}: {len(rows)} rows of "
                f"{', '.join(sorted({row.system for row in rows}))}"
                for (protocol, proxy), rows in sorted(ways.items(), key=lambda way: way[0])
            )
            raise ComparisonError(
                f"metric {metric!r} has numbers of {len(ways)} protocols, which no table may mix: {told}. "
                f"{_one_protocol(metric)}. Or compare the systems in runs of their own"
            )
    return {metric: next(iter(ways)) for metric, ways in seen.items()}


def shown_tables(columns: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """As `table_sets`, for a page: a wide table leaves what is beside the paper to a table of its own ("main_beside")."""
    shown: list[tuple[str, list[Column]]] = []
    for name, held in table_sets(columns):
        paper = [column for column in held if column.table != "beside" or column.items]
        beside = [column for column in held if column not in paper]
        split = len(held) > MOST_COLUMNS and paper and beside
        shown += [(name, paper), (f"{name}_beside", beside)] if split else [(name, held)]
    return shown


def chief(columns: Iterable[Column]) -> list[Column]:
    """The two columns of the paper's figures where they are there, else the first two of its Table 1 that are."""
    main = [column for column in columns if column.table == "main" and column.higher_is_better]
    return [column for column in main if column.name in CHIEF] or main[:2]


def _one_protocol(metric: str) -> str:
    """How all numbers of a metric come to be made alike: which device `auto` has chosen is in no key of the store."""
    tracks = " and store.bulk/segment_objects" if metric == OBJECTS_METRIC else ""
    return (
        f"Name device and dtype of its backend in the config (metrics.{metric}) instead of auto, and run again: all systems are "
        f"scored anew. Or remove the folders store.durable/score/{metric}{tracks} and results/6_score, and run again: what lies in "
        "the store is not computed twice"
    )


def table_sets(columns: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """The columns as tables that may be shown: ("main", all), or two where stand-ins and exact numbers are there.

    The main table is that of the paper's Table 1. If all of these are stand-ins, it holds the stand-ins, and the rest is a second
    table ("exact"); else they leave it ("stand_ins"). Columns beside the paper (a size, a lag), and those without a number yet, are
    of neither kind and stay with the exact ones; a second judge is of either kind.
    """
    paper = [column for column in columns if (column.table != "beside" or column.items) and (column.protocol or column.proxy)]
    proxies = [column for column in columns if column.proxy]
    if not proxies or all(column.proxy for column in paper):
        return [("main", list(columns))]
    others = [column for column in columns if column not in proxies]
    fidelity = [column for column in paper if column.table == "main"]
    if fidelity and all(column.proxy for column in fidelity):
        return [("main", proxies), ("exact", others)]
    return [("main", others), ("stand_ins", proxies)]


def _second_column(name: str, metrics: Sequence[MetricInfo]) -> MetricInfo:
    parents = [info for info in metrics if name.startswith(f"{info.name}_")]
    if not parents:
        known = ", ".join(info.name for info in metrics) or "none"
        raise ComparisonError(f"there are scores of metric {name!r}, which the config does not name; it names: {known}")
    parent = max(parents, key=lambda info: len(info.name))
    label = f"{parent.label} {name[len(parent.name) + 1 :].replace('_', ' ')}"
    return MetricInfo(name, label, parent.unit, parent.lowest, parent.highest, parent.higher_is_better, parent.items)


def _table_of(metric: str) -> Literal["main", "reconstruction", "beside"]:
    return "main" if metric in MAIN else "reconstruction" if metric in RECONSTRUCTION else "beside"


def _place(column: Column) -> int:
    known = (*MAIN, *RECONSTRUCTION)
    return known.index(column.metric) if column.metric in known else len(known)
