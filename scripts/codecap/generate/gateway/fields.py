"""The fields that a request's body may have: those with which a model is asked for an answer, and no others.

Servers know many more, and each may be a way around the sandbox's walls or the price table: a search in the web (`enable_search`,
`plugins`, `search_parameters`), other models in the place of this one (`models`, `fallbacks`), what lies at the provider from
elsewhere (`previous_response_id`, `conversation`, `prompt`, `cachedContent`). So what is not known is kept back. A field that is
null is not given.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

_SAMPLING = "temperature top_p top_k seed"
_CHAT = f"""{_SAMPLING} min_p repetition_penalty presence_penalty frequency_penalty logit_bias logprobs top_logprobs stop n
    model messages stream stream_options tools tool_choice tool_stream parallel_tool_calls functions function_call response_format
    max_tokens max_completion_tokens reasoning reasoning_effort reasoning_split include_reasoning thinking enable_thinking
    thinking_budget preserve_thinking chat_template_kwargs verbosity modalities prompt_cache_key prompt_cache_retention
    cache_control service_tier metadata safety_identifier store user"""
_RESPONSES = f"""{_SAMPLING} top_logprobs model input instructions stream stream_options tools tool_choice parallel_tool_calls
    max_output_tokens max_tool_calls reasoning text include truncation background prompt_cache_key prompt_cache_retention
    service_tier client_metadata metadata safety_identifier store user"""
_MESSAGES = f"""{_SAMPLING} stop_sequences model messages system stream tools tool_choice max_tokens thinking output_config
    output_format context_management diagnostics cache_control service_tier speed inference_geo mcp_servers metadata"""
_GENERATE = """contents system_instruction tools tool_config safety_settings generation_config service_tier labels model"""

_ONE = (1,)
_STANDARD = ("auto", "default", "standard", "standard_only")
_VALUES: dict[str, tuple[Any, ...]] = {  # fields with which an answer would not be counted right -> values that change nothing
    "background": (False,),
    "service_tier": _STANDARD,
    "speed": ("standard",),
    "inference_geo": ("global",),
    "mcp_servers": ([],),
    "n": _ONE,
    "modalities": (["text"],),
    "stream": (False, True),
}
_GENERATION_VALUES: dict[str, tuple[Any, ...]] = {"candidate_count": _ONE, "response_modalities": (["TEXT"], ["text"])}


@functools.lru_cache(maxsize=2000)
def flat(name: str) -> str:
    """The same for every spelling of a name: Google reads `fileData` and `file_data`."""
    return name.replace("_", "").lower()


def _flat_all(values: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {flat(name): allowed for name, allowed in values.items()}


_KNOWN = {
    "chat": frozenset(_CHAT.split()),
    "responses": frozenset(_RESPONSES.split()),
    "messages": frozenset(_MESSAGES.split()),
    "count": frozenset(_MESSAGES.split()),
    "generate": frozenset(flat(name) for name in _GENERATE.split()),
}
_VALUES, _GENERATION_VALUES = _flat_all(_VALUES), _flat_all(_GENERATION_VALUES)


def is_known(dialect: str, name: str) -> bool:
    return (flat(name) if dialect == "generate" else name) in _KNOWN[dialect]


def unknown(dialect: str, body: dict[str, Any]) -> Iterator[str]:
    """Names of fields that must not be passed on: not known, or of a value that asks for more."""
    for name, value in body.items():
        if value is not None and not (is_known(dialect, name) and _is_one_of(value, _VALUES.get(flat(name)))):
            yield name
        if dialect == "generate" and flat(name) == "generationconfig" and isinstance(value, dict):
            yield from (f"{name}.{key}" for key, held in value.items() if not _is_one_of(held, _GENERATION_VALUES.get(flat(key))))


def _is_one_of(value: Any, values: tuple[Any, ...] | None) -> bool:
    """Whether a value is one of these, of the same type: 1 is no true."""
    return value is None or values is None or any(type(value) is type(one) and value == one for one in values)
