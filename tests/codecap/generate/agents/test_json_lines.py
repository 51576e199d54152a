"""Lines of JSON that nobody vouches for."""

import tracemalloc

from codecap.generate.agents.json_lines import records_in


def test_objects_are_found_and_what_is_none_is_passed_over():
    text = '{"a": 1}\nwords {"b": 2}\n[3]\n{"c": "\u2028\x85"}\r\n{"d"\n' + "{" * 5000 + "\n" + '{"e":' * 5000 + "\n\n" + '{"f": 6}'
    assert list(records_in(text)) == [{"a": 1}, {"c": "\u2028\x85"}, {"f": 6}]


def test_many_short_lines_take_no_memory_of_their_own():
    text = "ab\n" * 200_000 + '{"a": 1}\n'
    tracemalloc.start()
    try:
        assert list(records_in(text)) == [{"a": 1}]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 500_000
