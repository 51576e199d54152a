"""Plugins by name: `load("score", "kss")` is the module `codecap.score.kss`. There is no list to keep and no fallback."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from codecap.errors import UserError
from codecap.records import in_words


class Unavailable(UserError, LookupError):
    """A plugin that the config names is not there, or cannot run here; the message says what to do."""


def load(family: str, name: str) -> ModuleType:
    """Import a plugin when it is first needed.

    Args:
        family: folder of the package, dotted: "score", "score.encoders", "generate.harnesses".
        name: config key, module name and wildcard value, all the same.

    Raises:
        Unavailable: no such plugin (the message names those there are), or a package that it needs is not installed.
    """
    _must_be_there(family, name)
    try:
        return importlib.import_module(f"codecap.{family}.{name}")
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("codecap"):
            raise
        raise Unavailable(f"{family} {name!r} needs the package {error.name!r}: pip install {error.name}") from error


def _must_be_there(family: str, name: str) -> None:
    known = available(family)
    if name not in known:
        raise Unavailable(f"no {family} called {name!r}; this version has: {', '.join(known) or 'none'}")


def make(family: str, name: str, settings: Mapping[str, Any]) -> Any:
    """Load a plugin and call its `load(settings)`.

    Raises:
        Unavailable: as `load`, or a setting is unknown or wrong.
    """
    module = load(family, name)
    try:
        return module.load(settings)
    except ValidationError as error:
        raise Unavailable(f"{family} {name}: wrong settings: {in_words(error)}") from error
    except ValueError as error:
        raise Unavailable(f"{family} {name}: wrong settings: {error}") from error


def available(family: str) -> list[str]:
    """Names of a family's plugins: the modules of its folder (its sub-folders are other families)."""
    package = importlib.import_module(f"codecap.{family}")
    return sorted(found.name for found in pkgutil.iter_modules(package.__path__) if not found.ispkg)


@functools.cache
def said(family: str, name: str, constant: str, default: Any) -> Any:
    """A constant that a plugin's module sets at its top, read from its source: the plugin and what it needs are not imported.

    Raises:
        Unavailable: there is no such plugin.

    >>> said("generate.harnesses", "reference", "NETWORK", default=True)
    False
    """
    _must_be_there(family, name)
    package = importlib.import_module(f"codecap.{family}")
    source = Path(package.__path__[0]) / f"{name}.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == constant for target in node.targets):
            return ast.literal_eval(node.value)
    return default
