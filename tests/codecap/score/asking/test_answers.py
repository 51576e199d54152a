"""What is read and what is asked again."""

import json

import pytest

from codecap.exchange import Reply
from codecap.records import Row, Usage
from codecap.score.asking.answers import Unreadable, plain, read_answer


class Told(Row):
    words: str
    number: int


GOOD = '{"words": "a ```b``` c", "number": 3}'


def reply(text: str, stop: str = "end", reasoning: int = 0) -> Reply:
    return Reply(text, stop, Usage(reasoning=reasoning), None, "0" * 64, False)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  \n{GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        f"```JSON \n{GOOD}\n  ```",
        f'<think>It says {{"number": 5}}.</think>\n{GOOD}',
        f"\n<think></think>```json\n{GOOD}\n```",
    ],
)
def test_what_hides_nothing_is_forgiven(text):
    assert read_answer(reply(text), Told) == Told(words="a ```b``` c", number=3)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (reply(""), "empty"),
        (reply(" \n"), "empty"),
        (reply("", reasoning=700), "empty after thinking"),
        (reply("<think>Hm.</think>"), "empty after thinking"),
        (reply("<think>Hm, but then"), "empty after thinking"),
        (reply("<think>Hm, but", "length"), "cut at the limit of output tokens, all of them thinking"),
        (reply(GOOD, "length"), "cut at the limit of output tokens"),
        (reply("", "length", 9), "cut at the limit of output tokens, all of them thinking"),
        (reply(GOOD, "refusal"), "refused: "),
        (reply("", "refusal"), "refused"),
        (reply(GOOD, "other"), "ended before its end"),
        (reply(f"Here it is: {GOOD}"), "not JSON"),
        (reply(f"{GOOD} I hope this helps."), "not JSON"),
        (reply(f"{GOOD}\n{GOOD}"), "not JSON"),
        (reply(f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```"), "not JSON"),
        (reply(f"<think>a</think><think>b</think>{GOOD}"), "not JSON"),
        (reply(GOOD[:-4]), "not JSON"),
        (reply("[" * 100_000), "not JSON"),
        (reply("5"), "not as asked"),
        (reply("null"), "not as asked"),
        (reply(f"[{GOOD}]"), "not as asked"),
        (reply('{"words": "a"}'), "number: Field required"),
        (reply('{"words": "a", "number": "3"}'), "number: Input should be a valid integer"),
        (reply('{"words": "a", "number": 3.0}'), "number: Input should be a valid integer"),
        (reply('{"words": "a", "number": true}'), "number: Input should be a valid integer"),
        (reply('{"words": "a", "number": NaN}'), "NaN is no number"),
        (reply('{"words": "a", "number": 1e400}'), "number: Input should be a valid integer"),
        (reply('{"words": "a", "number": ' + "9" * 5000 + "}"), "not JSON"),
        (reply('{"words": "a", "number": 1, "number": 5}'), "a key occurs twice"),
        (reply('{"words": "a", "number": 1, "more": 5}'), "more: Extra inputs are not permitted"),
        (reply('{"words": "a", "number": 1, "\\ud800": 5}'), "not as asked"),
    ],
)
def test_anything_else_is_asked_again(told, why):
    with pytest.raises(Unreadable, match=why.replace("(", r"\(")) as raised:
        read_answer(told, Told)
    str(raised.value).encode()  # can be written anywhere


def test_what_a_model_says_is_cut_and_can_be_written():
    assert plain("x" * 50, 10) == "x" * 9 + "…"
    assert json.loads(json.dumps(plain("half \ud800 a character", 100)).encode()) == "half ? a character"
