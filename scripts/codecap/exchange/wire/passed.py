"""Answers that are passed through: what they say of themselves, whole or streamed, in each dialect.

Dialects are the request formats of an API: `chat` and `responses` (OpenAI), `messages` (Anthropic), `generate` (Google), and
`count` (Anthropic's free count of tokens). A stream tells its tokens on the way, and that it is whole at its end:
    chat        a chunk with `usage` (asked for by stream_options); `finish_reason`, then `data: [DONE]`
    responses   `response.completed` or `response.incomplete` with the whole response; or `response.failed`, `error`
    messages    `message_start` and `message_delta` with cumulative counts; `message_stop`, or `error`
    generate    every chunk has cumulative counts; the last has `finishReason`. Without alt=sse it is a JSON array
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from codecap.exchange import wire
from codecap.exchange.failures import Unreadable
from codecap.exchange.wire import anthropic, events, google, openai, responses
from codecap.records import Usage

Dialect = Literal["chat", "responses", "messages", "generate", "count"]

SPEAKERS = {"chat": openai, "responses": openai, "messages": anthropic, "generate": google, "count": anthropic}


class SaidError(Unreadable):
    """An answer that says within itself why there is none.

    Attributes:
        code, message: the server's own.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(" ".join(filter(None, (code, message))) or "the stream says that it failed")
        self.code, self.message = code, message


@dataclass(frozen=True)
class Heard:
    """What a whole answer says of itself.

    Attributes:
        usage: its count of tokens; `Usage()` where it does not tell.
        refused: the model, or a filter over its answer, refused.
    """

    usage: Usage
    refused: bool = False


def heard(dialect: Dialect, streamed: bool, text: str) -> Heard:
    """Read a whole answer.

    Raises:
        Unreadable: it is none, or is not whole.
        SaidError: the server says why.
    """
    if not streamed:
        return _whole(dialect, wire.parsed(text))
    listener = Listener(dialect)
    if text.lstrip().startswith("["):
        listener.hear_array(text)
    else:
        cutter = events.Cutter()
        for event in [*cutter.feed(text.encode()), cutter.rest()]:
            listener.hear(events.data(event.decode()))
    return listener.heard()


def _whole(dialect: Dialect, told: dict[str, Any]) -> Heard:
    if dialect == "count":
        if "input_tokens" not in told:
            raise Unreadable("the response has no input_tokens")
        return Heard(Usage())
    if dialect != "responses":
        answer = SPEAKERS[dialect].read(told)
        return Heard(answer.usage, answer.stop == "refusal")
    if told.get("error") or told.get("status") == "failed":
        raise SaidError(*openai.complaint(told))
    if not isinstance(told.get("output"), list):
        raise Unreadable("the response has no output")
    return Heard(responses.usage(told.get("usage")), responses.refused(told))


class Listener:
    """Hears a stream's events as they come.

    Attributes:
        ended: it has told its end, and whatever it tells of its tokens.
        ending: it has told so, or is about to: a choice of it is finished.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.ended = self.ending = False
        self._counts: dict[str, Any] = {}
        self._refused = False
        self._failure: SaidError | None = None

    def hear(self, data: str) -> dict[str, Any] | None:
        """Take in the data of one event.

        Returns:
            Its JSON object; None where it has none.
        """
        if data == "[DONE]":
            self._end()
        if not data.startswith("{"):
            return None
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            return None  # a stream that is cut within an event never tells its end
        {"chat": self._chat, "responses": self._responses, "messages": self._messages, "generate": self._generate}[self.dialect](
            told
        )
        return told

    def hear_array(self, text: str) -> None:
        """Take in a stream that is one JSON array.

        Raises:
            Unreadable: it is not whole.
        """
        try:
            chunks = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unreadable("the stream is no whole JSON array") from error
        for chunk in chunks:
            if isinstance(chunk, dict):
                self._generate(chunk)

    def heard(self) -> Heard:
        """What it said.

        Raises:
            Unreadable: its end has not come.
            SaidError: the server said that it failed.
        """
        if self._failure is not None:
            raise self._failure
        if not self.ending:
            raise Unreadable("the stream was cut")
        return Heard(self._usage(), self._refused)

    def _end(self) -> None:
        self.ended = self.ending = True

    @property
    def failure(self) -> SaidError | None:
        return self._failure

    def _usage(self) -> Usage:
        return (responses if self.dialect == "responses" else SPEAKERS[self.dialect]).usage(self._counts)

    def _fail(self, told: dict[str, Any]) -> None:
        self._failure = self._failure or SaidError(*SPEAKERS[self.dialect].complaint(told))

    def _chat(self, told: dict[str, Any]) -> None:
        if told.get("error"):
            self._fail(told)
        if isinstance(told.get("usage"), dict):
            self._counts = told["usage"]
        for choice in responses.objects(told.get("choices")):
            if (failed := openai.failure(choice)) is not None:
                self._failure = self._failure or SaidError(*failed)
            self.ending = self.ending or bool(choice.get("finish_reason"))
            delta = choice.get("delta")
            said = isinstance(delta, dict) and bool(delta.get("refusal"))
            self._refused = self._refused or said or _means_refusal(openai, choice.get("finish_reason"))

    def _responses(self, told: dict[str, Any]) -> None:
        kind, response = told.get("type"), told.get("response")
        if kind == "error":
            self._fail(told if isinstance(told.get("error"), dict) else {"error": told})
        elif kind == "response.failed":
            self._fail(response if isinstance(response, dict) and response.get("error") else {})
        elif kind in ("response.completed", "response.incomplete"):
            self._end()
            if isinstance(response, dict):
                self._counts = response["usage"] if isinstance(response.get("usage"), dict) else self._counts
                self._refused = self._refused or responses.refused(response)
        elif kind in ("response.refusal.delta", "response.refusal.done"):
            self._refused = True

    def _messages(self, told: dict[str, Any]) -> None:
        kind = told.get("type")
        if kind == "error":
            self._fail(told)
        elif kind == "message_stop":
            self._end()
        elif kind in ("message_start", "message_delta"):
            holder = told.get("message") if kind == "message_start" else told
            delta = told.get("delta")
            self._refused = self._refused or (isinstance(delta, dict) and _means_refusal(anthropic, delta.get("stop_reason")))
            counts = holder.get("usage") if isinstance(holder, dict) else None
            if isinstance(counts, dict):
                self._counts |= {name: value for name, value in counts.items() if value is not None}

    def _generate(self, told: dict[str, Any]) -> None:
        if told.get("error"):
            self._fail(told)
        if isinstance(told.get("usageMetadata"), dict):
            self._counts = told["usageMetadata"]
        for one in responses.objects(told.get("candidates")):
            if one.get("finishReason"):
                self._end()
                if one["finishReason"] in google.FAILED:
                    self._failure = self._failure or SaidError("", f"the server ended it by {one['finishReason']}")
                self._refused = self._refused or _means_refusal(google, one["finishReason"])
        feedback = told.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._end()
            self._refused = True


def _means_refusal(speaker: ModuleType, reason: Any) -> bool:
    return isinstance(reason, str) and speaker.STOPS.get(reason) == "refusal"
