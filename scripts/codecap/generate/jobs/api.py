"""How a service of video jobs speaks: what it is sent, and where in its answers things stand. Nothing here reaches the network."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from codecap.exchange.failures import Unreadable
from codecap.exchange.keys import must_stay_at_home
from codecap.exchange.question import Endpoint
from codecap.exchange.recorded import VIDEO_JOBS
from codecap.generate.videos import Order
from codecap.records import Row, Usage

PLACES = ("model", "prompt", "seconds", "frames", "ratio", "width_px", "height_px", "size")
SHOWN_WORDS = 300  # characters of a service's own message


class JobApi(Row):
    """Keys of `videos.http_jobs`. The defaults speak as ModelArk does, the service of Seedance.

    Attributes:
        base_url: address up to the version.
        model: the service's name of the model; a dated version where there is one.
        key_env: name of the environment variable that holds the key; null for a server that needs none.
        key_header, key_value: the header that carries the key; `{key}` stands for it.
        submit: path to which an order is posted.
        body: the order, as JSON: a text in it that is `{seconds}` becomes that number, `{prompt}` within a text is put in. There
            are model, prompt, seconds, frames, ratio, width_px, height_px, size (as 1280x720).
        extra: fields laid over `body`.
        job: where the answer to an order has the job's id: names and numbers, with dots between.
        poll: path that tells about the job `{id}`.
        status: where it says how far the job is.
        done, failed: words that say that it has ended; with any other it is still under way.
        video: where it has the address of the video.
        download: path of the video of the job `{id}`, for services that give no address.
        code, message: where it says what went wrong.
        refusals: regular expression; an error whose code has it is the model's refusal; so is one whose message has it, unless its
            code speaks of a fault or of rights, or it comes with status 403.
        tokens: where it says how many tokens the video was; they are priced as output tokens by the price table.
        usd_a_video, usd_a_second: what a video costs, for services without tokens.
        shortest_s, longest_s, step_s: lengths that can be ordered; the one nearest to the clip's is.
        ratios, sizes: shapes that can be ordered; the one nearest to the clip's is. Without sizes, `width_px`, `height_px` and
            `size` are the clip's own.
        idempotency: header by which the service knows an order again that it has had; null where it has none.
        submit_lost_again: whether an order of which it is not known whether it arrived, or whose job the service has forgotten, is
            submitted again: it may then be paid for twice. Not asked where `idempotency` is there.
        timeout_s: of one request. poll_s: time between two questions about a job. limit_s: longest time for a job in one run; the
            next run goes on with it. largest_mb: most that is downloaded.
    """

    base_url: str
    model: str = Field(min_length=1)
    key_env: str | None = None
    key_header: str = "Authorization"
    key_value: str = "Bearer {key}"
    submit: str = "/contents/generations/tasks"
    body: dict[str, Any] = {
        "model": "{model}",
        "content": [{"type": "text", "text": "{prompt}"}],
        "ratio": "{ratio}",
        "duration": "{seconds}",
        "resolution": "720p",
        "watermark": False,
    }
    extra: dict[str, Any] = {}
    job: str = "id"
    poll: str = "/contents/generations/tasks/{id}"
    status: str = "status"
    done: tuple[str, ...] = ("succeeded",)
    failed: tuple[str, ...] = ("failed", "cancelled", "expired")
    video: str = "content.video_url"
    download: str = ""
    code: str = "error.code"
    message: str = "error.message"
    refusals: str = (
        r"(?i)(?<!case.)sensitive|moderation|moderated|copyright|content.?(filter|policy|safety)|safety.?(system|filter)"
        r"|prohibited.?content|responsible.?ai|data.?inspection"
    )
    tokens: str = "usage.completion_tokens"
    usd_a_video: Decimal | None = Field(default=None, ge=0)
    usd_a_second: Decimal | None = Field(default=None, ge=0)
    shortest_s: float = Field(default=4, gt=0)
    longest_s: float = Field(default=15, gt=0)
    step_s: float = Field(default=1, gt=0)
    ratios: tuple[str, ...] = ("21:9", "16:9", "4:3", "1:1", "3:4", "9:16")
    sizes: tuple[str, ...] = ()
    idempotency: str | None = None
    submit_lost_again: bool = False
    timeout_s: float = Field(default=60, gt=0)
    poll_s: float = Field(default=10, gt=0)
    limit_s: float = Field(default=3600, gt=0)
    largest_mb: float = Field(default=500, gt=0)

    @field_validator("base_url", "key_env")
    @classmethod
    def _as_an_endpoint(cls, told: str | None, info: Any) -> str | None:
        try:
            return getattr(Endpoint(api="openai", model="m", **{info.field_name: told}), info.field_name)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error

    @field_validator("refusals")
    @classmethod
    def _an_expression(cls, told: str) -> str:
        try:
            re.compile(told)
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from error
        return told

    @field_validator("ratios")
    @classmethod
    def _two_numbers(cls, told: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [text for text in told if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", text)]:
            raise ValueError(f"{wrong[0]!r} is no ratio like 16:9")
        return told

    @field_validator("sizes")
    @classmethod
    def _two_sizes(cls, told: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [text for text in told if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", text)]:
            raise ValueError(f"{wrong[0]!r} is no size like 1280x720")
        return told

    @model_validator(mode="after")
    def _key_stays_at_home(self) -> JobApi:
        must_stay_at_home(self.key_env, self.base_url)
        return self

    @model_validator(mode="after")
    def _fits(self) -> JobApi:
        if self.shortest_s > self.longest_s:
            raise ValueError("shortest_s is above longest_s")
        unknown = {name for text in _texts(self.body | self.extra) for name in _PLACE.findall(text)} - set(PLACES)
        if unknown:
            raise ValueError(f"body: {{{sorted(unknown)[0]}}} stands for nothing; there are {', '.join(PLACES)}")
        if "{prompt}" not in json.dumps(self.body | self.extra):
            raise ValueError("body: {prompt} is nowhere in it")
        return self

    # What the exchange asks of an endpoint.
    @property
    def api(self) -> str:
        return VIDEO_JOBS

    @property
    def served(self) -> None:
        return None

    @property
    def address(self) -> str:
        return self.base_url

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    @property
    def name(self) -> str:
        return f"{self.model} at {self.host}"

    @property
    def identity(self) -> dict[str, Any]:
        """What changes the video, as JSON values."""
        kept = ("model", "submit", "body", "extra", "shortest_s", "longest_s", "step_s", "ratios", "sizes")
        return self.model_dump(mode="json", include=set(kept))

    def seconds(self, order: Order) -> float:
        """The length that is ordered: of those that can be, the one nearest to the clip's."""
        steps = math.floor((self.longest_s - self.shortest_s) / self.step_s + 1e-9)
        wanted = round((order.seconds - self.shortest_s) / self.step_s)
        return _whole(round(self.shortest_s + min(max(wanted, 0), steps) * self.step_s, 6))

    def order_body(self, order: Order) -> dict[str, Any]:
        """The JSON that orders a video."""
        seconds, clip_ratio = self.seconds(order), order.width_px / order.height_px
        size = min(self.sizes, key=lambda text: _unlike(_pair(text, "x"), clip_ratio)) if self.sizes else None
        width_px, height_px = _pair(size, "x") if size else (order.width_px, order.height_px)
        told = {
            "model": self.model,
            "prompt": order.prompt,
            "seconds": seconds,
            "frames": round(seconds * 24),
            "ratio": min(self.ratios, key=lambda text: _unlike(_pair(text, ":"), clip_ratio)) if self.ratios else None,
            "width_px": width_px,
            "height_px": height_px,
            "size": f"{width_px}x{height_px}",
        }
        return _filled(self.body | self.extra, told)

    def url(self, path: str, job: str = "") -> str:
        return self.base_url + path.replace("{id}", quote(job, safe=""))

    def headers(self, key: str | None) -> dict[str, str]:
        return {self.key_header: self.key_value.replace("{key}", key)} if key else {}

    def usd(self, order: Order) -> Decimal | None:
        """What a video costs, where the entry says it."""
        if self.usd_a_video is None and self.usd_a_second is None:
            return None
        return (self.usd_a_video or Decimal(0)) + (self.usd_a_second or Decimal(0)) * Decimal(str(self.seconds(order)))

    def usage(self, told: Any) -> Usage:
        tokens = at(told, self.tokens)
        known = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0
        return Usage(output=tokens) if known else Usage()

    def complaint(self, told: Any) -> tuple[str, str]:
        """Code and message of an answer that says what went wrong; empty where it does not."""
        code, message = at(told, self.code), at(told, self.message)
        if message is None and isinstance(told, dict):
            message = told.get("message") or (told.get("error") if isinstance(told.get("error"), str) else None)
        return str(code or ""), " ".join(str(message or "").split())[:SHOWN_WORDS]

    def says_error(self, told: Any) -> bool:
        """Whether an answer says that something went wrong. Words alone do not: a success may have some too."""
        code = at(told, self.code)
        if code is not None:
            return not _SUCCESS.fullmatch(str(code))
        return isinstance(told, dict) and bool(told.get("error"))

    def is_refusal(self, code: str, message: str = "") -> bool:
        """Whether an error is the model's refusal and no fault; its code says it before its message does."""
        if re.search(self.refusals, code):
            return True
        return not _FAULT.search(code) and bool(re.search(self.refusals, message))


def at(told: Any, path: str) -> Any:
    """What stands at a place of a JSON value; None where nothing does.

    >>> at({"data": [{"url": "https://a"}]}, "data.0.url")
    'https://a'
    """
    for name in path.split("."):
        if isinstance(told, dict):
            told = told.get(name)
        elif isinstance(told, list) and name.isdigit() and int(name) < len(told):
            told = told[int(name)]
        else:
            return None
    return told


def text_at(told: Any, path: str) -> str:
    """The same of a text or a whole number.

    Raises:
        Unreadable: there is none.
    """
    found = at(told, path)
    if isinstance(found, bool) or not isinstance(found, str | int) or not str(found).strip():
        raise Unreadable(f"the answer has no {path}")
    return str(found)


_SUCCESS = re.compile(r"0*|20\d|ok|success\w*|succeeded|created|accepted|none|false", re.IGNORECASE)
_FAULT = re.compile(  # in a code: of the service, or of what the account may do
    r"internal|server|unavailable|time.?out|busy|overload|limit|quota|access|denied|auth|permission|forbidden|account|overdue"
    r"|balance|billing|not.?found",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\{([a-z_]+)\}")


def _filled(value: Any, told: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, told) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, told) for item in value]
    if not isinstance(value, str):
        return value
    whole = _PLACE.fullmatch(value)
    return told[whole[1]] if whole else _PLACE.sub(lambda found: str(told[found[1]]), value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _pair(text: str, between: str) -> tuple[int, int]:
    first, _, second = text.partition(between)
    return int(first), int(second)


def _unlike(shape: tuple[int, int], ratio: float) -> float:
    return abs(math.log(shape[0] / shape[1] / ratio))


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value
