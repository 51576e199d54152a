"""Values in a text of JSON, counted before they are made."""

import json
import random
import time

import pytest

from codecap.generate.gateway.values import more_than


@pytest.mark.parametrize(
    ("told", "raw"),
    [
        (True, b"[" + b"1," * 50 + b"1]"),
        (True, b'{"a": [' + b'{"b":1},' * 30 + b"1]}"),
        (False, json.dumps({"page": "[1,2,{3," * 1000 + '\\",",\\'}).encode()),
        (True, b'["' + b'\\"' * 20 + b'",' + b"1," * 60 + b"1]"),
        (False, b'["' + b"," * 1000),
        (True, json.dumps(["a,b"] * 60).encode("utf-16")),
    ],
)
def test_what_texts_hold_does_not_count(told, raw):
    assert more_than(50, raw) is told


def test_it_counts_no_fewer_than_there_are():
    def some(depth: int):
        kinds = ['"\\', ",[{", 1, None]
        return drawn.choice(kinds) if depth == 0 else [some(depth - 1), {drawn.choice(["a\\", '"']): some(depth - 1)}]

    def values(told) -> int:
        inner = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
        return 1 + sum(map(values, inner))

    drawn = random.Random(1)
    for _ in range(20):
        told = some(5)
        assert more_than(values(told) // 2, json.dumps(told).encode())


@pytest.mark.parametrize("part", [b'"",', b'\\"', b'"\\', b'"', b'"a', b"\\"])
def test_it_takes_time_in_proportion(part):
    began = time.process_time()
    more_than(10, b"[,,,,,,,,,,,,,,," + part * (1_000_000 // len(part)))
    assert time.process_time() - began < 2
