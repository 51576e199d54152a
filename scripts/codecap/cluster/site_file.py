"""config/cluster.yaml, changed line by line: its comments and its order are kept."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from codecap import config as configuration
from codecap.errors import UserError
from codecap.records import write_whole

_VALUE = r"""\"[^\"]*\"|'(?:[^']|'')*'|(?:[^\s#]|(?<!\s)#|[ \t]+(?!#))*?"""  # quoted, or plain: a # after a space begins a comment
FILE = configuration.PROJECT / "config" / "cluster.yaml"


def changed(text: str, values: Mapping[str, Any]) -> str:
    """The file's text with other values of section `cluster`.

    >>> print(changed("cluster:\\n  qos: null    # which\\n", {"qos": "long"}))
    cluster:
      qos: long    # which
    <BLANKLINE>

    Raises:
        UserError: a key is not in the text, so that it cannot be put in its place.
    """
    lines = text.splitlines(keepends=True)
    for key, value in values.items():
        at = [number for number, line in enumerate(lines) if re.match(rf"  {re.escape(key)}:(\s|$)", line)]
        if len(at) != 1:
            raise UserError(f"{FILE}: has no line `{key}:` in section cluster; add it, or take the file as it came")
        lines[at[0]] = _line(lines[at[0]], key, value)
    return "".join(lines)


def _line(line: str, key: str, value: Any) -> str:
    """The comment stays in its column where the value leaves room for it."""
    found = re.match(rf"  \w+:[ \t]*({_VALUE})[ \t]*(?P<comment>(?<=\s)#.*)?\n?$", line)
    assert found is not None, line
    told = f"  {key}: {_scalar(value)}"
    comment = found["comment"]
    if not comment:
        return f"{told}\n"
    column = found.start("comment")
    return f"{told}{' ' * max(column - len(told), 1)}{comment}\n"


def _scalar(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("\n").removesuffix("\n...")


def write(values: Mapping[str, Any], path: Path | None = None) -> str:
    """Put the values in config/cluster.yaml, or in another file like it; returns the difference, "" when there is none.

    Raises:
        UserError: the file cannot be read, written, or does not hold a key.
    """
    path = path or FILE
    try:
        before = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    after = changed(before, values)
    if after != before:
        write_whole(path, [after])
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), str(path), str(path), n=0))
