"""Do judges and people agree? Two sets of retention scores on the same focal points, as the paper's Figure 8.

A set is a judge (an entry of the configured metrics), a person, or all persons together: the mean over those who scored a point.
Compared are judge and judge, judge and people, person and person, on the points that both scored: at the level of points and at the
level of videos (the mean over a video's points), static and dynamic apart. Tasks that failed are in no set: nobody looked at them.
Resampled are clips, each with the renders of all systems, since what several systems made of one clip is not independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from codecap import stats
from codecap.compare.columns import PARTS, MetricInfo
from codecap.compare.comparison import Agreement, AgreementRow, ComparisonError, Interval, ScoreSet, System, VideoPair
from codecap.compare.tasks import TaskRows
from codecap.humans.shown import shown_digest
from codecap.records import Annotation, Clip, FocalPoint, HumanScore, Outcome

WORTH = 20  # of each of a person's points, as of a judge's
PEOPLE = "people"
SAME_DIGITS = 9  # values that differ later differ by the order of a sum

Place = tuple[str, str, str]  # system, clip, focal point
Values = dict[Place, float]


@dataclass(frozen=True)
class Subject:
    """What was scored: focal points, and the outcome of each task.

    Attributes:
        tasks: by system and clip.
        points: of each clip, by focal id.
        compared: systems that are neither floor nor ceiling: those alone are taken together, since what is certain to be good
            or bad correlates by itself.
    """

    clips: Mapping[str, Clip]
    points: Mapping[str, Mapping[str, FocalPoint]]
    tasks: Mapping[tuple[str, str], TaskRows]
    compared: frozenset[str]

    @classmethod
    def of(
        cls,
        clips: Iterable[Clip],
        annotations: Iterable[Annotation],
        tasks: Mapping[tuple[str, str], TaskRows],
        systems: Iterable[System],
    ) -> Subject:
        points = {row.clip_id: {point.focal_id: point for point in row.focal_points} for row in annotations}
        compared = frozenset(system.name for system in systems if system.group not in ("floor", "ceiling"))
        return cls({clip.clip_id: clip for clip in clips}, points, tasks, compared)

    def point(self, place: Place) -> FocalPoint | None:
        """The focal point, when there is a video that shows how it was kept."""
        system, clip_id, focal_id = place
        task = self.tasks.get((system, clip_id))
        return self.points.get(clip_id, {}).get(focal_id) if task is not None and task.outcome is Outcome.OK else None


def agree(
    subject: Subject, metrics: Sequence[MetricInfo], humans: Iterable[HumanScore], resamples: int, seed: int
) -> tuple[Agreement | None, list[str]]:
    """All pairs of sets that have points in common.

    Returns:
        None where there are fewer than two sets; and what a reader must know of scores that were left out.

    Raises:
        ComparisonError: a person scored a point twice.
    """
    judges = _of_judges(subject, metrics)
    raters, notes = _of_raters(subject, humans)
    notes += _same_judges([told for told, _ in judges])
    people = _together(raters.values())
    held: dict[str, tuple[ScoreSet, Values]] = {told.name: (told, values) for told, values in judges}
    if people:
        label = f"People (mean of {len(raters)})" if len(raters) > 1 else "People (one rater)"
        held[PEOPLE] = ScoreSet(name=PEOPLE, label=label, points=len(people)), people
    several = raters if len(raters) > 1 else {}  # one alone is all the people
    held |= {name: (ScoreSet(name=name, label=name.capitalize(), points=len(of)), of) for name, of in several.items()}
    if len(held) < 2:
        return None, notes
    rows: list[AgreementRow] = []
    videos: list[VideoPair] = []
    for first, second in _pairs([told.name for told, _ in judges], list(several), bool(people)):
        pair = _Pair(first, second, subject, held[first][1], held[second][1])
        rows += pair.rows(resamples, seed)
        videos += pair.videos()
    return Agreement(sets=[told for told, _ in held.values()], rows=rows, videos=videos), notes


def _pairs(judges: Sequence[str], raters: Sequence[str], people: bool) -> Iterator[tuple[str, str]]:
    if people:
        yield from ((judge, PEOPLE) for judge in judges)
    yield from combinations(judges, 2)
    yield from combinations(raters, 2)


def _same_judges(judges: Sequence[ScoreSet]) -> list[str]:
    """A note on judges of one protocol: the same questions to the same model have the same recorded answers."""
    return [
        f"{first.label} and {second.label} have one protocol, so they share their answers: their agreement says nothing."
        for first, second in combinations(judges, 2)
        if first.protocol and first.protocol == second.protocol
    ]


def _of_judges(subject: Subject, metrics: Sequence[MetricInfo]) -> list[tuple[ScoreSet, Values]]:
    found = []
    for info in metrics:
        if info.items != "focal_points":
            continue
        rows = [
            row
            for task in subject.tasks.values()
            if task.outcome is Outcome.OK
            for row in task.scores.get(info.name, [])
            if row.item is not None and row.value is not None
        ]
        if rows:
            values = {(row.system, row.clip_id, row.item): row.value for row in rows}
            told = {"name": info.name, "label": f"Judge {info.name}", "protocol": rows[0].protocol, "proxy": rows[0].proxy}
            found.append((ScoreSet(**told, points=len(values)), values))
    return found


def _of_raters(subject: Subject, humans: Iterable[HumanScore]) -> tuple[dict[str, Values], list[str]]:
    """Each person's scores under a number (names are nobody's business), and notes on what does not fit this run."""
    by_name: dict[str, Values] = defaultdict(dict)
    elsewhere = changed = 0
    for row in humans:
        place = (row.system, row.clip_id, row.focal_id)
        point = subject.point(place)
        if point is None:
            elsewhere += 1
        elif row.shown and row.shown != _shown(subject, place, point):
            changed += 1
        elif place in by_name[row.rater]:
            raise ComparisonError(
                f"{row.rater!r} has scored focal point {row.focal_id!r} of clip {row.clip_id!r} for system {row.system!r} twice; "
                "remove one of the two files that hold it from the folder that the config key `humans` names"
            )
        else:
            by_name[row.rater][place] = float(row.score * WORTH)
    notes = []
    if elsewhere:
        notes.append(f"{elsewhere} scores of people are left out: this run does not have their system, clip, focal point or video.")
    if changed:
        notes.append(f"{changed} scores of people are left out: the video or the focal point that they saw has changed since.")
    scored = [by_name[name] for name in sorted(by_name) if by_name[name]]
    return {f"rater {number}": values for number, values in enumerate(scored, start=1)}, notes


def _shown(subject: Subject, place: Place, point: FocalPoint) -> str:
    render = subject.tasks[place[:2]].render
    return shown_digest(subject.clips[place[1]], render, point) if render is not None else ""


def _together(sets: Iterable[Values]) -> Values:
    given: dict[Place, list[float]] = defaultdict(list)
    for values in sets:
        for place, value in values.items():
            given[place].append(value)
    return {place: fmean(values) for place, values in given.items()}


class _Pair:
    """Two sets on what both scored."""

    def __init__(self, first: str, second: str, subject: Subject, of_first: Values, of_second: Values) -> None:
        self.first, self.second = first, second
        self._of = of_first, of_second
        order = {task: number for number, task in enumerate(subject.tasks)}
        shared = sorted(of_first.keys() & of_second.keys(), key=lambda place: (order[place[:2]], place[2]))
        kinds = {place: subject.points[place[1]][place[2]].kind for place in shared}
        self._places = {kind: [place for place in shared if kind in (kinds[place], "overall")] for kind in PARTS}
        self._systems = list(dict.fromkeys(system for system, _, _ in shared))
        self._compared = subject.compared

    def rows(self, resamples: int, seed: int) -> Iterator[AgreementRow]:
        alone = [system for system in self._systems if {system} != self._compared.intersection(self._systems)]
        for system in [None, *alone]:
            for level in ("video", "point"):
                for kind in PARTS:
                    yield self._row(system, kind, level, resamples, seed)

    def videos(self) -> Iterator[VideoPair]:
        for kind in PARTS:
            for (system, clip_id), (x, y, points) in self._by_video(kind).items():
                yield VideoPair(
                    first=self.first, second=self.second, system=system, clip_id=clip_id, kind=kind,
                    first_value=x, second_value=y, points=points,
                )  # fmt: skip

    def _by_video(self, kind: str) -> dict[tuple[str, str], tuple[float, float, int]]:
        of_video: dict[tuple[str, str], list[Place]] = defaultdict(list)
        for place in self._places[kind]:
            of_video[place[:2]].append(place)
        return {
            video: (*(round(fmean(values[place] for place in places), SAME_DIGITS) for values in self._of), len(places))
            for video, places in of_video.items()
        }

    def _row(self, system: str | None, kind: str, level: str, resamples: int, seed: int) -> AgreementRow:
        taken = self._compared if system is None else {system}
        if level == "video":
            held = [(video[1], x, y) for video, (x, y, _) in self._by_video(kind).items() if video[0] in taken]
        else:
            held = [
                (place[1], *(round(values[place], SAME_DIGITS) for values in self._of))
                for place in self._places[kind]
                if place[0] in taken
            ]
        numbers = {clip_id: number for number, clip_id in enumerate(sorted({clip_id for clip_id, _, _ in held}))}
        clusters = [numbers[clip_id] for clip_id, _, _ in held]
        first, second = [x for _, x, _ in held], [y for _, _, y in held]
        means = [_mean(values, clusters, resamples, seed) for values in (first, second)]
        pearson, spearman, reason = _correlations(first, second, clusters, (self.first, self.second), resamples, seed)
        return AgreementRow(
            first=self.first, second=self.second, system=system, kind=kind, level=level, n=len(held), clips=len(numbers),
            first_mean=means[0], second_mean=means[1], pearson=pearson, spearman=spearman, reason=reason,
        )  # fmt: skip


def _mean(values: Sequence[float], clusters: Sequence[int], resamples: int, seed: int) -> Interval:
    if not values:
        return Interval()
    told = stats.clustered_mean(values, clusters, resamples, seed=seed)
    return Interval(value=told.mean, low=told.low, high=told.high)


def _correlations(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[int], names: tuple[str, str], resamples: int, seed: int
) -> tuple[Interval, Interval, str]:
    """Pearson, Spearman, and why there are none."""
    if len(first) < 3:
        return Interval(), Interval(), f"{len(first)} in common; a correlation needs 3"
    for values, name in ((first, names[0]), (second, names[1])):
        if len(set(values)) == 1:
            return Interval(), Interval(), f"{name} gives all of them {values[0]:g}"
    told = stats.agreement(first, second)
    ends = stats.agreement_intervals(first, second, clusters, resamples, seed=seed)
    pearson, spearman = (
        Interval(value=value, low=end[0] if end else None, high=end[1] if end else None)
        for value, end in zip(told, ends, strict=True)
    )
    return pearson, spearman, ""
