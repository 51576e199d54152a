"""What is asked of whom, and what came back: plain records that every wire format shares."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from codecap import store
from codecap.records import Row, Usage

Stop = Literal["end", "length", "refusal", "other"]

HOMES = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta",
}


class Endpoint(Row):
    """A model behind an API. Only what changes the request's body is part of a request's digest.

    Attributes:
        api: wire format: "openai" (chat completions, also vLLM and other compatible servers), "anthropic" (messages) or
            "google" (generateContent).
        model: the provider's name of the model; name a dated version where there is one.
        base_url: address up to and with the version ("http://127.0.0.1:8000/v1"); the provider's own by default.
        key_env: name of the environment variable that holds the key, never the key; null for a server that needs none.
        images: most pictures in one request.
        video: whether the model takes whole videos.
        temperature: null leaves it to the model; reasoning models refuse any.
        thinking: how much it thinks: "off", a level of the provider ("low", "medium", "high"), or a number of tokens ("4096");
            null leaves it to the model.
        timeout_s: longest time for one try, from connecting to the last byte.
        output_limit: what the OpenAI format calls the limit of output tokens; older servers know "max_tokens" only.
        structured: whether the API is told the JSON schema of an answer; false for servers that refuse it.
        extra: fields laid over the request's body, key by key, for what a provider has beyond these.
        served: how a server of our own runs the model, as a digest; see `codecap.generate.serve`. Part of a request's digest too.
    """

    api: Literal["openai", "anthropic", "google"]
    model: str = Field(min_length=1)
    base_url: str | None = None
    key_env: str | None = None
    images: int = Field(default=50, ge=1)
    video: bool = False
    temperature: float | None = Field(default=None, ge=0)
    thinking: str | None = None
    timeout_s: float = Field(default=300, gt=0)
    output_limit: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    structured: bool = True
    extra: dict[str, Any] = {}
    served: str | None = None

    @field_validator("thinking", mode="before")
    @classmethod
    def _as_yaml_reads_it(cls, told: Any) -> Any:
        """YAML takes `off` for false, and 4096 for a number."""
        if told is False:
            return "off"
        return str(told) if isinstance(told, int) and not isinstance(told, bool) else told

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, told: str | None) -> str | None:
        if told is None:
            return None
        parts = urlsplit(told)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an address like https://host/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("base_url must hold no name, password or query; keys come from the variable that key_env names")
        return told.rstrip("/")

    @field_validator("key_env")
    @classmethod
    def _a_name(cls, told: str | None) -> str | None:
        if told is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", told):
            raise ValueError("key_env must be the name of an environment variable, not a key")  # and is not repeated here
        return told

    @model_validator(mode="after")
    def _thinks_in_levels(self) -> Endpoint:
        if self.api == "openai" and self.thinking is not None and self.thinking.isdigit():
            raise ValueError("thinking must be a level (low, medium, high) or off: this API knows no number of tokens")
        return self

    @model_validator(mode="after")
    def _sees_videos(self) -> Endpoint:
        if self.api == "anthropic" and self.video:
            raise ValueError("video must be false: Anthropic's API takes no videos; it is shown frames")
        return self

    @property
    def address(self) -> str:
        return self.base_url or HOMES[self.api]

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"{self.model} at {self.host}"


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class _Medium:
    data: bytes
    media_type: str

    @functools.cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Picture(_Medium):
    """An encoded picture: `data` holds a file's bytes, `media_type` is image/jpeg, image/png or image/webp."""

    data: bytes
    media_type: str = "image/png"

    @functools.cached_property
    def size_px(self) -> tuple[int, int]:
        """Width and height, read from the file's header."""
        import io

        from PIL import Image

        with Image.open(io.BytesIO(self.data)) as opened:
            return opened.size


@dataclass(frozen=True)
class Video(_Medium):
    """A whole encoded video.

    Attributes:
        rate_hz: frames a second that the model is asked to look at; None leaves it to the provider.
        seconds: length, for estimates of tokens.
    """

    data: bytes
    media_type: str = "video/mp4"
    rate_hz: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, path: Path, rate_hz: float | None = None, seconds: float | None = None) -> Video:
        """That in a file, which may be one of a packed store."""
        return cls(store.open_at(Path(path), Path.read_bytes), rate_hz=rate_hz, seconds=seconds)


Part = Text | Picture | Video


@dataclass(frozen=True)
class Question:
    """One request to a model.

    Attributes:
        parts: what the user's turn holds, in order.
        system: the system prompt; "" for none.
        schema: JSON Schema of a structured answer, or None for free text. The answer is not trusted to keep it.
        most_output_tokens: limit of the answer, thinking included.
        nonce: another number is another request: a repeat, or the same asked again.
    """

    parts: tuple[Part, ...]
    system: str = ""
    schema: dict[str, Any] | None = None
    most_output_tokens: int = 2048
    nonce: int = 0

    @property
    def media(self) -> list[Picture | Video]:
        return [part for part in self.parts if not isinstance(part, Text)]


@dataclass(frozen=True)
class Answer:
    """A response as a wire format reads it: the text without any thinking (a structured answer is its JSON text).

    Attributes:
        stop: a `Stop`; or "other: WORD", where the server's word for it is none that we know.
    """

    text: str
    stop: Stop | str
    usage: Usage


@dataclass(frozen=True)
class Reply:
    """The answer to a question.

    Attributes:
        text: without thinking; "" when the model said nothing.
        stop: "end", "length" (cut at the limit), "refusal" (by the model or a filter), "other", "other: WORD" (the server's).
        usage: tokens as the provider bills them; `output` includes `reasoning`.
        cost_usd: by the price table of the day it was asked; None when the model has no price there.
        digest: of the request, 64 hexadecimal digits; names its record.
        replayed: it was recorded before, nothing was paid now.
        wall_s: how long the call took that was paid for.
    """

    text: str
    stop: Stop | str
    usage: Usage
    cost_usd: float | None
    digest: str
    replayed: bool
    wall_s: float = 0.0
