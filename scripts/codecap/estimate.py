"""What a run will ask, and what that will cost, before it is paid for.

Questions are counted by those who ask them, with blank pictures in the places of frames: a harness's `questions_expected(clip)`
gives those that a caption takes, a proposer's those that a draft takes, a judge's or a prompter's `questions_expected(clip,
annotation)` those about one candidate. Tokens are the providers' published rules (`tokens`), and answers are taken for short (low)
and for as long as they may be (high). Both are estimates; a provider's cache makes a run cheaper. What an agent asks is up to its
model: only its limits are told.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap import plan, registry
from codecap.annotate import proposers
from codecap.exchange import settings, tokens
from codecap.exchange.prices import PriceTable, today
from codecap.exchange.question import Endpoint, Picture, Question
from codecap.generate import entries
from codecap.records import (
    Annotation,
    Caption,
    Clip,
    ObjectPrompts,
    Outcome,
    Proposal,
    Render,
    Row,
    Score,
    Usage,
    read_record,
    read_rows,
)
from codecap.score.engine import choice

SHORT_ANSWER, SHORT_CAPTION = 100, 3000  # output tokens: of a verdict; of a page or a text, with little thinking before it
SHORT_PROPOSAL = 2000  # of an annotation, or of some objects' places
LOW_INPUT, HIGH_INPUT = 0.8, 1.25  # of the estimated input tokens
Done = Callable[[str, str], set[str]]  # of a system and a bucket: clips
OTHER_TABLE = "name another one with `--config FILE`, a file that says `clips: my/clips.tsv`"
ASKED_AGAIN = Decimal("1.1")  # high: one answer in ten cannot be read and is asked for again


@dataclass
class Planned:
    """What one asker of the configuration will ask.

    Attributes:
        asker: as "retention, judge mllm".
        systems: whose captions it makes, or asks about.
        questions: of all systems; those of them `recorded` are answered already, those `dropped` have no video to ask about.
        clips: with questions.
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
    """Who asks.

    Attributes:
        name: as "retention, judge mllm".
        systems: for whose captions, or about whose.
        questions: that a clip takes, for one system; None where they cannot be told yet.
        recorded, dropped: of a system and a bucket: the clips that are answered by this very protocol, all of it, and those about
            which nothing will be asked. Of those that are answered in part nothing is known.
        short_answer: output tokens of a short one.
    """

    name: str
    endpoint: Endpoint
    systems: tuple[str, ...]
    questions: Callable[[Clip], list[Question] | None]
    recorded: Done
    dropped: Done
    short_answer: int = SHORT_ANSWER


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
    askers = [*_proposers(config), *_captioners(config, run, problems), *_scorers(config, run, annotations), *_answerers(run)]
    for asker in askers:
        entry = Planned(asker.name, asker.endpoint, len(asker.systems))
        for bucket, clips in run.buckets.items():
            told = {clip.clip_id: questions for clip in clips if (questions := asker.questions(clip)) is not None}
            costs = {clip_id: _cost(asker, questions, prices) for clip_id, questions in told.items()}
            entry.clips += len(costs)
            for system in asker.systems:
                _add_shard(entry, costs, asker.recorded(system, bucket), asker.dropped(system, bucket))
        found.append(entry)
    return found, problems


def _proposers(config: Mapping[str, Any]) -> Iterator[Asker]:
    """The proposer, where a run takes drafts as they are and a hosted model writes them."""
    for name, backend, recorded in proposing(config) if config["annotations"] == "proposed" else ():
        yield Asker(name, backend.settings.endpoint, ("",), backend.questions_expected, recorded, _none, SHORT_PROPOSAL)


def proposing(config: Mapping[str, Any]) -> Iterator[tuple[str, Any, Done]]:
    """The proposer of a configuration, if it asks a hosted model: name, backend, and what it has answered.

    Raises:
        registry.Unavailable: a setting of it is wrong.
    """
    if proposers.asks(config):
        name = config["proposer"]
        backend = registry.make(proposers.FAMILY, name, config["proposers"].get(name, {}))
        yield f"annotations, proposer {name}", backend, functools.partial(_proposed, backend)


def _captioners(config: Mapping[str, Any], run: plan.Plan, problems: list[str]) -> Iterator[Asker]:
    """The systems whose captions hosted models write. Adds to `problems` those of which nothing can be told.

    Raises:
        registry.Unavailable: a setting of one is wrong.
    """
    not_told: dict[str, list[str]] = {}  # by the reason
    for system, entry in run.captioners.items():
        if entries.sources_of(entry):
            not_told.setdefault("what its videos cost is told by their maker, not counted", []).append(system)
        if not entries.asks_its_endpoint(entry) or entry.get("serve") is not None:
            continue
        harness = registry.make(entries.FAMILY, entry["harness"], entries.settings_of(config, entry))
        if hasattr(harness, "questions_expected"):
            recorded = functools.partial(_captioned, harness.protocol)
            name, endpoint = f"{system}, {entry['harness']}", harness.settings.endpoint
            yield Asker(name, endpoint, (system,), harness.questions_expected, recorded, _none, SHORT_CAPTION)
        else:
            most = harness.settings.most_usd
            limit = "agents.most_usd sets a limit" if most is None else f"at most {most} USD a clip (most_usd)"
            not_told.setdefault(f"what an agent asks is up to its model, not counted; {limit}", []).append(system)
    problems += [f"{', '.join(systems)}: {reason}" for reason, systems in not_told.items()]


def _scorers(config: Mapping[str, Any], run: plan.Plan, annotations: Mapping[str, Annotation | None]) -> Iterator[Asker]:
    for name, backend, recorded in scorers(config):

        def questions(clip: Clip, backend: Any = backend) -> list[Question] | None:
            told = annotations[clip.clip_id]
            return None if told is None else backend.questions_expected(clip, told)

        yield Asker(name, backend.settings.endpoint, tuple(run.systems), questions, recorded, _without_video)


def _answerers(run: plan.Plan) -> Iterator[Asker]:
    """The model that answers questions: from videos, and from texts, whose lengths are not known yet."""
    if not run.questions.asked:
        return
    from codecap.questions import expected

    asked, endpoint = run.questions, run.questions.settings.answerer.endpoint
    for name, media in (("videos", ("render", "original")), ("texts", ("caption",))):
        subjects = tuple(subject for subject, medium in asked.subjects.items() if medium in media)
        if subjects:
            questions = functools.partial(expected.requests_of, asked, medium=media[0])
            done = [functools.partial(told, asked, plan.RESULTS) for told in (expected.answered, expected.without_source)]
            yield Asker(f"questions, from {name}", endpoint, subjects, questions, *done)


def scorers(config: Mapping[str, Any]) -> Iterator[tuple[str, Any, Done]]:
    """The judges and the prompter of a configuration that ask hosted models: name, backend, and what it has answered.

    Raises:
        registry.Unavailable: one is not there, or a setting of it is wrong.
    """
    for name, told in config["metrics"].items():
        chosen = choice.metric(config, name).settings
        if judge := chosen.get("judge"):
            backend = registry.make("score.judges", judge, chosen["judges"][judge])
            if hasattr(backend, "questions_expected"):
                yield f"{name}, judge {judge}", backend, functools.partial(_judged, backend, name, told["lane"])
    if choice.OBJECTS_METRIC in config["metrics"]:
        prompter = choice.backend(config, "prompter")
        backend = registry.make("score.prompters", prompter.name, prompter.settings)
        if hasattr(backend, "questions_expected"):
            yield f"{choice.OBJECTS_METRIC}, prompter {prompter.name}", backend, functools.partial(_prompted, backend)


def _cost(asker: Asker, questions: Sequence[Question], prices: PriceTable) -> _Clip:
    endpoint = asker.endpoint
    inputs = [tokens.of_request(endpoint, question) for question in questions]

    def usd(share: float, answers: Sequence[int]) -> Decimal | None:
        usages = [Usage(input_uncached=round(told * share), output=answer) for told, answer in zip(inputs, answers, strict=True)]
        costs = [prices.usd(endpoint.model, endpoint.host, today(), usage) for usage in usages]
        return None if None in costs else sum(costs, Decimal(0))

    longest = [question.most_output_tokens for question in questions]
    low, high = usd(LOW_INPUT, [min(asker.short_answer, limit) for limit in longest]), usd(HIGH_INPUT, longest)
    pictures = sum(isinstance(part, Picture) for question in questions for part in question.parts)
    return _Clip(len(questions), pictures, sum(inputs), low, None if high is None else high * ASKED_AGAIN)


def _add_shard(entry: Planned, costs: Mapping[str, _Clip], recorded: set[str], dropped: set[str]) -> None:
    for clip_id, cost in costs.items():
        entry.questions += cost.questions
        if clip_id in recorded:
            entry.recorded += cost.questions
        elif clip_id in dropped:
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


def _captioned(protocol: str, system: str, bucket: str) -> set[str]:
    captions = _rows(plan.RESULTS / "4_generate" / system / f"{bucket}.jsonl", Caption)
    return {row.clip_id for row in captions if row.outcome is not Outcome.INFRA_ERROR and row.protocol == protocol}


def _proposed(proposer: Any, _system: str, bucket: str) -> set[str]:
    proposals = _rows(plan.RESULTS / "3_annotate" / "asked" / "proposed" / f"{bucket}.jsonl", Proposal)
    return {row.clip_id for row in proposals if row.objects and row.protocol == proposer.protocol}


def _prompted(prompter: Any, system: str, bucket: str) -> set[str]:
    prompts = _rows(plan.RESULTS / "6_score" / "prompts" / system / f"{bucket}.jsonl", ObjectPrompts)
    return {row.clip_id for row in prompts if row.prompts and row.protocol == prompter.protocol}


def _judged(judge: Any, metric: str, lane: str, system: str, bucket: str) -> set[str]:
    scores = list(_rows(plan.RESULTS / "6_score" / lane / system / f"{bucket}.jsonl", Score))
    own = [row for row in scores if row.metric == metric and judge.protocol in row.protocol]
    return {row.clip_id for row in own} - {row.clip_id for row in own if row.retry}


def _none(_system: str, _bucket: str) -> set[str]:
    return set()


def _without_video(system: str, bucket: str) -> set[str]:
    renders = _rows(plan.RESULTS / "5_render" / system / f"{bucket}.jsonl", Render)
    return {row.clip_id for row in renders if row.outcome is not Outcome.OK}


def _rows(path: Path, kind: type[Row]) -> Iterator[Any]:
    return read_rows(path, kind) if path.is_file() else iter(())
