import pytest

from codecap.showing.showing import Showing

ENDPOINT = {"api": "openai", "model": "m", "key_env": None}


@pytest.mark.parametrize(
    "other",
    [
        {"most_output_tokens": 4096},
        {"endpoint": {**ENDPOINT, "extra": {"seed": 7}}},
        {"endpoint": {**ENDPOINT, "structured": False}},
        {"endpoint": {**ENDPOINT, "output_limit": "max_tokens"}},
        {"endpoint": {**ENDPOINT, "api": "google"}},
        {"endpoint": {**ENDPOINT, "thinking": "high"}},
        {"picture": "png"},
    ],
)
def test_another_request_is_another_protocol(other):
    assert Showing(**{"endpoint": ENDPOINT, **other}).told != Showing(endpoint=ENDPOINT).told


@pytest.mark.parametrize("other", [{"base_url": "http://127.0.0.1:9"}, {"timeout_s": 5}, {"key_env": "MINE"}])
def test_where_and_how_long_is_asked_is_no_part_of_it(other):
    assert Showing(endpoint={**ENDPOINT, **other}).told == Showing(endpoint=ENDPOINT).told
