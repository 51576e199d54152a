"""What of a passed-through request is asked of the model, so that a program that is started again asks the same.

Left out is what differs from one start to the next and means nothing to the model: ids of sessions and of items that a client makes
up, and the times that Codex writes above what a command has printed.
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
_APART = "sha256:"


def asked(request: Passed) -> dict[str, Any]:
    """A request's body as its digest is made of."""
    body = {name: value for name, value in request.light.body.items() if name not in VOLATILE[request.dialect]}
    if request.dialect == "responses" and isinstance(body.get("input"), list):
        body["input"] = [_item(item, request.light.apart) for item in body["input"]]
    return body


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
    long = apart.get(output.removeprefix(_APART)) if output.startswith(_APART) else None
    return _TIMES.sub("", output if long is None else long.decode("utf-8", "replace"))
