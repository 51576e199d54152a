"""How much memory and time a job needs: functions of its clips, its threads, and the backends that the configuration chooses.

Memory is that of the largest clip of a shard, as clips are worked on one after the other and videos are streamed; time is that of
the clips left, in the mean.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecap import registry, weights
from codecap.annotate import proposers
from codecap.clock import FPS
from codecap.cluster import costs
from codecap.cluster.costs import Cost, Pictures
from codecap.cluster.nodes import DRAFTING
from codecap.cluster.settings import Kind
from codecap.generate import entries
from codecap.records import Clip
from codecap.score.engine import choice
from codecap.weights import needs

SPREAD = 2.0  # by so much may a node be slower, or a clip take longer, than what was measured
BY_ROWS = (
    "survey_originals",
    "choose_parts",
    "ingest_originals",
    "filter_clips",
    "ask_proposer",
    "draft_annotations",
)  # their clips are not known when they are planned
OBJECT_RULES = {"prompt_objects": "prompter", "segment_objects": "segmenter"}
UNKNOWN_CLIPS = 40  # where their number is not known either
UNKNOWN_S, UNKNOWN_MPX = 60.0, 2.1
OF_ORIGINALS = ("survey_originals", "choose_parts")  # rules whose work is that of whole originals, and not of clips
ORIGINAL_S = 300.0


@dataclass(frozen=True)
class Clips:
    """Some clips, as far as they make a job large or long: lengths in seconds, frames in millions of pixels."""

    count: int
    longest_s: float
    largest_mpx: float
    mean_s: float
    mean_mpx: float

    @classmethod
    def of(cls, clips: Sequence[Clip]) -> Clips:
        seconds = [clip.frames / FPS for clip in clips]
        mpx = [clip.width_px * clip.height_px / 1e6 for clip in clips]
        return cls(len(clips), max(seconds), max(mpx), sum(seconds) / len(clips), sum(mpx) / len(clips))

    @classmethod
    def unknown(cls, count: int, rule: str = "") -> Clips:
        """What a rule works on, of which nothing is known but, maybe, how many (0: not even that)."""
        seconds = ORIGINAL_S if rule in OF_ORIGINALS else UNKNOWN_S
        return cls(count or UNKNOWN_CLIPS, seconds, 4 * UNKNOWN_MPX, seconds, UNKNOWN_MPX)


@dataclass(frozen=True)
class Beside:
    """What runs beside a job's own processes.

    Attributes:
        memory_mb: of its model's server; of its agents' sandboxes, and of the browsers that draw for them at the same time.
        start_s: until the server answers.
        longest_s: most that one clip may take; none is begun where less is left.
    """

    memory_mb: float = 0.0
    start_s: float = 0.0
    longest_s: float = 0.0


NOTHING = Beside()


@dataclass(frozen=True)
class Work:
    """What one job has to do.

    Attributes:
        left: clips that are still to be done.
        lane, harness: where the job has them; the harness is that of its system.
        kind: of the node that it runs on.
        beside: what runs beside the job's own processes.
        systems: whose rows are read, by the rules that read all of them.
    """

    clips: Clips
    left: int
    threads: int = 1
    lane: str = ""
    harness: str = ""
    kind: Kind = "cpu"
    systems: int = 1
    beside: Beside = NOTHING


class Sizes:
    """Sizes of the jobs of one configuration."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._costs = functools.cache(lambda *asked: tuple(self._costs_of(*asked)))

    def memory_mb(self, rule: str, work: Work) -> float:
        """All that the job holds at its highest, Snakemake's own processes included."""
        clips = work.clips
        found = costs.SNAKEMAKE_MB + sum(cost.memory_mb(clips.longest_s, clips.largest_mpx) for cost in self._of(rule, work))
        if (rows := costs.ROWS.get(rule)) is not None:
            found += clips.count * (rows.mb * work.systems + rows.mb_s * clips.mean_s)
        if _draws(rule, work.harness):  # a page is stopped at its own limit, and not at the job's
            found += work.threads * (self._config["render"]["memory_mb"] + costs.BROWSER_MB)
        return found + work.beside.memory_mb

    def most_s(self, rule: str, work: Work) -> float:
        """From the job's start to its end, on a slow node."""
        return SPREAD * self.job_s(rule, work)

    def job_s(self, rule: str, work: Work) -> float:
        """From the job's start to its end, where it is as quick as where it was measured."""
        start_s = costs.SNAKEMAKE_S + sum(cost.start_s for cost in self._of(rule, work))
        return start_s + work.beside.start_s + work.left * self._clip_s(rule, work)

    def _clip_s(self, rule: str, work: Work) -> float:
        each_s = sum(cost.clip_s(work.clips.mean_s, work.clips.mean_mpx) for cost in self._of(rule, work))
        if rule in costs.WHOLE:
            return each_s * work.systems
        return each_s / work.threads if rule == "render_captions" else each_s

    @functools.cached_property
    def _weights_gb(self) -> dict[str, float]:
        return _weights_gb(self._config)

    def _of(self, rule: str, work: Work) -> tuple[Cost, ...]:
        return self._costs(rule, work.lane, work.harness, work.kind)

    def _costs_of(self, rule: str, lane: str, harness: str, kind: Kind) -> Iterator[Cost]:
        yield costs.RULES[rule]
        if _draws(rule, harness):
            yield costs.PAGE
        on_gpu = kind == "gpu"
        used = {
            name: (costs.backend(name, self._weights_gb.get(name, 0.0)), pictures)
            for name, pictures in self._backends(rule, lane, harness).items()
        }
        for backend, pictures in used.values():
            if not (backend.asks and rule == "describe_references"):
                yield backend.cost(on_gpu, pictures)
        if any(backend.torch for backend, _ in used.values()):
            yield costs.TORCH
        if on_gpu:
            yield costs.CUDA
        yield from (metric.cost for metric in self._metrics(rule, lane).values())

    def _backends(self, rule: str, lane: str, harness: str) -> dict[str, Pictures]:
        """What a job loads, "encoder dreamsim", each once, with the pictures that all metrics give it."""
        if rule == "generate_captions":
            return {f"harness {harness}": Pictures()}
        if rule == "answer_questions":
            return {"answerer mllm": Pictures()}
        if rule == "ask_proposer":
            return {f"proposer {self._config['proposer']}": Pictures()}
        if rule in OBJECT_RULES or (rule in DRAFTING and proposers.asks(self._config)):
            family = OBJECT_RULES.get(rule, "segmenter")
            return {f"{family} {self._config['metrics'][choice.OBJECTS_METRIC][family]}": Pictures()}
        found: dict[str, Pictures] = {}
        for name, metric in self._metrics(rule, lane).items():
            entry = self._config["metrics"][name]
            for backend in (f"{family} {entry[family]}" for family in choice.BACKENDS if family in entry):
                found[backend] = found.get(backend, Pictures()) + metric.pictures
        by_shots = any(metric.by_shots for metric in self._metrics(rule, lane).values())
        if by_shots and _says(harness, "OTHER_LENGTHS"):
            found.update({backend: found.get(backend, Pictures()) for backend in self._matching()})
        return found

    def _metrics(self, rule: str, lane: str) -> dict[str, costs.Metric]:
        if rule not in ("describe_references", "score_renders"):
            return {}
        held = {name: entry for name, entry in self._config["metrics"].items() if entry["lane"] == lane}
        return {name: costs.METRICS.get(choice.module_of(name, entry), costs.NO_METRIC) for name, entry in held.items()}

    def _matching(self) -> list[str]:
        """The encoder that matches shots to videos of another length, that of AS."""
        entries = self._config["metrics"].items()
        found = [entry["encoder"] for name, entry in entries if choice.module_of(name, entry) == choice.MATCHING_METRIC]
        return [f"encoder {encoder}" for encoder in found[:1]]


def beside(config: Mapping[str, Any], entry: Mapping[str, Any]) -> Beside:
    """What the captions of a system's entry in `models` need beside the shard's own processes."""
    settings = entries.settings_of(config, entry) if "harness" in entry else {}
    served = settings.get("serve")
    memory_mb = 0.0 if served is None else float(served.get("memory_mb", costs.SERVER_MB))
    if "sandbox" in settings:
        drawn_mb = config["render"]["memory_mb"] + costs.BROWSER_MB
        at_once = int(settings["at_once"])
        memory_mb += at_once * (settings["memory_mb"] + costs.SANDBOX_MB) + (at_once - 1) * drawn_mb
    return Beside(memory_mb, 0.0 if served is None else costs.SERVER_S, entries.longest_run_s(settings))


def _draws(rule: str, harness: str) -> bool:
    """Whether browsers draw pages: to render captions that are no videos, or as the tool of a model that writes them."""
    if rule == "generate_captions":
        return _says(harness, "BROWSER")
    return rule == "render_captions" and not _says(harness, "VIDEO")


def _says(harness: str, constant: str) -> bool:
    """What a harness says of itself at its top, see `codecap.generate.harnesses`."""
    return bool(harness and registry.said("generate.harnesses", harness, constant, default=False))


def _weights_gb(config: Mapping[str, Any]) -> dict[str, float]:
    """Sizes of the weights that the configured backends load, "encoder dreamsim"."""
    found = {}
    for plugin, told in needs.plugins(config):
        family, _, name = plugin.removeprefix("score.").rpartition(".")
        found[f"{family.removesuffix('s')} {name}"] = sum(weights.entry(entry).size_gb for entry in weights.needed(plugin, told))
    return found
