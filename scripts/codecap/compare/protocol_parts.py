"""Where some settings are not as the paper has them, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

NOT_SET = object()


def differences(settings: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """In words, a part each. A part that is not set stands at its default, which is the paper's.

    Args:
        wanted: what the paper has, by the path of keys to it; `*` in a text stands for whatever a provider puts into a name.

    >>> list(differences({"judge": "mllm", "judges": {"mllm": {"repeats": 3}}}, {"judge": "mllm", "judges.mllm.repeats": 1}))
    ["judges.mllm.repeats is 3; the paper's is 1"]
    """
    for path, value in wanted.items():
        found: Any = settings
        for key in path.split("."):
            found = found.get(key, NOT_SET) if isinstance(found, Mapping) else NOT_SET
        if found is not NOT_SET and found != value and not _named_like(found, value):
            yield f"{path} is {found}; the paper's is {value}"


def _named_like(found: Any, value: Any) -> bool:
    return isinstance(found, str) and isinstance(value, str) and "*" in value and fnmatchcase(found, value)
