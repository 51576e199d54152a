"""Reads structured answers strictly. An answer that does not say what was asked is asked for again, never mended.

Forgiven is what hides nothing: white space around the answer, one code fence around the whole of it, and a closed thinking block
before it (servers of open models leave it in the text).
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from codecap.exchange import Reply
from codecap.records import Row, in_words

R = TypeVar("R", bound=Row)
LONGEST_QUOTE = 160  # characters of what a model said in place of an answer
LONGEST_REASON = 400  # characters of what is wrong with it
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL | re.IGNORECASE)


class Unreadable(Exception):
    """An answer that does not say what was asked; the message says how."""


def read_answer(reply: Reply, kind: type[R]) -> R:
    """A reply as a record, strictly: no missing, unknown or repeated key, no other type, nothing around the JSON.

    Raises:
        Unreadable: it is none.
    """
    if reply.stop == "refusal":
        raise Unreadable(f"refused: {_quoted(reply.text)}" if reply.text.strip() else "refused")
    text = _THOUGHT.sub("", reply.text, count=1).strip()
    thought_only = not text or (text.startswith("<think>") and "</think>" not in text)
    if reply.stop == "length":
        raise Unreadable("cut at the limit of output tokens" + (", all of them thinking" if thought_only else ""))
    if thought_only:
        raise Unreadable("empty after thinking" if reply.usage.reasoning or reply.text.strip() else "empty")
    if reply.stop != "end":
        raise Unreadable(f"ended before its end ({reply.stop})")
    fenced = _FENCED.match(text)
    try:
        told = json.loads(fenced[1] if fenced else text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {_quoted(text)}") from error
    try:
        return kind.model_validate(told, strict=True)
    except ValidationError as error:
        raise Unreadable(f"not as asked: {plain(in_words(error), LONGEST_REASON)}") from error


def plain(text: str, longest: int) -> str:
    """A model's words as text that can be written anywhere: no half characters, not longer than that.

    >>> plain("well kept", 5)
    'well…'
    """
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) < len(pairs):
        raise Unreadable("a key occurs twice")
    return told


def _no_number(constant: str) -> NoReturn:
    raise Unreadable(f"{constant} is no number")


def _quoted(text: str) -> str:
    return json.dumps(plain(" ".join(text.split()), LONGEST_QUOTE), ensure_ascii=False)
