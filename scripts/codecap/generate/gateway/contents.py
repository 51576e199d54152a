"""What in a request would have the provider do more than answer, or be billed by a price that the price table does not have.

Google's API reads each name in two spellings, `fileData` and `file_data`, and both may be there at once: so names are compared
whatever their spelling, and all values that go by a name are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from codecap.exchange.bodies import DEEPEST
from codecap.generate.gateway import fields
from codecap.generate.gateway.fields import flat

# tools that the agent runs itself; all others run at the provider
_OWN_TOOLS = re.compile(
    r"function|custom|namespace|tool_search|local_shell|shell|apply_patch|(bash|text_editor|memory|computer)(_\d+)?"
)
_SHORT_CACHE = (None, "5m")  # a longer one is written at another price
_ADDRESSES = frozenset(map(flat, ("image_url", "video_url", "audio_url", "file_url", "file_uri")))  # only data is taken there
_STORED = frozenset(map(flat, ("file_id", "file_ids", "container_id")))
_AT_THE_PROVIDER = "what lies at the provider is not allowed here; send it"
_CONVERSATION = frozenset(map(flat, ("messages", "input", "contents", "system", "instructions", "system_instruction")))
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
# names of what a model reads as words; all else that looks like an address, a server may take for one
_SPOKEN = "text content input output instructions system refusal title context cited_text name arguments stdout stderr diff"
_THOUGHT = "thinking signature reasoning reasoning_content reasoning_text summary encrypted_content thought_signature"
_WORDS = frozenset(map(flat, f"{_SPOKEN} {_THOUGHT}".split()))
# what a model has told a tool, or a program has printed, as objects of any names: dialect -> name -> types of what holds it
_ARGUMENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "messages": {"input": ("tool_use",)},
    "count": {"input": ("tool_use",)},
    "responses": {"action": ("local_shell_call", "shell_call"), "arguments": ("tool_search_call",)},
}


class NotAllowed(Exception):
    """The message is for the client; `noted` is what it was, for the tally."""

    def __init__(self, told: str, noted: str) -> None:
        super().__init__(told)
        self.noted = noted


def check(dialect: str, body: dict[str, Any]) -> None:
    """Raises NotAllowed: the body asks for more than an answer."""
    for name in fields.unknown(dialect, body):
        raise NotAllowed(f"{name[:80]} is not allowed here", f"field {name[:80]}")
    for tool in _tools(dialect, body):
        kind = _hosted(dialect, tool)
        if kind is not None:
            raise NotAllowed(f"the tool {kind!r} would run at the provider; it is not allowed here", f"tool {kind}")
    _must_live_shortly(body)
    for name, value in body.items():
        for part, said in _parts(dialect, value, name, flat(name) in _CONVERSATION, 1):
            _must_live_shortly(part)
            if said:
                _must_be_data(part)


def _must_live_shortly(part: dict[str, Any]) -> None:
    """Raises NotAllowed: a part is to be cached at another price."""
    if any(cache.get("ttl") not in _SHORT_CACHE for cache in _dicts(part, "cache_control")):
        raise NotAllowed("a cache that lives longer than 5m is not allowed here", "field cache_control.ttl")


def _must_be_data(part: dict[str, Any]) -> None:
    """Raises NotAllowed: a part of a conversation is to be had from elsewhere."""
    for spelt, told in part.items():
        name = flat(spelt)
        if name in _STORED and told:
            raise NotAllowed(_AT_THE_PROVIDER, "what lies at the provider")
        held = told.get("url") if isinstance(told, dict) and (name in _ADDRESSES or name == "source") else told
        only_data = name in _ADDRESSES or held is not told
        if any(_is_elsewhere(text, name, only_data) for text in _texts(held)):
            raise NotAllowed("pictures and files by address are not allowed here; send their data", "media by address")
    if part.get("type") == "item_reference":
        raise NotAllowed(_AT_THE_PROVIDER, "what lies at the provider")


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
        return next((name[:80] for name in tool if flat(name) != "functiondeclarations"), None)
    kind = tool.get("type", "custom")
    if isinstance(kind, str) and _OWN_TOOLS.fullmatch(kind):
        environment = tool.get("environment")
        if kind == "shell" and isinstance(environment, dict) and environment.get("type") not in (None, "local"):
            return "shell in a container"
        return None
    return str(kind)[:80]


def _parts(dialect: str, value: Any, held_as: str, said: bool, depth: int) -> Iterator[tuple[dict[str, Any], bool]]:
    """All objects within a value, and whether each is a part of the conversation.

    None of what a model has told a tool, or a program has printed, in any names: nobody reads that as pictures.

    Args:
        held_as: the name that the value goes by.
        said: whether it is of the conversation; the tools that a turn brings are not.
    """
    if depth > DEEPEST:  # such a body is not passed on
        return
    if isinstance(value, list):
        for item in value:
            yield from _parts(dialect, item, held_as, said, depth + 1)
    elif isinstance(value, dict):
        yield value, said
        for name, item in value.items():
            if not _are_arguments(dialect, value, name, held_as):
                yield from _parts(dialect, item, name, said and name != "tools", depth + 1)


def _are_arguments(dialect: str, part: dict[str, Any], name: str, held_as: str) -> bool:
    if dialect == "generate":
        return (flat(held_as), flat(name)) in (("functioncall", "args"), ("functionresponse", "response"))
    return part.get("type") in _ARGUMENTS.get(dialect, {}).get(name, ())


def _is_elsewhere(text: str, name: str, only_data: bool) -> bool:
    """Whether a text is an address, or may be taken for one, by the name that it goes by."""
    if only_data:
        return not text.startswith("data:")
    return name not in _WORDS and _ADDRESS.match(text) is not None


def _texts(told: Any) -> list[str]:
    """A text, or the texts of a list."""
    return [told] if isinstance(told, str) else [text for text in told if isinstance(text, str)] if isinstance(told, list) else []


def _dicts(part: dict[str, Any], name: str) -> list[dict[str, Any]]:
    told = flat(name)
    return [value for spelt, value in part.items() if flat(spelt) == told and isinstance(value, dict)]
