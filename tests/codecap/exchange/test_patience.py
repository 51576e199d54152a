"""Which failures pass, and how long to wait for it."""

import email.utils

import pytest

from codecap.exchange import Endpoint, patience
from codecap.exchange.redaction import Redactor

ENDPOINT = Endpoint(api="google", model="m", key_env="MY_KEY")


def meant(status: int, code: str = "", message: str = "", headers=None, response=None) -> patience.Refusal:
    return patience.refusal(ENDPOINT, status, headers or {}, code, message, response)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529])
def test_these_pass(status):
    assert meant(status).passes


@pytest.mark.parametrize(
    ("status", "code", "message", "concerns"),
    [
        (400, "", "", "question"),
        (422, "", "", "question"),
        (413, "", "", "question"),
        (400, "context_length_exceeded", "", "question"),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "endpoint"),
        (401, "", "", "endpoint"),
        (402, "", "", "endpoint"),
        (404, "", "", "endpoint"),
        (429, "insufficient_quota", "", "endpoint"),
        (400, "invalid_request_error", "Your credit balance is too low", "endpoint"),
        (308, "", "", "endpoint"),
        (400, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model.", "endpoint"),
        (400, "invalid_request_error", "The model `m` does not exist", "endpoint"),
        (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum", "question"),
        (400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed (1048576).", "question"),
        (400, "BadRequestError", "This model's maximum context length is 8192 tokens.", "question"),
        (400, "INVALID_ARGUMENT", "Unable to process input image.", "question"),
        (400, "content_filter", "", "content"),
        (400, "content_policy_violation", "", "content"),
        (400, "invalid_prompt", "", "content"),
        (400, "invalid_request_error", "Output blocked by content filtering policy", "content"),
        (403, "content_filter", "", "content"),
        (403, "403", "Your chosen model requires moderation and your input was flagged. No credits were charged.", "content"),
        (403, "", "The input was flagged by moderation.", "content"),
        (403, "", "Your account was flagged for unusual activity.", "endpoint"),
        (403, "", "This organization is disabled for violations of the usage policies.", "endpoint"),
        (403, "", "Your request was flagged: account suspended", "endpoint"),
        (400, "", "Your organization was flagged for violating our usage policies; contact support", "endpoint"),
        (400, "", "The account has been temporarily suspended for violations of the usage policies.", "endpoint"),
        (400, "", "The prompt was flagged by moderation; repeated violations may get your account suspended.", "content"),
        (400, "invalid_prompt", "Your organization was flagged", "content"),
        (200, "content_filter", "", "content"),
        (200, "InvalidParameter", "duration", "question"),
        (403, "permission_error", "Your API key does not have permission to use the specified resource.", "endpoint"),
        (401, "", "The input was flagged by moderation.", "endpoint"),
    ],
)
def test_these_do_not(status, code, message, concerns):
    found = meant(status, code, message)
    assert (found.passes, found.concerns) == (False, concerns)


def test_some_say_with_status_200_what_passes():
    assert meant(200, "RateLimitExceeded", "too many requests").passes


def test_odd_details_of_a_quota_are_none():
    assert meant(429, "", "", response={"error": {"details": [{"violations": 5}, {"violations": [7, {"quotaId": ["a"]}]}]}}).passes


def test_azure_says_in_an_inner_error_that_a_filter_spoke():
    inner = {"error": {"code": "BadRequest", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
    assert meant(400, "BadRequest", "The request failed.", response=inner).concerns == "content"


def test_a_quota_of_the_minute_passes_and_one_of_the_day_does_not():
    """Google says which it is only in the details, and its message speaks of billing in both."""

    def response(quota):
        return {"error": {"details": [{"violations": [{"quotaId": quota}]}, {"@type": "RetryInfo", "retryDelay": "34.5s"}]}}

    message = "You exceeded your current quota, please check your plan and billing details."
    minute = meant(429, "RESOURCE_EXHAUSTED", message, response=response("GenerateRequestsPerMinutePerProject"))
    assert (minute.passes, minute.wait_s) == (True, 34.5)
    assert not meant(429, "RESOURCE_EXHAUSTED", message, response=response("GenerateRequestsPerDayPerProject")).passes


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, 30),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers, seconds):
    assert patience.retry_after_s(headers, now=lambda: 1_000_000) == seconds


def test_waits_double_up_to_a_minute_and_vary(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 1.0)
    assert [patience.step_s(failed, lambda: 1.0) for failed in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [patience.step_s(failed, lambda: 0.0) for failed in (1, 2, 8)] == [0.5, 1, 30]


def test_a_key_is_found_in_every_shape():
    redact = Redactor()
    redact.add('sk-abc/def+ghi=jkl"mno-pqrstuvw', "MY_KEY")
    told = [
        'sk-abc/def+ghi=jkl"mno-pqrstuvw',
        "sk-abc%2Fdef%2Bghi%3Djkl%22mno-pqrstuvw",
        'sk-abc/def+ghi=jkl\\"mno-pqrstuvw',
        "sk-abc/def+g...",
    ]
    assert [redact(f"<{text}>") for text in told] == ["<[MY_KEY]>"] * 3 + ["<[MY_KEY]...>"]
    redact.add("EMPTY", "NONE")
    assert redact("EMPTY") == "EMPTY"
    assert redact.message("http://me:word@proxy:3128 failed") == "http://proxy:3128 failed"
