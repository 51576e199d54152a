"""What a system's entry in `models` gives its harness, and which key it needs; read without importing a harness."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from codecap import config as configuration
from codecap import registry
from codecap.errors import UserError
from codecap.records import in_words

if TYPE_CHECKING:
    from codecap.exchange import Endpoint

FAMILY = "generate.harnesses"


def settings_of(config: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an entry's harness: its own keys, over the sections of the configuration that the harness shares."""
    harness, settings = entry["harness"], configuration.harness_settings(entry)
    section = registry.said(FAMILY, harness, "SHARES", default=None)
    if section is not None:
        settings = configuration.laid_over(config.get(section) or {}, settings)
    if registry.said(FAMILY, harness, "RENDERS", default=False):
        settings["render"] = dict(config["render"])
    return settings


def longest_run_s(settings: Mapping[str, Any]) -> float:
    """Most that one clip may take; 0 where the settings give a run no deadline."""
    told = settings.get("deadline_s")
    return float(told) if isinstance(told, int | float) else 0.0


def makes_texts(entry: Mapping[str, Any]) -> bool:
    return bool(registry.said(FAMILY, entry["harness"], "TEXT", default=False))


def asks_its_endpoint(entry: Mapping[str, Any]) -> bool:
    """Whether an entry's harness asks the model of the entry's `endpoint`."""
    said = {name: registry.said(FAMILY, entry["harness"], name, default=None) for name in ("PAID", "FROM")}
    return bool(said["PAID"]) and said["FROM"] is None


def endpoints(config: Mapping[str, Any]) -> Iterator[Endpoint]:
    """Of the systems that take part and ask a hosted model, in their order.

    Raises:
        UserError: one is wrong; the message names it.
    """
    from codecap.exchange import Endpoint

    for name, entry in configuration.systems(config).items():
        if asks_its_endpoint(entry) and entry.get("serve") is None and entry.get("endpoint") is not None:
            try:
                yield Endpoint.model_validate(entry["endpoint"])
            except ValidationError as error:
                raise UserError(f"models.{name}.endpoint: {in_words(error)}") from error


def sources_of(entry: Mapping[str, Any]) -> list[str]:
    """Name of the system whose captions an entry's harness starts from; none where it starts from the clips."""
    key = registry.said(FAMILY, entry["harness"], "FROM", default=None)
    return [] if key is None else [str(entry.get(key, ""))]


def without_source(systems: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Those of some systems that start from captions which none of the others makes, each with what is wrong in words."""
    texts = [name for name, entry in systems.items() if makes_texts(entry)]
    there, found = ", ".join(texts) or "none", []
    for name, entry in systems.items():
        key = registry.said(FAMILY, entry["harness"], "FROM", default=None)
        for source in sources_of(entry):
            if source not in texts:
                told = f"must name a system of texts that takes part, not {source!r}; there are: {there}"
                found.append((name, f"models.{name}.{key}: {told}"))
    return found


def keys_of(entry: Mapping[str, Any]) -> list[str]:
    """Names of the environment variables that hold an entry's keys: those that `key_env` names, wherever in it."""
    found = [entry["key_env"]] if isinstance(entry.get("key_env"), str) else []
    if isinstance(entry.get("videos"), Mapping):  # settings of makers: of the one that is chosen
        entry = {**entry, "videos": {name: told for name, told in entry["videos"].items() if name == entry.get("video")}}
    return [*found, *(key for told in entry.values() if isinstance(told, Mapping) for key in keys_of(told))]


def without_key(systems: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[str]]:
    """Those of some systems whose key is not in the environment, by the variable's name."""
    missing: dict[str, list[str]] = {}
    for name in names:
        for key in dict.fromkeys(keys_of(systems[name])):
            if not os.environ.get(key, "").strip():
                missing.setdefault(key, []).append(name)
    return missing
