"""What in a request would have the provider do more than answer, or be billed by a price that the price table does not have.

Google's API reads each name in two spellings, `fileData` and `file_data`, and both may be there at once: so names are compared
whatever their spelling, and all values that go by a name are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from codecap.exchange.bodies import DEEPEST

# tools that the agent runs itself; all others run at the provider
_OWN_TOOLS = re.compile(
    r"function|custom|namespace|tool_search|local_shell|shell|apply_patch|(bash|text_editor|memory|computer)(_\d+)?"
)
_NOT_COUNTED = {  # fields with which an answer would not be counted right, or had elsewhere -> values that change nothing
    "background": (None, False),
    "service_tier": (None, "auto", "default", "standard", "standard_only"),
    "speed": (None, "standard"),
    "inference_geo": (None, "global"),
    "mcp_servers": (None, []),
    "web_search_options": (None,),
    "container": (None,),
    "cached_content": (None,),
}
_SHORT_CACHE = (None, "5m")  # a longer one is written at another price
_SHOWN = ("image_url", "video_url", "audio_url", "file_url", "input_image", "input_file", "input_video", "file")
_ADDRESSES = ("image_url", "video_url", "audio_url", "file_url")


def _flat(name: str) -> str:
    """The same for every spelling of a name."""
    return name.replace("_", "").lower()


_HARMLESS = {_flat(name): values for name, values in _NOT_COUNTED.items()}


class NotAllowed(Exception):
    """The message is for the client; `noted` is what it was, for the tally."""

    def __init__(self, told: str, noted: str) -> None:
        super().__init__(told)
        self.noted = noted


def check(dialect: str, body: dict[str, Any]) -> None:
    """Raises NotAllowed: the body asks for more than an answer."""
    for name, value in body.items():
        if value not in _HARMLESS.get(_flat(name), (value,)):
            raise NotAllowed(f"{name[:80]} is not allowed here", f"field {name[:80]}")
    for tool in _tools(dialect, body):
        kind = _hosted(dialect, tool)
        if kind is not None:
            raise NotAllowed(f"the tool {kind!r} would run at the provider; it is not allowed here", f"tool {kind}")
    for part in _parts(dialect, body, 0):
        if any(isinstance(address, str) and not address.startswith("data:") for address in _addresses(part)):
            raise NotAllowed("pictures and files by address are not allowed here; send their data", "media by address")
        if any(cache.get("ttl") not in _SHORT_CACHE for cache in _dicts(part, "cache_control")):
            raise NotAllowed("a cache that lives longer than 5m is not allowed here", "field cache_control.ttl")


def _tools(dialect: str, body: dict[str, Any]) -> Iterator[Any]:
    """All that a request offers: its own, those within others, and those that a turn brings."""
    yield from _tools_of(body, 0)
    turns = body.get("input") if dialect == "responses" else None
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict):
            yield from _tools_of(turn, 0)


def _tools_of(holder: dict[str, Any], depth: int) -> Iterator[Any]:
    told = holder.get("tools")
    if told is None:
        return
    if not isinstance(told, list) or depth > DEEPEST:
        raise NotAllowed("tools must be a list of tools", "tools that are no list")
    for tool in told:
        yield tool
        if isinstance(tool, dict):
            yield from _tools_of(tool, depth + 1)


def _hosted(dialect: str, tool: Any) -> str | None:
    """The name of a tool that would run at the provider; None where it is the agent's own."""
    if not isinstance(tool, dict):
        return "unknown"
    if dialect == "generate":
        return next((name[:80] for name in tool if _flat(name) != "functiondeclarations"), None)
    kind = tool.get("type", "custom")
    if isinstance(kind, str) and _OWN_TOOLS.fullmatch(kind):
        environment = tool.get("environment")
        if kind == "shell" and isinstance(environment, dict) and environment.get("type") not in (None, "local"):
            return "shell in a container"
        return None
    return str(kind)[:80]


def _parts(dialect: str, value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """All objects of a body, but for what a model has called a tool with: nobody reads that as pictures."""
    if depth > DEEPEST:  # such a body is not passed on
        return
    if isinstance(value, dict):
        yield value
        inner = [item for name, item in value.items() if not _are_arguments(dialect, value, name)]
    else:
        inner = value if isinstance(value, list) else []
    for item in inner:
        yield from _parts(dialect, item, depth + 1)


def _are_arguments(dialect: str, part: dict[str, Any], name: str) -> bool:
    if dialect == "generate":
        return name == "args"
    return name == "input" and part.get("type") == "tool_use"


def _addresses(part: dict[str, Any]) -> Iterator[Any]:
    """Where pictures and files of a part lie."""
    kind = part.get("type")
    if kind in _SHOWN:
        for name in _ADDRESSES:
            for told in _values(part, name):
                yield told.get("url") if isinstance(told, dict) else told
    if kind in ("image", "document"):
        yield from (source.get("url") for source in _dicts(part, "source"))
    for file in _dicts(part, "file_data"):
        yield from _values(file, "file_uri")


def _values(part: dict[str, Any], name: str) -> list[Any]:
    flat = _flat(name)
    return [value for spelt, value in part.items() if _flat(spelt) == flat]


def _dicts(part: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [value for value in _values(part, name) if isinstance(value, dict)]
