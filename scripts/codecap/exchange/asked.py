"""What of a passed-through request is asked of the model, so that a program that is started again asks the same.

Left out is what differs from one start to the next and means nothing to the model: ids of sessions and of items that a client makes
up, the times that Codex writes above what a command has printed, and the day and the machine that Codex and Claude Code tell before
a task. These are looked for where the agents put them, and never in what a model, a task or a command says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codecap.exchange.trying import Passed

VOLATILE: dict[str, tuple[str, ...]] = {  # dialect -> fields of the body
    "chat": ("metadata", "prompt_cache_key", "safety_identifier", "store", "user"),
    "responses": ("client_metadata", "metadata", "prompt_cache_key", "safety_identifier", "store", "user"),
    "messages": ("metadata",),
    "count": ("metadata",),
    "generate": ("labels",),
}
_TIMES = re.compile(r"^(Chunk ID: [0-9a-f]{1,16}|Wall time: [0-9.]{1,20} seconds)$", re.MULTILINE)
# what an agent says of its surroundings; the day is kept as a place, so that a text in which it stands elsewhere is another
_SURROUNDINGS = {
    "responses": re.compile(r"(?<=^  <current_date>)\d{4}-\d\d-\d\d(?=</current_date>$)", re.MULTILINE),
    "messages": re.compile(r"(?<=^Today's date is )\d{4}-\d\d-\d\d(?=\.$)|(?<=^ - OS Version: )\S+ \S{1,100}$", re.MULTILINE),
}
_SURROUNDINGS["count"] = _SURROUNDINGS["messages"]
_BEGINS = {"responses": "<environment_context>", "messages": "# Environment\n", "count": "# Environment\n"}
_APART = "sha256:"


def asked(request: Passed) -> dict[str, Any]:
    """A request's body as its digest is made of."""
    dialect, apart = request.dialect, request.light.apart
    body = {name: value for name, value in request.light.body.items() if name not in VOLATILE[dialect]}
    if dialect == "responses" and isinstance(body.get("input"), list):
        body["input"] = [_item(item, apart) for item in body["input"]]
    for name in {"responses": ("input",), "messages": ("system", "messages"), "count": ("system", "messages")}.get(dialect, ()):
        if isinstance(body.get(name), list):
            body[name] = [_anywhere(said, dialect, apart) for said in body[name]]
    return body


def _anywhere(said: Any, dialect: str, apart: Mapping[str, bytes]) -> Any:
    """A message, or a block of the system's words, without the day and the machine; what the model said itself is kept."""
    if not isinstance(said, dict) or said.get("role") == "assistant":
        return said
    told = dict(said)
    for name in ("content", "text"):
        if isinstance(told.get(name), str):
            told[name] = _without_surroundings(told[name], dialect, apart)
    if isinstance(told.get("content"), list):
        told["content"] = [_anywhere(part, dialect, apart) if _is_text(part) else part for part in told["content"]]
    return told


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("text", "input_text")


def _without_surroundings(text: str, dialect: str, apart: Mapping[str, bytes]) -> str:
    whole = _whole(text, apart)
    return _SURROUNDINGS[dialect].sub("", whole) if whole.startswith(_BEGINS[dialect]) else text


def _item(item: Any, apart: Mapping[str, bytes]) -> Any:
    """An item of a conversation; calls and their results keep the `call_id` that joins them."""
    if not isinstance(item, dict):
        return item
    kept = {name: value for name, value in item.items() if name != "id"}
    if str(item.get("type")).endswith("_call_output"):
        kept["output"] = _timeless(item.get("output"), apart)
    return kept


def _timeless(output: Any, apart: Mapping[str, bytes]) -> Any:
    if isinstance(output, list):
        return [
            part | {"text": _timeless(part["text"], apart)} if isinstance(part, dict) and "text" in part else part
            for part in output
        ]
    if not isinstance(output, str):
        return output
    return _TIMES.sub("", _whole(output, apart))


def _whole(text: str, apart: Mapping[str, bytes]) -> str:
    """A text that may be kept apart for its length."""
    long = apart.get(text.removeprefix(_APART)) if text.startswith(_APART) else None
    return text if long is None else long.decode("utf-8", "replace")
