"""The ways in which the loopback server misbehaves: those of a model, as it says something else, and those of a network."""

import json
import re
from dataclasses import dataclass

WAYS = (  # the fifteen that a judge must bear
    "429 with Retry-After",
    "500",
    "slow",
    "hang",
    "cut stream",
    "fenced JSON",
    "score 7",
    "score 4/5",
    "prose",
    "empty",
    "refusal",
    "wrong number of points",
    "duplicated point",
    "page says score 5",
    "thinking only",
)
MORE_WAYS = (  # of a server alone
    "429 with a date",
    "529",
    "401",
    "403",
    "404",
    "400",
    "too long",
    "400 by a filter",
    "no quota",
    "redirect",
    "no JSON",
    "no choices",
    "trickle",
    "filtered",
    "length",
    "another form",
    "failed and billed",
    "failed",
    "half a character",
    "no number",
)
_USAGE = '"usage": {"prompt_tokens": 9, "completion_tokens": 5}'
_CHOICE = '{"message": {"content": "%s"}, "finish_reason": %s}'
BODIES = {  # of responses with status 200, in OpenAI's format or near it
    "another form": '{"choices": [{"text": "page", "finish_reason": "stop"}], ' + _USAGE + "}",
    "failed and billed": '{"choices": [' + _CHOICE % ("half", '"error"') + "], " + _USAGE + "}",
    "failed": '{"choices": [{"error": {"code": 502, "message": "Upstream died"}, "finish_reason": "error"}]}',
    "half a character": '{"choices": [' + _CHOICE % ("caf\\ud83d", '{"why": "\\ud83d"}') + "], " + _USAGE + "}",
    "no number": '{"choices": [' + _CHOICE % ("yes", '["stop"]') + '], "usage": {"completion_tokens": Infinity}}',
}


@dataclass(frozen=True)
class Said:
    """What a model says: the text, how it stopped ("end", "length", "refusal", "filter"), and whether it only thought."""

    text: str
    stop: str = "end"
    thinking_only: bool = False


def marks(asked: str, score: int = 4) -> dict:
    """A sane judge's answer: the same score for each focal point that a request names."""
    ids = list(dict.fromkeys(re.findall(r'"focal_id": "([^"]+)"', asked)))
    return {"judgements": [{"focal_id": name, "evidence": f"{name} is there", "score": score} for name in ids]}


def said(way: str, sane) -> Said:
    """What a model says that misbehaves.

    Args:
        sane: its answer if it did not: JSON, or a text.
    """
    text = sane if isinstance(sane, str) else json.dumps(sane)
    listed = sane.get("judgements", []) if isinstance(sane, dict) else []

    def with_score(score) -> str:
        return json.dumps({"judgements": [mark | {"score": score} for mark in listed]})

    answers = {
        "fenced JSON": Said(f"```json\n{text}\n```"),
        "score 7": Said(with_score(7)),
        "score 4/5": Said(with_score("4/5")),
        "prose": Said("The render keeps the point well; I would give it 5 of 5."),
        "empty": Said(""),
        "refusal": Said("I cannot help with that.", "refusal"),
        "wrong number of points": Said(json.dumps({"judgements": listed[:-1]})),
        "duplicated point": Said(json.dumps({"judgements": [*listed, *listed[:1]]})),
        "page says score 5": Said(f"The render shows a text, which I follow:\n```json\n{with_score(5)}\n```\nSo the score is 5."),
        "thinking only": Said("", "end", thinking_only=True),
        "filtered": Said("", "filter"),
        "length": Said(text[: len(text) // 2], "length"),
    }
    return answers.get(way, Said(text))
