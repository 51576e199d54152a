"""What the configuration chooses: for each metric its settings, its backends, and the digest of the code that makes its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from codecap import registry
from codecap.config import chosen
from codecap.fingerprint import code_digest
from codecap.records import in_words

BACKENDS = ("encoder", "tracker", "judge")  # of a metric; prompter and segmenter have stages of their own
OBJECT_BACKENDS = ("prompter", "segmenter")
OBJECTS_METRIC = "object_iou"  # whose entry names the prompter and the segmenter


@dataclass(frozen=True)
class Choice:
    """One metric or backend as configured. Plain values: it travels in a rule's params and in the store's keys."""

    name: str
    settings: dict[str, Any]
    code: str  # digest of the module, of its backend, and of all that they import

    @property
    def salt(self) -> list[Any]:
        return [self.name, self.settings, self.code]

    def module(self) -> ModuleType:
        return registry.load("score", self.name)


def metric(config: Mapping[str, Any], name: str) -> Choice:
    """A metric's entry in `metrics`, without its lane and without the settings of backends that it does not use."""
    entry = {key: value for key, value in config["metrics"][name].items() if key != "lane"}
    for family in OBJECT_BACKENDS:
        entry.pop(family, None)
        entry.pop(f"{family}s", None)
    settings = chosen(entry, *BACKENDS)
    backends = [f"codecap.score.{family}s.{settings[family]}" for family in BACKENDS if family in settings]
    return Choice(name, settings, code_digest(f"codecap.score.{name}", "codecap.score.engine.watching", *backends))


def backend(config: Mapping[str, Any], family: str) -> Choice:
    """The prompter or the segmenter of the objects metric."""
    entry = config["metrics"][OBJECTS_METRIC]
    name = entry[family]
    settings = dict((entry.get(f"{family}s") or {}).get(name) or {})
    return Choice(name, settings, code_digest(f"codecap.score.{family}s.{name}"))


def shots(config: Mapping[str, Any]) -> Choice:
    return Choice("shots", dict(config["shots"]), code_digest("codecap.shots"))


def lanes(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Metrics of each lane that has any, both in the configuration's order."""
    found: dict[str, list[str]] = {}
    for name, entry in config["metrics"].items():
        found.setdefault(entry["lane"], []).append(name)
    return found


def check(config: Mapping[str, Any]) -> None:
    """Every metric and every backend that the configuration names is there, and the metrics' settings are right.

    Backends check their own settings when they are loaded: to import them here would load what they need.

    Raises:
        registry.Unavailable: one is not there (the message says which are), or a setting is unknown or wrong.
    """
    for name, entry in config["metrics"].items():
        known = registry.available("score")
        if name not in known:
            raise registry.Unavailable(f"metrics: no metric called {name!r}; this version has: {', '.join(known)}")
        for family in (*BACKENDS, *OBJECT_BACKENDS):
            if family in entry and entry[family] not in (there := registry.available(f"score.{family}s")):
                raise registry.Unavailable(
                    f"metrics.{name}.{family}: no {family} called {entry[family]!r}; this version has: {', '.join(there) or 'none'}"
                )
        try:
            registry.load("score", name).Settings.model_validate(metric(config, name).settings)
        except ValidationError as error:
            raise registry.Unavailable(f"metrics.{name}: wrong settings: {in_words(error)}") from error
