"""Which failures pass by themselves, and how long to wait for it."""

from __future__ import annotations

import email.utils
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codecap.exchange import wire
from codecap.exchange.failures import ServerFailed, Unreadable
from codecap.exchange.question import Endpoint

FIRST_WAIT_S = 1.0
LONGEST_STEP_S = 60.0
PASSING = {408, 409, 425, 429, 500, 502, 503, 504}  # and all from 520 up: overloaded servers and their gateways
_QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error")
SETTING_CODES = ("unknown_parameter", "unsupported_parameter", "unsupported_value")
_FILTER_CODES = ("content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked", "data_inspection_failed")
_FILTERED = re.compile(r"content.{0,5}filter|content (management )?policy|usage polic|safety system|responsible ?ai", re.IGNORECASE)
_OF_THE_ACCOUNT = re.compile(  # what was done to it, and not what may be done to it
    r"\b(account|organi[sz]ation|project|subscription|access|key)\b(\W+\w+){0,4}?\W+(is|was|are|were|been)(\W+\w+)?\W+"
    r"(flagged|suspended|disabled|deactivated|blocked|banned|restricted|terminated|closed|overdue)\b"
    r"|(?<!your )\b(account|organi[sz]ation|project|subscription) (suspended|disabled|deactivated|blocked|banned|overdue)\b",
    re.IGNORECASE,
)
_PASSING_CODE = re.compile(r"rate|limit|throttl|busy|overload|unavailable|internal|time.?out", re.IGNORECASE)
_REFUSING = (200, 400, 403, 422)  # 200: some say it within an answer
_FLAGGED = re.compile(
    r"\b(input|prompt|content|request|images?)\b.{0,60}\bflagged|\bflagged\b.{0,60}\bmoderation"
    r"|\bmoderation\b.{0,60}\b(flagged|blocked|rejected)",
    re.IGNORECASE,
)
_OF_THE_MODEL = re.compile(  # said with status 400 by some, where others say 404
    r"(invalid|unknown|unsupported) model|model\b.{0,80}\b(not exist|not found|not available|not supported|no access)",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context.{0,20}(length|window)|too (long|large|many tokens)|maximum.{0,30}tokens|token limit", re.IGNORECASE
)


@dataclass(frozen=True)
class Refusal:
    """A response that is no answer.

    Attributes:
        passes: trying again may help; else `told` says what to do.
        concerns: what it concerns where it does not pass: this "question", its "content" where a filter keeps it back, or the
            "endpoint" with all its questions; of answers that were paid for in vain, this "answer", or the "form" that all have.
        told: in words, with the server's own message.
        wait_s: how long the server asks to wait; None when it does not say.
    """

    passes: bool
    concerns: Literal["question", "content", "endpoint", "answer", "form"]
    told: str
    wait_s: float | None = None


def refusal(endpoint: Endpoint, status: int, headers: Mapping[str, str], code: str, message: str, response: Any) -> Refusal:
    """What an error status means; or an error that is said with status 200.

    Args:
        code, message: the server's own, from the body; may be empty.
        response: the body's JSON, where Google says how long to wait.
    """
    said = f"HTTP {status}" + (f" {code}" if code else "") + (f": {_short(message)}" if message else "")
    key = f"the environment variable {endpoint.key_env}" if endpoint.key_env else "key_env (the endpoint names none)"
    if status == 402 or code in _QUOTA_CODES or "credit balance" in message or "PerDay" in _quota_ids(response):
        return Refusal(
            False, "endpoint", f"{said}; the account's quota or credit is used up: raise it at the provider, then run again"
        )
    if status in PASSING or status >= 520 or (status == 200 and _PASSING_CODE.search(code)):
        return Refusal(True, "endpoint", said, retry_after_s(headers, response))
    if status in _REFUSING and code not in _FILTER_CODES and _OF_THE_ACCOUNT.search(message):
        return Refusal(False, "endpoint", f"{said}; the provider holds it against the account: clear it there, then run again")
    if _is_filtered(status, code, message, response):
        return Refusal(False, "content", f"{said}; a filter of the provider keeps this question back")
    if status in (401, 403) or "api key" in message.lower():  # Google answers a wrong key with 400
        return Refusal(False, "endpoint", f"{said}; check the key in {key} and what it may use")
    if status == 404 or (status in (200, 400, 422) and (code == "model_not_found" or _OF_THE_MODEL.search(message))):
        return Refusal(False, "endpoint", f"{said}; check model and base_url ({endpoint.address})")
    if 300 <= status < 400:
        there = headers.get("location", "another address")
        return Refusal(False, "endpoint", f"{said}; the server sends to {there}: make base_url the final address")
    if status in (200, 400, 413, 422) and (status == 413 or _TOO_LONG.search(f"{code} {message}")):
        return Refusal(False, "question", f"{said}; the request is too long for the model: fewer or smaller pictures a request")
    concerns = "endpoint" if code in SETTING_CODES else "question"
    return Refusal(False, concerns, f"{said}; the provider does not take this request: check the endpoint's settings")


def speaks_of_model(endpoint: Endpoint, code: str, message: str) -> bool:
    """Whether an error is about the model, which every request names, and not about something in one request."""
    named = re.search(r"model|deployment", code, re.IGNORECASE) or endpoint.model in message
    return bool(named or _OF_THE_MODEL.search(message))


def in_vain(endpoint: Endpoint, why: Unreadable, text: str, said: tuple[str, str]) -> Refusal:
    """What a response with status 200 means that is no answer. One that was paid for is not bought again in the same run.

    Args:
        text: the response.
        said: code and message in it.
    """
    told = " ".join(filter(None, (str(why), *map(_short, said))))
    if not wire.was_bought(text):
        return Refusal(True, "endpoint", told)
    if isinstance(why, ServerFailed):
        return Refusal(False, "answer", f"{told}; such an answer may be billed: the question is asked again by the next run")
    form = f"it is none in the form of this API: check api ({endpoint.api}), base_url ({endpoint.address}) and extra"
    return Refusal(False, "form", f"{told}; an answer came that may be billed, and {form}, then run again")


def _is_filtered(status: int, code: str, message: str, response: Any) -> bool:
    """Whether a filter speaks; Azure says it in an inner error, Anthropic only in the message, OpenRouter with status 403.

    With 403, words on a policy may be about the account: there it must be the request that was flagged.
    """
    error = response.get("error") if isinstance(response, dict) else None
    inner = str(error.get("innererror") or "") if isinstance(error, dict) else ""
    if status not in _REFUSING:
        return False
    by_policy = status != 403 and _FILTERED.search(f"{message} {inner}")
    return bool(code in _FILTER_CODES or _FLAGGED.search(message) or by_policy)


def retry_after_s(headers: Mapping[str, str], response: Any = None, now: Callable[[], float] = time.time) -> float | None:
    """How long a server asks to wait: Retry-After in seconds or as an HTTP date, retry-after-ms, or Google's RetryInfo."""
    told = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d+(\.\d+)?", told):
        return float(told) / 1000
    told = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", told):
        return float(told)
    if told:
        try:
            return max(email.utils.parsedate_to_datetime(told).timestamp() - now(), 0.0)
        except ValueError:
            return None
    for detail in _details(response):
        delay = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay", "")))
        if delay:
            return float(delay[1])
    return None


def step_s(failed: int, chance: Callable[[], float] = random.random) -> float:
    """Wait after the `failed`-th failure in a row: doubling from one second to a minute, of which half is by chance.

    >>> step_s(1, lambda: 0.0), step_s(3, lambda: 1.0)
    (0.5, 4.0)
    """
    most = min(FIRST_WAIT_S * 2 ** (failed - 1), LONGEST_STEP_S)
    return most * (0.5 + 0.5 * chance())


def spread_s(chance: Callable[[], float] = random.random) -> float:
    """A little time beside what a server asks to wait, so that those who wait do not all come back at once."""
    return 0.1 * chance()


def _details(response: Any) -> list[dict[str, Any]]:
    error = response.get("error") if isinstance(response, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _quota_ids(response: Any) -> str:
    """Google names the quota that was hit, by minute or by day."""
    told = [detail.get("violations") for detail in _details(response)]
    violations = [item for items in told if isinstance(items, list) for item in items if isinstance(item, dict)]
    return " ".join(str(item.get("quotaId", "")) for item in violations)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else f"{text[:300]}..."
