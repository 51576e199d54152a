"""How much a request asks its model to think, in the words of an endpoint's `thinking`."""

from __future__ import annotations

from typing import Any

from codecap.generate.gateway.tally import NOT_TOLD


def seen(dialect: str, body: dict[str, Any]) -> str:
    """A level, a number of tokens, "off", or `NOT_TOLD`.

    >>> seen("responses", {"reasoning": {"effort": "xhigh"}}), seen("chat", {"reasoning_effort": "none"})
    ('xhigh', 'off')
    >>> seen("messages", {"thinking": {"type": "enabled", "budget_tokens": 4096}}), seen("generate", {})
    ('4096', 'not told')
    """
    told = {"chat": _chat, "responses": _responses, "messages": _messages, "generate": _generate}[dialect](body)
    if told is None or told == "":
        return NOT_TOLD
    told = str(told).lower()[:40]
    return "off" if told in ("none", "disabled", "0") else told


def _at(told: Any, *names: str) -> Any:
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told


def _chat(body: dict[str, Any]) -> Any:
    return body.get("reasoning_effort") or _at(body, "reasoning", "effort")


def _responses(body: dict[str, Any]) -> Any:
    return _at(body, "reasoning", "effort")


def _messages(body: dict[str, Any]) -> Any:
    """An effort holds for all that is written; a budget is for thinking alone, and older."""
    kind = _at(body, "thinking", "type")
    if kind == "disabled":
        return "off"
    return _at(body, "output_config", "effort") or (_at(body, "thinking", "budget_tokens") if kind == "enabled" else kind)


def _generate(body: dict[str, Any]) -> Any:
    config = _at(body, "generationConfig", "thinkingConfig")
    level = _at(config, "thinkingLevel")
    return _at(config, "thinkingBudget") if level is None else level
