"""The configuration: where its files lie, how they are laid over one another, and what may be in them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from codecap.errors import UserError

PROJECT = Path(__file__).parents[2]
FILES = tuple(PROJECT / "config" / name for name in ("config.yaml", "metrics.yaml", "models.yaml", "sources.yaml", "cluster.yaml"))
_ABSENT = object()
SCHEMA = PROJECT / "config" / "schemas" / "config.schema.yaml"


class ConfigError(UserError, ValueError):
    """A configuration that cannot be used; the message names the key and the way out."""


def load(*overlays: Path, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The project's configuration with files and single keys laid over it, checked.

    Raises:
        ConfigError: a file cannot be read, or `check` finds something.
    """
    config: dict[str, Any] = {}
    for path in (*FILES, *overlays):
        config = laid_over(config, read(path))
    config = laid_over(config, overrides or {})
    drop_removed(config)
    check(config, files=(*FILES, *overlays))
    return config


def read(path: Path) -> dict[str, Any]:
    try:
        told = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such configuration file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a configuration file: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(told, dict):
        raise ConfigError(f"{path}: must be a mapping of keys to values")
    return told


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings merge key by key, anything else is replaced.

    >>> laid_over({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
    {'a': {'b': 3, 'c': 2}}
    """
    merged = dict(below)
    for key, value in above.items():
        lower = merged.get(key)
        merged[key] = laid_over(lower, value) if isinstance(lower, Mapping) and isinstance(value, Mapping) else value
    return merged


def drop_removed(config: dict[str, Any]) -> None:
    """Take out entries of `metrics`, `models` and `sources` that a file above removed by giving them no value.

    >>> config = {"metrics": {"kss": {"lane": "cpu"}, "lag": None}}
    >>> drop_removed(config)
    >>> config
    {'metrics': {'kss': {'lane': 'cpu'}}}
    """
    for section in ("metrics", "models", "sources"):
        if isinstance(config.get(section), Mapping):
            config[section] = {name: entry for name, entry in config[section].items() if entry is not None}


def read_values(config: dict[str, Any], told: Mapping[str, Any]) -> None:
    """Read again what came from Snakemake's command line, which leaves numbers and words like `null` inside a mapping as text.

    >>> config = {"exchange": {"budget_usd": "500", "prices": "mine.yaml"}, "humans": "null"}
    >>> read_values(config, {"exchange": {"budget_usd": "500"}, "humans": "null"})
    >>> config
    {'exchange': {'budget_usd': 500, 'prices': 'mine.yaml'}, 'humans': None}
    """
    for key, value in told.items():
        if isinstance(value, Mapping) and isinstance(config.get(key), dict):
            read_values(config[key], value)
        elif config.get(key) == value:
            config[key] = _typed(value)


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _typed(item) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    try:
        read = yaml.load(value, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return value
    return read if read is None or isinstance(read, bool | int | float) else value


def check(config: Mapping[str, Any], files: Sequence[Path] = FILES) -> None:
    """Refuse unknown keys and wrong values.

    Args:
        files: where the configuration came from, to name the one that holds a wrong key.

    Raises:
        ConfigError: all problems in one message, each with its place and, for a misspelt key, the right one.
    """
    from jsonschema import Draft202012Validator

    schema = yaml.load(SCHEMA.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    problems = [line for error in Draft202012Validator(schema).iter_errors(config) for line in _in_words(error, files)]
    models = config.get("models")
    for name in config["systems"] if isinstance(config.get("systems"), list) and isinstance(models, Mapping) else []:
        if name not in models:
            problems.append(f"systems: {name!r} is not in models; there are {', '.join(config.get('models', {}))}")
    if problems:
        raise ConfigError("the configuration is wrong:\n  " + "\n  ".join(problems))


def _in_words(error: Any, files: Sequence[Path]) -> Iterator[str]:
    place = [str(part) for part in error.absolute_path]
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for key in [key for key in error.instance if key not in known]:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            yield f"{_where([*place, key], error.instance[key], files)}: unknown key; {hint}"
    else:
        described = error.schema.get("description", "") if isinstance(error.schema, Mapping) else ""
        yield f"{_where(place, error.instance, files)}: {error.message}" + (f" ({described})" if described else "")


def _where(place: list[str], value: Any, files: Sequence[Path]) -> str:
    """The key, and the last file that gives it this value (a value from the command line is in none)."""
    for path in reversed(files):
        held: Any = read(path) if Path(path).is_file() else {}
        for part in place:
            held = held.get(part, _ABSENT) if isinstance(held, Mapping) else _ABSENT
        if place and held == value:
            return f"{path}: {'.'.join(place)}"
    return ".".join(place) or "configuration"


def find(path: str | Path) -> Path:
    """An input that the configuration names: relative to the working folder or, if nothing is there, to the project's.

    So the project's own files (`resources/demo/clips.tsv`) are found from a working folder elsewhere.
    """
    path = Path(path)
    return path if path.is_absolute() or path.exists() or not (PROJECT / path).exists() else PROJECT / path


def systems(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of `models` that take part: those that are named, or all that are not `enabled: false`."""
    chosen = config["systems"]
    if chosen == "all":
        chosen = [name for name, entry in config["models"].items() if entry.get("enabled", True)]
    return {name: dict(config["models"][name]) for name in chosen}


def harness_settings(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a harness gets of a system's entry in `models`: all but what names and groups it."""
    return {key: value for key, value in entry.items() if key not in ("label", "role", "agentic", "enabled", "series", "harness")}


def chosen(settings: Mapping[str, Any], *families: str) -> dict[str, Any]:
    """A slice of the configuration without the settings of the backends that it does not use.

    >>> chosen({"encoder": "a", "encoders": {"a": {"k": 1}, "b": {}}}, "encoder")
    {'encoder': 'a', 'encoders': {'a': {'k': 1}}}
    """
    kept = dict(settings)
    for family in families:
        if family in kept:
            name = kept[family]
            kept[f"{family}s"] = {name: dict((kept.get(f"{family}s") or {}).get(name) or {})}
        else:
            kept.pop(f"{family}s", None)
    return kept
