"""How stable is a judge? What it gave the same points when it was asked several times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from codecap import stats
from codecap.compare.certainty import Stability
from codecap.records import Score


def stability_of(scores: Iterable[Score], systems: Sequence[str]) -> list[Stability]:
    """For each judge that was asked several times: all systems together, then each, in their order.

    Points without a number are left out: a judge that failed to answer once gave no set of answers.
    """
    held: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        if len(score.given) > 1 and score.value is not None:
            held[score.metric][score.system].append(score.given)
    found = []
    for metric in sorted(held):
        of_system = held[metric]
        every = [given for system in systems for given in of_system.get(system, [])]
        found.append(_stability(metric, None, every))
        found += [_stability(metric, system, of_system[system]) for system in systems if system in of_system]
    return found


def _stability(metric: str, system: str | None, given: list[list[float]]) -> Stability:
    told = stats.repeats(given)
    return Stability(
        metric=metric,
        system=system,
        points=told.targets,
        repeats=told.times,
        unanimous_percent=100 * told.unanimous,
        mean_spread=told.mean_spread,
        largest_spread=told.largest_spread,
        sd=told.sd,
        reliability=told.reliability,
    )
