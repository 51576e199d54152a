"""Which kind of node a job needs, asked of the configuration alone: no plugin is imported.

gpu        a chosen backend computes on a GPU, or a system's model is served or run beside its shard; no such job asks a hosted one
network    it asks hosted models
cpu        everything else: decoding, rendering, pixel work, tables; such a job never holds a GPU
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codecap import config as configuration
from codecap import registry
from codecap.annotate import proposers
from codecap.cluster.settings import Kind
from codecap.config import ConfigError
from codecap.generate import serve
from codecap.score.engine.choice import BACKENDS, OBJECTS_METRIC
from codecap.weights import needs

LOCAL_RULES = ("discover_candidates", "fetch_originals", "fetch_weights", "prepare_weights")  # the login node's: they fetch
GPU_LANE = "gpu"
DRAFTING = ("draft_annotations", "propose_annotations")  # where a model has proposed, the segmenter follows its prompts
VIDEO_MAKER, MAKERS = "video", "generate.videos"  # key of an entry in `models`, and the family whose module it names


def check(config: Mapping[str, Any]) -> None:
    """Refuse what would hold a GPU while it waits for an answer, and what no job could be placed by.

    Raises:
        ConfigError: a metric of the GPU lane asks a hosted model, a system's `serve` or `video` is wrong, or the proposer needs a
            segmenter and there is none; the message names it and the way out.
    """
    if proposers.asks(config) and OBJECTS_METRIC not in config["metrics"]:
        raise ConfigError(
            f"proposer: what {config['proposer']} proposes is followed by the segmenter of metrics.{OBJECTS_METRIC}, which is not "
            "configured; add that metric, or choose the proposer embedded"
        )
    for name, entry in configuration.systems(config).items():
        try:
            serve.section(entry)
        except ValueError as error:
            raise ConfigError(f"models.{name}.{error}") from error
        makers = registry.available(MAKERS)
        if (maker := entry.get(VIDEO_MAKER)) is not None and maker not in makers:
            raise ConfigError(f"models.{name}.{VIDEO_MAKER}: nothing called {maker!r} makes videos; there are {', '.join(makers)}")
    for name, entry in config["metrics"].items():
        if entry["lane"] == GPU_LANE and (asker := next(askers(entry), None)) is not None:
            family, backend = asker
            raise ConfigError(
                f"metrics.{name}.lane: {GPU_LANE}, but its {family} {backend} asks a hosted model, and no job holds a GPU while it "
                "waits for answers; set the lane to judge"
            )


def kind_of(config: Mapping[str, Any], rule: str, lane: str = "", entry: Mapping[str, Any] | None = None) -> Kind:
    """The kind of node that a job of a rule needs.

    Args:
        lane: of `describe_references` and `score_renders`.
        entry: of `generate_captions`, the system's in `models`.
    """
    if rule == "filter_clips":
        return "network" if config["filter"].get("vote") else "cpu"
    if rule == "generate_captions":
        return of_system(entry or {})
    if rule == "prompt_objects":
        return "network" if _asks(config["metrics"].get(OBJECTS_METRIC, {}), "prompter") else "cpu"
    if rule in ("ask_proposer", "answer_questions"):
        return "network"
    if rule == "segment_objects" or (rule in DRAFTING and proposers.asks(config)):
        return "gpu" if _computes_on_gpu(config["metrics"].get(OBJECTS_METRIC, {}), "segmenter") else "cpu"
    if rule in ("describe_references", "score_renders"):
        held = [entry for entry in config["metrics"].values() if entry["lane"] == lane]
        if lane == GPU_LANE:
            return "gpu" if any(_computes_on_gpu(entry, family) for entry in held for family in BACKENDS) else "cpu"
        if rule == "score_renders" and any(True for entry in held for _ in askers(entry)):
            return "network"
    return "cpu"


def of_system(entry: Mapping[str, Any]) -> Kind:
    """The kind of node that makes a system's captions."""
    if entry.get("serve") is not None:
        return "gpu" if gpus_of(entry) else "cpu"
    if (maker := entry.get(VIDEO_MAKER)) and not registry.said(MAKERS, maker, "NETWORK", default=True):
        return "cpu" if _settings(entry, VIDEO_MAKER).get("device") == "cpu" else "gpu"
    return "network" if asks_network(entry["harness"]) else "cpu"


def gpus_of(entry: Mapping[str, Any]) -> int:
    """How many GPUs the server of a system's model computes on; 1 where the entry does not say."""
    return int((entry.get("serve") or {}).get("gpus", 1))


def asks_network(harness: str) -> bool:
    """Whether a harness needs a network: all do that do not say `NETWORK = False`."""
    return bool(registry.said("generate.harnesses", harness, "NETWORK", default=True))


def askers(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The backends of a metric that ask hosted models while it is scored: family and name."""
    for family in BACKENDS:
        if _asks(entry, family):
            yield family, entry[family]


def _asks(entry: Mapping[str, Any], family: str) -> bool:
    """Backends that ask are those with an endpoint; `codecap cost --plan` counts the same (a contract test compares)."""
    return "endpoint" in _settings(entry, family)


def _computes_on_gpu(entry: Mapping[str, Any], family: str) -> bool:
    """A backend with weights and a device, unless that is set to cpu."""
    if family not in entry:
        return False
    settings = _settings(entry, family)
    weighty = needs.revisions(f"score.{family}s.{entry[family]}", settings)
    return bool(weighty) and settings.get("device", "auto") != "cpu"


def _settings(entry: Mapping[str, Any], family: str) -> Mapping[str, Any]:
    return (entry.get(f"{family}s") or {}).get(entry.get(family)) or {}
