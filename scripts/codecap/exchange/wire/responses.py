"""OpenAI's responses, which some agents speak. It is only passed through: what an answer says of itself is read here."""

from __future__ import annotations

from typing import Any

from codecap.exchange.wire import count
from codecap.records import Usage


def usage(told: Any) -> Usage:
    """`input_tokens` includes what was read from the cache or written to it, `output_tokens` includes reasoning."""
    read_from_cache = count(told, "input_tokens_details", "cached_tokens")
    written = count(told, "input_tokens_details", "cache_write_tokens")
    return Usage(
        input_uncached=max(count(told, "input_tokens") - read_from_cache - written, 0),
        input_cache_read=read_from_cache,
        input_cache_write=written,
        output=count(told, "output_tokens"),
        reasoning=count(told, "output_tokens_details", "reasoning_tokens"),
    )
