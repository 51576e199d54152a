"""How a turn is said in each wire format: the events of a stream, and the whole answer.

OpenAI chat completions and responses, Anthropic messages and Google generateContent, as their providers document them. Calls of
tools have ids that say the turn's number, so that a request tells by itself how far the conversation is: agents ask again, and ask
beside. Google's calls need no ids: there they are counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from codecap.generate.agents.scripted.script import Turn
from codecap.records import Usage

CALL = re.compile(r"scripted_call_(\d+)")
SHELLS = ("bash", "Bash", "exec_command", "shell_command", "shell", "local_shell", "container.exec")
VIEWERS = ("view_image", "read", "Read")
Event = tuple[str, dict[str, Any]]


def turns_taken(body: Mapping[str, Any]) -> int:
    """How many turns with tools the conversation has had."""
    if "contents" in body:
        return sum("functionCall" in part for said in body["contents"] for part in said.get("parts") or [])
    return max((int(found) + 1 for found in CALL.findall(json.dumps(body))), default=0)


def tools_of(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tools that a request offers, each with its arguments' schema."""
    found = {}
    offered = [each for tool in body.get("tools") or [] for each in tool.get("functionDeclarations") or [tool]]
    for tool in offered:
        told = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        if "name" in told:
            found[told["name"]] = told.get("parameters") or told.get("input_schema") or told.get("parametersJsonSchema") or {}
    return found


def call_of(turn: Turn, tools: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any]] | None:
    """The tool and its arguments that do what a turn says; None where it only speaks, or no such tool is offered."""
    if turn.say is not None:
        return None
    if turn.use is not None:
        return turn.use if turn.use[0] in tools else None
    for name in SHELLS if turn.run is not None else VIEWERS:
        if name in tools:
            known = tools[name].get("properties", {})
            if turn.view is not None:
                return name, {next(key for key in ("path", "file_path") if key in known): turn.view}
            key = "cmd" if "cmd" in known else "command"
            is_list = known.get(key, {}).get("type") == "array"
            more = {"yield_time_ms": 30_000} if "yield_time_ms" in known else {}  # else Codex goes on after ten seconds
            return name, {key: ["bash", "-c", turn.run] if is_list else turn.run, **more}
    return None


def chat(model: str, number: int, call: tuple[str, dict] | None, text: str, usage: Usage) -> tuple[list[Event], dict[str, Any]]:
    """Chat completions: the chunks of a stream, the last with the usage, and the whole answer."""
    told = {
        "prompt_tokens": usage.input_uncached + usage.input_cache_read,
        "completion_tokens": usage.output,
        "total_tokens": usage.input_uncached + usage.input_cache_read + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.input_cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
    head = {"id": f"chatcmpl-{number}", "created": 1_790_000_000, "model": model}
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if call is None:
        deltas += [{"content": part} for part in _parts(text)]
    else:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        message["tool_calls"] = [{"id": f"scripted_call_{number}", "type": "function", "function": function}]
        deltas.append(
            {
                "tool_calls": [
                    {"index": 0, "id": f"scripted_call_{number}", "type": "function", "function": {**function, "arguments": ""}}
                ]
            }
        )
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": part}}]} for part in _parts(function["arguments"])]
    why = "stop" if call is None else "tool_calls"
    chunk = {**head, "object": "chat.completion.chunk"}
    events = [("", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    events.append(("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]}))
    events.append(("", {**chunk, "choices": [], "usage": told}))
    whole = {"index": 0, "message": message, "finish_reason": why}
    return events, {**head, "object": "chat.completion", "choices": [whole], "usage": told}


def responses(
    model: str, number: int, call: tuple[str, dict] | None, text: str, usage: Usage
) -> tuple[list[Event], dict[str, Any]]:
    """OpenAI's responses: the events of a stream, the last with the whole answer."""
    if call is None:
        content = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": f"msg_{number}", "status": "completed", "role": "assistant", "content": [content]}
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"scripted_call_{number}",
            "name": call[0],
            "arguments": json.dumps(call[1]),
            "status": "completed",
        }
    whole = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": model,
        "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": usage.input_uncached + usage.input_cache_read,
            "input_tokens_details": {"cached_tokens": usage.input_cache_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input_uncached + usage.input_cache_read + usage.output,
        },
    }
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    said = list(_spoken(item, call, text))
    events = [("response.created", {"response": begun}), *said, ("response.completed", {"response": whole})]
    return [(name, {"type": name, "sequence_number": at, **told}) for at, (name, told) in enumerate(events)], whole


def _spoken(item: dict[str, Any], call: tuple[str, dict] | None, text: str) -> Iterator[Event]:
    """The events of the one output item of a response."""
    place = {"item_id": item["id"], "output_index": 0}
    if call is None:
        yield "response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}}
        part = {"type": "output_text", "text": "", "annotations": []}
        yield "response.content_part.added", {**place, "content_index": 0, "part": part}
        for piece in _parts(text):
            yield "response.output_text.delta", {**place, "content_index": 0, "delta": piece}
        yield "response.output_text.done", {**place, "content_index": 0, "text": text}
        yield "response.content_part.done", {**place, "content_index": 0, "part": {**part, "text": text}}
    else:
        yield "response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress", "arguments": ""}}
        for piece in _parts(item["arguments"]):
            yield "response.function_call_arguments.delta", {**place, "delta": piece}
        yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
    yield "response.output_item.done", {"output_index": 0, "item": item}


def messages(model: str, number: int, call: tuple[str, dict] | None, text: str, usage: Usage) -> tuple[list[Event], dict[str, Any]]:
    """Anthropic's messages: the events of a stream, and the whole answer."""
    counted = {
        "input_tokens": usage.input_uncached,
        "cache_read_input_tokens": usage.input_cache_read,
        "cache_creation_input_tokens": usage.input_cache_write,
        "output_tokens": usage.output,
    }
    if call is None:
        block: dict[str, Any] = {"type": "text", "text": text}
        deltas = [{"type": "text_delta", "text": part} for part in _parts(text)]
        begun = {"type": "text", "text": ""}
    else:
        block = {"type": "tool_use", "id": f"toolu_scripted_call_{number}", "name": call[0], "input": call[1]}
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in _parts(json.dumps(call[1]))]
        begun = {**block, "input": {}}
    why = "end_turn" if call is None else "tool_use"
    whole = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": why,
        "stop_sequence": None,
        "usage": counted,
    }
    start = {**whole, "content": [], "stop_reason": None, "usage": {**counted, "output_tokens": 1}}
    events: list[Event] = [("message_start", {"message": start})]
    events.append(("content_block_start", {"index": 0, "content_block": begun}))
    events += [("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas]
    events.append(("content_block_stop", {"index": 0}))
    events.append(("message_delta", {"delta": {"stop_reason": why, "stop_sequence": None}, "usage": counted}))
    events.append(("message_stop", {}))
    return [(name, {"type": name, **told}) for name, told in events], whole


def content(model: str, number: int, call: tuple[str, dict] | None, text: str, usage: Usage) -> tuple[list[Event], dict[str, Any]]:
    """Google's generateContent: the events of its stream, the last with the usage, and the whole answer."""
    if call is None:
        parts: list[dict[str, Any]] = [{"text": part} for part in _parts(text)]
    else:
        parts = [{"functionCall": {"id": f"scripted_call_{number}", "name": call[0], "args": call[1]}}]
    told = {
        "promptTokenCount": usage.input_uncached + usage.input_cache_read,
        "cachedContentTokenCount": usage.input_cache_read,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input_uncached + usage.input_cache_read + usage.output,
    }
    head = {"modelVersion": model, "responseId": f"response-{number}"}

    def said(some: list[dict[str, Any]], last: bool) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": some}, **({"finishReason": "STOP"} if last else {})}
        return {"candidates": [candidate], **head, **({"usageMetadata": told} if last else {})}

    events = [("", said([part], at == len(parts) - 1)) for at, part in enumerate(parts)]
    return events, said(parts, True)


def as_told(wire: Any, usage: Usage) -> Usage:
    """What of a usage a wire format can say: Anthropic's does not tell how much was thought."""
    return usage.model_copy(update={"reasoning": 0}) if wire is messages else usage


def _parts(text: str) -> list[str]:
    """A text in pieces, as a stream brings it."""
    return [text[at : at + 40] for at in range(0, len(text), 40)]
