"""What a run will ask, and what that will cost, before it is paid for.

Questions are counted by those who ask them: a judge's or a prompter's `questions_expected(clip, annotation)` gives the questions
about one candidate, with blank pictures in the places of frames. Tokens are the providers' published rules (`tokens`), and answers
are taken for short (low) and for as long as they may be (high). Both are estimates; a provider's cache makes a run cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap import plan, registry
from codecap.exchange import settings, tokens
from codecap.exchange.prices import PriceTable, today
from codecap.exchange.question import Endpoint, Picture, Question
from codecap.records import Annotation, Clip, ObjectPrompts, Outcome, Render, Row, Score, Usage, read_record, read_rows
from codecap.score.engine import choice

SHORT_ANSWER = 100  # output tokens
LOW_INPUT, HIGH_INPUT = 0.8, 1.25  # of the estimated input tokens
OTHER_TABLE = "name another one with `--config FILE`, a file that says `clips: my/clips.tsv`"
ASKED_AGAIN = Decimal("1.1")  # high: one answer in ten cannot be read and is asked for again


@dataclass
class Planned:
    """What one asker of the configuration will ask.

    Attributes:
        asker: as "retention, judge mllm".
        questions: about all candidates; those of them `recorded` are answered already, those `dropped` have no video to ask about.
        clips: with an annotation, and so with questions.
        pictures, input_tokens: of the questions that are left.
        low_usd, high_usd: None when the model has no price.
    """

    asker: str
    endpoint: Endpoint
    systems: int
    clips: int = 0
    questions: int = 0
    recorded: int = 0
    dropped: int = 0
    pictures: int = 0
    input_tokens: int = 0
    low_usd: Decimal | None = Decimal(0)
    high_usd: Decimal | None = Decimal(0)

    @property
    def left(self) -> int:
        return self.questions - self.recorded - self.dropped


@dataclass(frozen=True)
class Asker:
    """A backend that asks, and where its finished work is told."""

    name: str
    backend: Any
    metric: str | None  # whose scores are made of its answers; None for the prompter
    lane: str = ""


@dataclass(frozen=True)
class _Clip:
    """What a clip's questions come to, for one system."""

    questions: int
    pictures: int
    input_tokens: int
    low_usd: Decimal | None
    high_usd: Decimal | None


def planned(config: Mapping[str, Any]) -> tuple[list[Planned], list[str]]:
    """Estimate a run of the configured benchmark.

    Returns:
        One entry an asker, and what could not be counted, in words.

    Raises:
        UserError: the configuration, a table or an annotation is wrong; or there is no clips table.
    """
    if not configuration.find(config["clips"]).is_file():
        raise plan.PlanError(f"{config['clips']}: no clips table there; {OTHER_TABLE}")
    run = plan.make(config)
    choice.check(config)
    prices = PriceTable.read(configuration.find(settings.of(config["exchange"]).prices))
    annotations = {clip.clip_id: _annotation(config, bucket, clip) for bucket, held in run.buckets.items() for clip in held}
    problems = [*run.problems, *(f"{name}: no annotation yet; not counted" for name, told in annotations.items() if told is None)]
    if not run.buckets:
        problems.append(f"{config['clips']}: has no clips to work on, nothing is counted; {OTHER_TABLE}")
    found = []
    for asker in askers(config):
        entry = Planned(asker.name, asker.backend.settings.endpoint, len(run.systems))
        for bucket, clips in run.buckets.items():
            told = {clip: annotation for clip in clips if (annotation := annotations[clip.clip_id]) is not None}
            costs = {clip.clip_id: _of_clip(asker, clip, annotation, prices) for clip, annotation in told.items()}
            entry.clips += len(costs)
            for system in run.systems:
                _add_shard(entry, costs, _recorded(asker, system, bucket), _without_video(system, bucket))
        found.append(entry)
    return found, problems


def askers(config: Mapping[str, Any]) -> Iterator[Asker]:
    """The backends of a configuration that ask hosted models.

    Raises:
        registry.Unavailable: one is not there, or a setting of it is wrong.
    """
    for name, told in config["metrics"].items():
        chosen = choice.metric(config, name).settings
        if judge := chosen.get("judge"):
            backend = registry.make("score.judges", judge, chosen["judges"][judge])
            if hasattr(backend, "questions_expected"):
                yield Asker(f"{name}, judge {judge}", backend, name, told["lane"])
    if choice.OBJECTS_METRIC in config["metrics"]:
        prompter = choice.backend(config, "prompter")
        backend = registry.make("score.prompters", prompter.name, prompter.settings)
        if hasattr(backend, "questions_expected"):
            yield Asker(f"{choice.OBJECTS_METRIC}, prompter {prompter.name}", backend, None)


def _of_clip(asker: Asker, clip: Clip, annotation: Annotation, prices: PriceTable) -> _Clip:
    endpoint: Endpoint = asker.backend.settings.endpoint
    questions: list[Question] = asker.backend.questions_expected(clip, annotation)
    inputs = [tokens.of_request(endpoint, question) for question in questions]

    def usd(share: float, answers: Sequence[int]) -> Decimal | None:
        usages = [Usage(input_uncached=round(told * share), output=answer) for told, answer in zip(inputs, answers, strict=True)]
        costs = [prices.usd(endpoint.model, endpoint.host, today(), usage) for usage in usages]
        return None if None in costs else sum(costs, Decimal(0))

    longest = [question.most_output_tokens for question in questions]
    low, high = usd(LOW_INPUT, [min(SHORT_ANSWER, limit) for limit in longest]), usd(HIGH_INPUT, longest)
    pictures = sum(isinstance(part, Picture) for question in questions for part in question.parts)
    return _Clip(len(questions), pictures, sum(inputs), low, None if high is None else high * ASKED_AGAIN)


def _add_shard(entry: Planned, costs: Mapping[str, _Clip], recorded: set[str], without_video: set[str]) -> None:
    for clip_id, cost in costs.items():
        entry.questions += cost.questions
        if clip_id in recorded:
            entry.recorded += cost.questions
        elif clip_id in without_video:
            entry.dropped += cost.questions
        else:
            entry.pictures += cost.pictures
            entry.input_tokens += cost.input_tokens
            entry.low_usd = None if entry.low_usd is None or cost.low_usd is None else entry.low_usd + cost.low_usd
            entry.high_usd = None if entry.high_usd is None or cost.high_usd is None else entry.high_usd + cost.high_usd


def _annotation(config: Mapping[str, Any], bucket: str, clip: Clip) -> Annotation | None:
    rows = plan.RESULTS / "3_annotate" / config["annotations"] / f"{bucket}.jsonl"
    made = next((row for row in _rows(rows, Annotation) if row.clip_id == clip.clip_id), None)
    approved = configuration.find(config["annotations_folder"]) / f"{clip.clip_id}.json"
    if made is None and config["annotations"] == "approved" and approved.is_file():
        return read_record(approved, Annotation)
    return made


def _recorded(asker: Asker, system: str, bucket: str) -> set[str]:
    """Clips of a shard whose answers by this very protocol are all there. Of those that are there in part nothing is known."""
    if asker.metric is None:
        prompts = _rows(plan.RESULTS / "6_score" / "prompts" / system / f"{bucket}.jsonl", ObjectPrompts)
        return {row.clip_id for row in prompts if row.prompts and row.protocol == asker.backend.protocol}
    scores = list(_rows(plan.RESULTS / "6_score" / asker.lane / system / f"{bucket}.jsonl", Score))
    own = [row for row in scores if row.metric == asker.metric and asker.backend.protocol in row.protocol]
    return {row.clip_id for row in own} - {row.clip_id for row in own if row.retry}


def _without_video(system: str, bucket: str) -> set[str]:
    renders = _rows(plan.RESULTS / "5_render" / system / f"{bucket}.jsonl", Render)
    return {row.clip_id for row in renders if row.outcome is not Outcome.OK}


def _rows(path: Path, kind: type[Row]) -> Iterator[Any]:
    return read_rows(path, kind) if path.is_file() else iter(())
