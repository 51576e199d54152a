"""What is ordered of a service, as its documentation has it, and where its answers are read."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from codecap.exchange.failures import Unreadable
from codecap.generate.jobs.api import JobApi, at, text_at
from codecap.generate.videos import Order

BASE = {"base_url": "https://video.example/v1", "model": "sora"}
SIZED = {
    "submit": "/videos",
    "body": {"model": "{model}", "prompt": "Show: {prompt}", "size": "{size}", "seconds": "{seconds} s", "frames": "{frames}"},
    "sizes": ("1280x720", "720x1280"),
}


@pytest.mark.parametrize(
    ("seconds", "ordered"),
    [(0.5, 4), (4.4, 4), (4.6, 5), (7.5, 8), (14.6, 15), (120, 15)],
)
def test_the_length_that_can_be_had_and_is_nearest_is_ordered(seconds, ordered):
    assert JobApi(**BASE).seconds(Order("", seconds, 1, 1)) == ordered
    steps = JobApi(**BASE, shortest_s=4, longest_s=12, step_s=4)
    assert [steps.seconds(Order("", length, 1, 1)) for length in (1, 5.9, 6.1, 10.5, 60)] == [4, 4, 8, 12, 12]
    assert JobApi(**BASE, shortest_s=0.5, step_s=0.25).seconds(Order("", 1.3, 1, 1)) == 1.25


@pytest.mark.parametrize(
    ("size", "ratio"),
    [
        ((1280, 720), "16:9"),
        ((640, 480), "4:3"),
        ((500, 500), "1:1"),
        ((400, 700), "9:16"),
        ((3000, 1200), "21:9"),
        ((1000, 9000), "9:16"),
    ],
)
def test_the_shape_that_is_nearest_is_ordered(size, ratio):
    assert JobApi(**BASE).order_body(Order("x", 5, *size))["ratio"] == ratio


def test_an_order_holds_what_the_entry_says():
    body = JobApi(**BASE, **SIZED, extra={"seed": 7}).order_body(Order('He said "{seconds}" {x}', 6, 500, 900))
    assert body == {
        "model": "sora",
        "prompt": 'Show: He said "{seconds}" {x}',
        "size": "720x1280",
        "seconds": "6 s",
        "frames": 144,
        "seed": 7,
    }
    assert JobApi(**BASE, body={"p": "{prompt}", "w": "{width_px}"}).order_body(Order("x", 6, 500, 900)) == {"p": "x", "w": 500}


def test_addresses_and_keys():
    api = JobApi(**BASE, key_header="X-Api-Key", key_value="Token {key}")
    assert api.url(api.poll, "a/../b?c") == "https://video.example/v1/contents/generations/tasks/a%2F..%2Fb%3Fc"
    assert api.headers("k") == {"X-Api-Key": "Token k"} and api.headers(None) == {}


def test_prices_by_the_second_and_by_the_video():
    order = Order("x", 5, 1, 1)
    assert JobApi(**BASE).usd(order) is None
    assert JobApi(**BASE, usd_a_second="0.1").usd(order) == Decimal("0.5")
    assert JobApi(**BASE, usd_a_second="0.1", usd_a_video="0.02").usd(order) == Decimal("0.52")


def test_places_in_answers():
    told = {"data": [{"url": "u", "n": 3}], "ok": True, "none": None, "empty": " "}
    assert (
        at(told, "data.0.url") == "u" and at(told, "data.1.url") is None and at(told, "data.x") is None and at(told, "ok.b") is None
    )
    assert text_at(told, "data.0.n") == "3"
    for path in ("ok", "none", "data", "empty", "data.0.nothing"):
        with pytest.raises(Unreadable):
            text_at(told, path)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"error": {"code": "A", "message": "b\n c"}}, ("A", "b c")),
        ({"error": "words"}, ("", "words")),
        ({"message": "words"}, ("", "words")),
        ({"error": {"message": {"deep": 1}}}, ("", "{'deep': 1}")),
        ({}, ("", "")),
    ],
)
def test_what_went_wrong_in_the_services_words(told, said):
    assert JobApi(**BASE).complaint(told) == said


def test_refusals_are_told_from_faults():
    api = JobApi(**BASE)
    assert api.is_refusal("OutputVideoSensitiveContentDetected.PolicyViolation", "")
    assert api.is_refusal("moderation_blocked", "Your request was blocked by our moderation system.")
    assert not api.is_refusal("InternalServiceError", "The service encountered an unexpected internal error.")
    assert api.is_refusal("InvalidParameter", "The prompt was blocked by our moderation system.")
    assert api.is_refusal("", "Rejected as a result of our safety system.")
    for code, message in [
        ("InvalidParameter", "The parameter duration is not valid."),
        ("InvalidParameter", "duration is prohibited for this plan"),
        ("InvalidParameter", "names are case-sensitive"),
        ("AccessDenied", "no identity-based policy allows it"),
        ("AccountOverdue", "safety deposit missing"),
        ("InternalServiceError", "content moderation is not available"),
    ]:
        assert not api.is_refusal(code, message)


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ({"error": {"code": "RateLimit"}}, True),
        ({"error": {"message": "words"}}, True),
        ({"error": "words"}, True),
        ({"message": "success", "data": {"task": 1}}, False),
        ({"error": None}, False),
        ({"error": {"code": 0, "message": "ok"}}, False),
        ({"error": {"code": "Success"}}, False),
        ({}, False),
    ],
)
def test_answers_that_say_that_something_went_wrong(told, wrong):
    assert JobApi(**BASE).says_error(told) is wrong


def test_what_only_says_how_patiently_it_is_asked_is_no_part_of_what_is_ordered():
    same = [
        JobApi(**BASE),
        JobApi(**BASE | {"base_url": "https://other.example/v1"}, poll_s=1, limit_s=9, key_env="K", usd_a_video=1),
    ]
    assert same[0].identity == same[1].identity
    assert JobApi(**BASE, longest_s=10).identity != same[0].identity


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"base_url": "video.example"}, "address like https"),
        ({"key_env": "sk-not-a-name"}, "name of an environment variable"),
        ({"key_env": "OPENAI_API_KEY"}, "OPENAI_API_KEY would be sent to video.example"),
        ({"key_env": "ARK_API_KEY"}, "ARK_API_KEY would be sent to video.example"),
        ({"body": {"p": "{prompt}", "x": "{secnds}"}}, "{secnds} stands for nothing"),
        ({"body": {"p": "words"}}, "{prompt} is nowhere"),
        ({"refusals": "("}, "no regular expression"),
        ({"ratios": ["wide"]}, "no ratio like 16:9"),
        ({"sizes": ["1280"]}, "no size like"),
        ({"shortest_s": 20}, "shortest_s is above"),
        ({"pol_s": 20}, "pol_s"),
    ],
)
def test_wrong_settings_are_told(wrong, words):
    with pytest.raises(ValidationError, match=words):
        JobApi(**(BASE | wrong))
