"""What the configuration chooses: for each metric its settings, its backends, and the digest of the code that makes its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from codecap import registry
from codecap.config import chosen
from codecap.fingerprint import code_digest
from codecap.records import in_words
from codecap.shots import ShotSettings
from codecap.weights.needs import revisions

BACKENDS = ("encoder", "tracker", "judge")  # of a metric; prompter and segmenter have stages of their own
OBJECT_BACKENDS = ("prompter", "segmenter")
OBJECTS_METRIC = "object_iou"  # whose entry names the prompter and the segmenter
MATCHING_METRIC = "appearance"  # whose encoder matches shots to videos of another length


@dataclass(frozen=True)
class Choice:
    """One metric or backend as configured. Plain values: it travels in a rule's params and in the store's keys."""

    name: str
    settings: dict[str, Any]
    code: str  # digest of the module, of its backend, and of all that they import
    plugin: str = ""  # a metric's module of codecap/score; its name by default
    weights: list[str] = field(
        default_factory=list
    )  # what is known of the weights that its backends load: other weights make other numbers

    @property
    def salt(self) -> list[Any]:
        return [self.name, self.settings, self.code, *self.weights]

    def module(self) -> ModuleType:
        return registry.load("score", self.plugin or self.name)


def metric(config: Mapping[str, Any], name: str) -> Choice:
    """A metric's entry in `metrics`, without its lane and without the settings of backends that it does not use."""
    plugin = module_of(name, config["metrics"][name])
    entry = {key: value for key, value in config["metrics"][name].items() if key not in ("lane", "module")}
    for family in OBJECT_BACKENDS:
        entry.pop(family, None)
        entry.pop(f"{family}s", None)
    settings = chosen(entry, *BACKENDS)
    backends = {family: settings[family] for family in BACKENDS if family in settings}
    code = code_digest(*modules_of(plugin, settings))
    return Choice(name, settings, code, plugin, [*revisions(f"score.{plugin}", {}), *_weights(settings, backends)])


def modules_of(plugin: str, settings: Mapping[str, Any]) -> list[str]:
    """The modules whose code makes a metric's numbers: its own, what shows it videos, and those of its backends."""
    backends = [f"codecap.score.{family}s.{settings[family]}" for family in BACKENDS if family in settings]
    return [f"codecap.score.{plugin}", "codecap.score.engine.watching", *backends]


def module_of(name: str, entry: Mapping[str, Any]) -> str:
    """The module of codecap/score that a metric's entry is measured by: its name, or the one that it says (a second judge)."""
    return entry.get("module", name)


def backend(config: Mapping[str, Any], family: str) -> Choice:
    """The prompter or the segmenter of the objects metric."""
    entry = config["metrics"][OBJECTS_METRIC]
    name = entry[family]
    settings = dict((entry.get(f"{family}s") or {}).get(name) or {})
    code = code_digest(f"codecap.score.{family}s.{name}")
    return Choice(name, settings, code, weights=_weights({f"{family}s": {name: settings}}, {family: name}))


def shots(config: Mapping[str, Any]) -> Choice:
    told = dict(config["shots"])
    detector = ShotSettings.of(told).detector
    return Choice("shots", told, code_digest("codecap.shots", f"codecap.shots.{detector}"))


def matching(config: Mapping[str, Any], names: Iterable[str]) -> Choice | None:
    """The encoder that matches shots to videos of another length, that of AS: for those of these metrics that go by shots.

    None where none of them does, or where AS is not configured.
    """
    modules = (module_of(name, config["metrics"][name]) for name in names)
    if not any(registry.said("score", module, "CLOCK", default="reference") == "shots" for module in modules):
        return None
    for name, entry in config["metrics"].items():
        if module_of(name, entry) == MATCHING_METRIC:
            told = {key: value for key, value in entry.items() if key in ("encoder", "encoders")}
            digest = code_digest("codecap.score.engine.shot_matching", f"codecap.score.encoders.{entry['encoder']}")
            return Choice("shot_matching", chosen(told, "encoder"), digest, weights=_weights(told, {"encoder": told["encoder"]}))
    return None


def _weights(settings: Mapping[str, Any], backends: Mapping[str, str]) -> list[str]:
    """What is known of the weights of some backends, by family, whose settings are in the plural of the family."""
    told: list[str] = []
    for family, name in backends.items():
        told += revisions(f"score.{family}s.{name}", (settings.get(f"{family}s") or {}).get(name) or {})
    return told


def lanes(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Metrics of each lane that has any, both in the configuration's order."""
    found: dict[str, list[str]] = {}
    for name, entry in config["metrics"].items():
        found.setdefault(entry["lane"], []).append(name)
    return found


def check(config: Mapping[str, Any]) -> None:
    """Every metric and every backend that the configuration names is there, and the metrics' settings are right.

    Backends check their own settings when they are loaded: to import them here would load what they need. Those that ask a hosted
    model need nothing, and are checked here, before anything is paid.

    Raises:
        registry.Unavailable: one is not there (the message says which are), or a setting is unknown or wrong.
    """
    for name, entry in config["metrics"].items():
        known, plugin = registry.available("score"), module_of(name, entry)
        if plugin not in known:
            raise registry.Unavailable(f"metrics: no metric called {plugin!r}; this version has: {', '.join(known)}")
        if name != plugin and (plugin == OBJECTS_METRIC or name in known):
            why = "its prompter and segmenter are those of the run" if plugin == OBJECTS_METRIC else f"{name} is a metric itself"
            raise registry.Unavailable(f"metrics.{name}.module: {plugin} cannot be measured under this name: {why}")
        for family in (*BACKENDS, *OBJECT_BACKENDS):
            if family in entry and entry[family] not in (there := registry.available(f"score.{family}s")):
                raise registry.Unavailable(
                    f"metrics.{name}.{family}: no {family} called {entry[family]!r}; this version has: {', '.join(there) or 'none'}"
                )
            if family in entry:
                _check_hosted(f"metrics.{name}.{family}s.{entry[family]}", family, entry)
        try:
            registry.load("score", plugin).Settings.model_validate(metric(config, name).settings)
        except ValidationError as error:
            raise registry.Unavailable(f"metrics.{name}: wrong settings: {in_words(error)}") from error


def _check_hosted(place: str, family: str, entry: Mapping[str, Any]) -> None:
    settings = (entry.get(f"{family}s") or {}).get(entry[family]) or {}
    if "endpoint" in settings:
        try:
            registry.make(f"score.{family}s", entry[family], settings)
        except registry.Unavailable as error:
            raise registry.Unavailable(f"{place}: {error}") from error
