"""Which weights a configuration needs: asked of the table and the configuration alone, no backend is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap import weights

GIVEN = ("checkpoint", "folder", "code")  # settings of backends that name a file or a folder of the user's


def of(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Entries that the configured metrics need, each with the plugins that need it."""
    found: dict[str, list[str]] = {}
    for plugin, settings in plugins(config):
        for name in weights.needed(plugin, settings):
            users = found.setdefault(name, [])
            if plugin not in users:
                users.append(plugin)
    return found


def plugins(config: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Metrics and their backends, and what makes videos or serves a model, as configured: dotted name and settings."""
    from codecap.score.engine.choice import BACKENDS, OBJECT_BACKENDS  # which asks for `revisions` in turn

    named = []
    for name, entry in config["metrics"].items():
        named.append((f"score.{entry.get('module', name)}", dict(entry)))
        for family in (*BACKENDS, *OBJECT_BACKENDS):
            if family in entry:
                settings = (entry.get(f"{family}s") or {}).get(entry[family]) or {}
                named.append((f"score.{family}s.{entry[family]}", dict(settings)))
    named.append((f"shots.{config['shots'].get('detector', '')}", dict(config["shots"])))
    for entry in configuration.systems(config).values():
        if maker := entry.get("video"):
            named.append((f"generate.videos.{maker}", dict((entry.get("videos") or {}).get(maker) or {})))
        if chosen := (entry.get("serve") or {}).get("weights"):
            named.append(("generate.serve", {"weights": chosen}))
    return named


def revisions(plugin: str, settings: Mapping[str, Any]) -> list[str]:
    """What the weights of a plugin are, as far as it is known without reading them: for the keys of what it makes.

    The table's commits and digests; where it has none, those of the first fetch; `unknown` before that. Of files that the settings
    name: sizes and times of change.
    """
    from codecap.weights import manifest

    told = [f"{key} {weights.mark(Path(settings[key]))}" for key in GIVEN if settings.get(key)]
    for name in weights.needed(plugin, settings):
        for part in weights.entry(name).parts:
            told.append(f"{name} {part.into} {part.revision or part.sha256 or manifest.recorded(name, part)}")
    return told


def to_prepare(names: Iterable[str]) -> list[str]:
    """Those of the entries that have a form which loads faster."""
    return [name for name in names if weights.entry(name).prepare]


def also_for_preparing(name: str) -> list[str]:
    """What else must be fetched before an entry can be prepared: the code that all users of its kind need."""
    kind = f"score.encoders.{weights.entry(name).prepare}"
    return [other for other, told in weights.table().items() if kind in told.needed_by]


def as_values(name: str) -> dict[str, Any]:
    """An entry's sources as plain values, for a rule's params: an edit of them fetches anew."""
    return {"parts": [part.model_dump(mode="json") for part in weights.entry(name).parts]}
