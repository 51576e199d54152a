"""The three wire formats from the server's side: what a request asks, and how an answer, its tokens and an error are said."""

from dataclasses import dataclass

from loopback.ways import Said


@dataclass(frozen=True)
class Tokens:
    """Tokens of one answer. `output` includes `reasoning`; `uncached`, `read` and `written` are apart."""

    uncached: int
    read: int
    written: int
    output: int
    reasoning: int


def api_of(path: str) -> str:
    if path.endswith("/chat/completions"):
        return "openai"
    return "anthropic" if path.endswith("/messages") else "google"


def key_in(api: str, headers) -> str:
    """The key that a request carries."""
    if api == "openai":
        return (headers.get("Authorization") or "").removeprefix("Bearer ")
    return headers.get("x-api-key" if api == "anthropic" else "x-goog-api-key") or ""


def asked(api: str, body: dict) -> str:
    """All text of a request's user turn."""
    if api == "google":
        return "\n".join(part.get("text", "") for turn in body["contents"] for part in turn["parts"])
    turns = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
    return "\n".join(part.get("text", "") for turn in turns for part in ([{"text": turn}] if isinstance(turn, str) else turn))


def answer(api: str, said: Said, tokens: Tokens) -> dict:
    return {"openai": _openai, "anthropic": _anthropic, "google": _google}[api](said, tokens)


def error(api: str, status: int, code: str, message: str) -> dict:
    if api == "openai":
        return {"error": {"message": message, "type": code, "code": code}}
    if api == "anthropic":
        return {"type": "error", "error": {"type": code, "message": message}}
    return {"error": {"code": status, "status": code, "message": message}}


def _openai(said: Said, tokens: Tokens) -> dict:
    stops = {"end": "stop", "length": "length", "refusal": "stop", "filter": "content_filter"}
    message = {"role": "assistant", "content": said.text or None}
    if said.stop == "refusal":
        message = {"role": "assistant", "content": None, "refusal": said.text}
    if said.thinking_only:
        message |= {"reasoning_content": "Let me see."}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": stops[said.stop]}],
        "usage": {
            "prompt_tokens": tokens.uncached + tokens.read + tokens.written,
            "completion_tokens": tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.written},
            "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
        },
    }


def _anthropic(said: Said, tokens: Tokens) -> dict:
    stops = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}
    content = [{"type": "thinking", "thinking": "Let me see.", "signature": "x"}]
    if said.text and not said.thinking_only:
        content.append({"type": "text", "text": said.text})
    return {
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stops[said.stop],
        "usage": {
            "input_tokens": tokens.uncached,
            "cache_read_input_tokens": tokens.read,
            "cache_creation_input_tokens": tokens.written,
            "output_tokens": tokens.output,
        },
    }


def _google(said: Said, tokens: Tokens) -> dict:
    counted = {
        "promptTokenCount": tokens.uncached + tokens.read + tokens.written,
        "cachedContentTokenCount": tokens.read,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
    }
    if said.stop == "filter":
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": counted}
    stops = {"end": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
    parts = [{"text": "Let me see.", "thought": True}]
    if said.text and not said.thinking_only:
        parts.append({"text": said.text})
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stops[said.stop]}],
        "usageMetadata": counted,
    }
