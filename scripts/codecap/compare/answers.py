"""What questions and answers come to, as the paper's Table 2: by set, by what was shown, by system, and by type of question."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from codecap import stats
from codecap.compare.answer_records import AnswerPair, AnswerRow, QuestionAnswering, QuestionSetEntry
from codecap.compare.comparison import ComparisonError
from codecap.compare.estimates import Interval
from codecap.questions.metrics import Counts, Value, counts_of, kind_of, values_of
from codecap.questions.planned import ORIGINAL
from codecap.records import Answer, Outcome

MEDIA = ("render", "caption", "original")
POOLED = "all sets"  # stands where a set's name does; no set can be called so
Place = tuple[str, str]  # clip, question


def summarise(
    answers: Iterable[Answer],
    models: Mapping[str, Mapping[str, Any]],
    texts: Mapping[str, Mapping[str, Any]],
    resamples: int = stats.RESAMPLES,
    seed: int = stats.SEED,
) -> QuestionAnswering | None:
    """All tables of questions; None where none was asked. Where several sets were asked alike, they also stand together, first: the
    paper's accuracies are over the questions of three.

    Args:
        answers: rows of all shards, in any order.
        models, texts: the config's systems whose videos were seen, and those whose texts were read, in their order.

    Raises:
        ComparisonError: answers to one set from one medium were made in two ways, or a question was answered twice.
    """
    rows = sorted(answers, key=lambda row: (row.question_set, row.clip_id, row.question_id, row.system))
    if not rows:
        return None
    order = {name: place for place, name in enumerate([*models, *texts, ORIGINAL])}
    protocols = _protocols(rows)
    if pooled := _pooled(rows, protocols):
        rows, protocols = (
            [*pooled, *rows],
            {POOLED: {key: way for told in protocols.values() for key, way in told.items()}} | protocols,
        )
    held: dict[tuple[str, str, str], list[Answer]] = defaultdict(list)
    for row in rows:
        held[row.question_set, row.medium, row.system].append(row)
    for (name, _, system), mine in held.items():
        _once(name, system, mine)
    names = list(dict.fromkeys(row.question_set for row in rows))
    subjects = sorted(held, key=lambda key: (names.index(key[0]), MEDIA.index(key[1]), order.get(key[2], len(order))))
    labels = {name: str(entry.get("label") or name) for name, entry in {**models, **texts}.items()} | {ORIGINAL: "Original videos"}
    return QuestionAnswering(
        sets=[_set_entry(name, rows) for name in names],
        rows=_rows(subjects, held, labels, resamples, seed),
        pairs=[pair for name in names for pair in _pairs(name, held, models, texts, labels, resamples, seed)],
        protocols=protocols,
    )


def _protocols(rows: Sequence[Answer]) -> dict[str, dict[str, str]]:
    """How the answers were made, by set and medium."""
    seen: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if row.protocol:
            seen[row.question_set, row.medium][row.protocol].add(row.system)
    told: dict[str, dict[str, str]] = {}
    for (name, medium), ways in sorted(seen.items()):
        if len(ways) > 1:
            each = "; ".join(f"{way!r} of {', '.join(sorted(systems))}" for way, systems in sorted(ways.items()))
            raise ComparisonError(
                f"questions {name!r}, asked about the {medium}, have answers of {len(ways)} protocols, which no table may mix: "
                f"{each}. Remove results/6_score/answers and run again: what was answered before is not asked twice"
            )
        told.setdefault(name, {})[medium] = next(iter(ways))
    return told


def _pooled(rows: Sequence[Answer], protocols: Mapping[str, Mapping[str, str]]) -> list[Answer]:
    """All questions as those of one set; none where there is one set, or where sets were asked in different ways.

    A set may lack the protocol of a medium: where all that was to be shown has failed, nothing was asked.
    """
    names = {row.question_set for row in rows}
    ways = {way for told in protocols.values() for way in told.items()}
    if len(names) < 2 or set(protocols) != names or len(ways) > len(dict(ways)):
        return []
    return [row.model_copy(update={"question_set": POOLED, "question_id": f"{row.question_set}/{row.question_id}"}) for row in rows]


def _once(name: str, system: str, mine: Sequence[Answer]) -> None:
    for before, row in itertools.pairwise(mine):
        if (before.clip_id, before.question_id) == (row.clip_id, row.question_id):
            raise ComparisonError(
                f"question {row.question_id!r} of {name!r} has two answers about {system}; rows are of different runs: remove "
                "results/6_score/answers and run again"
            )


def _set_entry(name: str, rows: Sequence[Answer]) -> QuestionSetEntry:
    mine = {(row.clip_id, row.question_id): row.type for row in rows if row.question_set == name}
    counted: dict[str, int] = defaultdict(int)
    for kind in mine.values():
        counted[kind] += 1
    return QuestionSetEntry(
        name=name, questions=len(mine), clips=len({clip for clip, _ in mine}), types=dict(sorted(counted.items()))
    )


def _rows(
    subjects: Sequence[tuple[str, str, str]],
    held: Mapping[tuple[str, str, str], Sequence[Answer]],
    labels: Mapping[str, str],
    resamples: int,
    seed: int,
) -> list[AnswerRow]:
    """For each subject all questions together, then each type."""
    parts = [
        (key, kind, [row for row in held[key] if not kind or row.type == kind])
        for key in subjects
        for kind in ["", *sorted({row.type for row in held[key]})]
    ]
    values = values_of([_by_clip(mine) for _, _, mine in parts], resamples, seed)
    made = []
    for ((name, medium, system), kind, mine), told in zip(parts, values, strict=True):
        counts = counts_of(mine)
        statuses = [row.status for row in mine]
        made.append(
            AnswerRow(
                question_set=name,
                medium=medium,
                system="" if system == ORIGINAL else system,
                label=labels.get(system, system),
                type=kind,
                questions=len(mine),
                clips=len({row.clip_id for row in mine}),
                right=counts.right,
                wrong=counts.wrong,
                undetermined=sum(row.undetermined for row in mine),
                failed=sum(row.correct is False and row.status != Outcome.OK for row in mine),
                unscored=statuses.count("unscored"),
                infra_error=statuses.count(Outcome.INFRA_ERROR.value),
                accuracy=_interval(told.accuracy),
                cap_p=_interval(told.cap_p),
                cap_r=_interval(told.cap_r),
                cap_f1=_interval(told.cap_f1),
            )
        )
    return made


def _by_clip(rows: Sequence[Answer]) -> dict[str, Counts]:
    """Counts of each clip that has an answer."""
    clips: dict[str, list[Answer]] = defaultdict(list)
    for row in rows:
        if kind_of(row) is not None:
            clips[row.clip_id].append(row)
    return {clip: counts_of(mine) for clip, mine in clips.items()}


def _interval(value: Value) -> Interval:
    return Interval(value=value.value, low=value.low, high=value.high)


def _pairs(
    name: str,
    held: Mapping[tuple[str, str, str], Sequence[Answer]],
    models: Mapping[str, Mapping[str, Any]],
    texts: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],
    resamples: int,
    seed: int,
) -> Iterator[AnswerPair]:
    """Code against words of the same model, on the questions of a set that both have an answer to."""
    for words, said in texts.items():
        for code, made in models.items():
            if _model(said) is None or _model(said) != _model(made) or made.get("captions_of"):
                continue
            both = [held.get((name, *key), ()) for key in (("render", code), ("caption", words))]
            asked = set.intersection(*({(row.clip_id, row.question_id) for row in rows} for rows in both))
            first, second = map(_correct, both)
            shared = sorted(first.keys() & second.keys())
            if shared:
                missing = len(asked) - len(shared)
                yield _pair(name, str(_model(said)), code, words, first, second, shared, missing, labels, resamples, seed)


def _model(entry: Mapping[str, Any]) -> str | None:
    endpoint = entry.get("endpoint")
    return endpoint.get("model") if isinstance(endpoint, Mapping) else None


def _correct(rows: Sequence[Answer]) -> dict[Place, float]:
    return {(row.clip_id, row.question_id): 100.0 * row.correct for row in rows if row.correct is not None}


def _pair(
    name: str,
    model: str,
    code: str,
    words: str,
    first: Mapping[Place, float],
    second: Mapping[Place, float],
    shared: Sequence[Place],
    missing: int,
    labels: Mapping[str, str],
    resamples: int,
    seed: int,
) -> AnswerPair:
    number = {clip: place for place, clip in enumerate(dict.fromkeys(clip for clip, _ in shared))}
    clusters = [number[clip] for clip, _ in shared]

    def mean(values: Iterable[float]) -> Interval:
        told = stats.clustered_mean(list(values), clusters, resamples=resamples, seed=seed)
        return Interval(value=told.mean, low=told.low, high=told.high)

    return AnswerPair(
        question_set=name,
        model=model,
        code=code,
        code_label=labels[code],
        words=words,
        words_label=labels[words],
        questions=len(shared),
        clips=len(number),
        missing=missing,
        code_accuracy=mean(first[place] for place in shared),
        words_accuracy=mean(second[place] for place in shared),
        difference=mean(first[place] - second[place] for place in shared),
    )
