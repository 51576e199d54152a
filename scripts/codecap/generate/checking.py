"""Does a system's model answer, take as many pictures as its entry says, and think as hard? One cheap call tells."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from codecap import registry
from codecap.errors import UserError
from codecap.exchange import Endpoint, Exchange, NotReached, Picture, Question, Reply, Text, wire
from codecap.exchange.bodies import lighten
from codecap.exchange.passing import Passing
from codecap.exchange.trying import Failure, Hearer, Passed
from codecap.exchange.wire import responses
from codecap.generate import entries, serve

LOG = logging.getLogger("codecap")
MOST_PICTURES = 50  # that are sent; more would make the call dear
SIDE_PX = 32
LEAST_TOKENS = 1024  # of the answer: enough to say a word after some thinking
LONGEST_S = 120.0  # for the answer, whatever the entry says: its patience is that for a page
SHOWN = 200  # characters of a text of the request


@dataclass
class Checked:
    """What came of one entry.

    Attributes:
        problems: in words; none where all is well.
        notes: what else is to be said.
        sent: the request as it was sent: address, names of its headers, and the body, pictures and long texts abridged.
        cost_usd: None where the model has no price.
    """

    system: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sent: dict[str, Any] = field(default_factory=dict)
    answer: str = ""
    cost_usd: float | None = None


def check(system: str, entry: Mapping[str, Any], config: Mapping[str, Any], exchange: Exchange) -> Checked:
    """Check one entry of `models`; its call is recorded and counted like any other.

    Args:
        exchange: open, of one try a question: what fails is to be seen at once.
    """
    told = Checked(system)
    try:
        harness = registry.make(entries.FAMILY, entry["harness"], _without_server(entries.settings_of(config, entry), told))
    except (UserError, ValueError) as error:
        told.problems.append(str(error))
        return told
    if not registry.said(entries.FAMILY, entry["harness"], "PAID", default=False):
        told.notes.append("asks no model")
        return told
    try:
        told.notes.append(harness.version())
    except UserError as error:
        told.problems.append(str(error))
    missing = entries.without_key({system: entry}, [system])
    told.problems += [f"the environment variable {key} is not set" for key in missing]
    if entry.get("script") is not None:
        told.notes.append("its model is a script, which is read and not played")
    elif not isinstance(entry.get("endpoint"), Mapping):
        told.notes.append("its service is not tried: that would make a video")
    elif entry.get("serve") is not None:
        told.notes.append("its model is served beside its jobs, and not tried here")
    elif not missing:
        _ask(told, harness.settings.endpoint, getattr(harness, "dialect", None), exchange)
    return told


def _without_server(settings: Mapping[str, Any], told: Checked) -> dict[str, Any]:
    try:
        return serve.described(settings)
    except ValueError as error:
        told.problems.append(str(error))
        return {name: value for name, value in settings.items() if name != "serve"}


def _ask(told: Checked, endpoint: Endpoint, dialect: str | None, exchange: Exchange) -> None:
    """Ask as the system's runs do.

    Args:
        dialect: "responses" for an agent that speaks these, and not what a question is put in by itself.
    """
    endpoint = endpoint.model_copy(update={"timeout_s": min(endpoint.timeout_s, LONGEST_S)})
    count = min(endpoint.images, MOST_PICTURES)
    if count < endpoint.images:
        told.notes.append(f"{count} pictures tried; its entry says that it takes {endpoint.images}")
    asked = question(endpoint, count)
    speaker = responses if dialect == "responses" else wire.speaking(endpoint.api)
    told.sent = {
        "POST": speaker.url(endpoint),
        "headers": list(speaker.headers("a key" if endpoint.key_env else None)),
        "body": abridged(speaker.body(endpoint, asked, wire.by_digest)),
    }
    if endpoint.thinking is None:
        told.notes.append("no effort is sent: the entry leaves it to the model")
    LOG.info("%s: asking %s, for %.0f s at most", told.system, endpoint.name, endpoint.timeout_s)
    try:
        reply = _passed(exchange, endpoint, asked, told.system) if speaker is responses else exchange.ask(endpoint, asked)
    except NotReached as error:
        told.problems.append(str(error))
        return
    told.answer = " ".join(reply.text.split())[:SHOWN] or f"(no text; it stopped by {reply.stop})"
    if reply.stop == "refusal":
        told.problems.append("the model, or a filter of its provider, refused to answer")
    elif not reply.text.strip():
        told.notes.append(f"the answer holds no text: {asked.most_output_tokens} tokens may be too few after its thinking")
    told.cost_usd = reply.cost_usd
    used = reply.usage
    tokens = used.input_uncached + used.input_cache_read + used.input_cache_write
    told.notes.append(f"{tokens} input and {used.output} output tokens, {used.reasoning} of them thinking, in {reply.wall_s:.1f} s")
    if reply.cost_usd is None:
        told.notes.append(f"its cost is not known: {exchange.prices.how_to_add(endpoint.model)}")


def _passed(exchange: Exchange, endpoint: Endpoint, asked: Question, system: str) -> Reply:
    """The answer to a question in OpenAI's responses; they are only passed through elsewhere, so their record is a run's.

    Raises:
        NotReached: there is none.
    """
    body = responses.body(endpoint, asked, wire.in_base64)
    told = {"dialect": "responses", "path": "/responses", "most_output_tokens": asked.most_output_tokens}
    request = Passed(**told, body=json.dumps(body).encode(), light=lighten(body))
    passing = Passing(exchange, endpoint, f"check of {system} {asked.nonce}")
    name = passing.name(request, passing.digest(request), 0)
    whole = passing.ask(request, name, time.monotonic() + endpoint.timeout_s, Hearer())
    if isinstance(whole, Failure):
        raise NotReached(f"{endpoint.name}: {whole.told}")
    answer = responses.read(wire.parsed(whole.text))
    usd = None if whole.usd is None else float(whole.usd)
    return Reply(answer.text, answer.stop, whole.usage, usd, digest=name, wall_s=whole.wall_s, replayed=False)


def question(endpoint: Endpoint, pictures: int) -> Question:
    """A question with so many small pictures. It is a request of its own each time: a recorded answer would prove nothing."""
    from PIL import Image

    shown = []
    for number in range(pictures):
        file = io.BytesIO()
        Image.new("RGB", (SIDE_PX, SIDE_PX), (number * 5 % 256, 128, 255 - number * 5 % 256)).save(file, "PNG")
        shown.append(Picture(file.getvalue()))
    thinking = int(endpoint.thinking) if (endpoint.thinking or "").isdigit() else 0
    parts = (*shown, Text("How many pictures are above? Answer with the number alone."))
    return Question(parts, most_output_tokens=LEAST_TOKENS + thinking, nonce=time.time_ns())


def abridged(told: Any) -> Any:
    """A request's body as it is to be read: equal neighbours of a list counted, long texts cut."""
    if isinstance(told, Mapping):
        return {name: abridged(value) for name, value in told.items()}
    if isinstance(told, str):
        return told if len(told) <= SHOWN else f"{told[:SHOWN]}… ({len(told)} characters)"
    if not isinstance(told, list):
        return told
    return list(_counted([abridged(item) for item in told]))


def _counted(items: list[Any]) -> Iterator[Any]:
    """Neighbours that differ in nothing but a picture's digest are one entry, with their number."""
    kinds = [_without_digests(item) for item in items]
    start = 0
    for place in range(1, len(items) + 1):
        if place == len(items) or kinds[place] != kinds[start]:
            alike = place - start
            yield items[start] if alike == 1 else f"{alike} times {kinds[start]}"
            start = place


def _without_digests(told: Any) -> Any:
    if isinstance(told, Mapping):
        return {name: _without_digests(value) for name, value in told.items()}
    if isinstance(told, str) and "sha256:" in told:
        return told.partition("sha256:")[0] + "…"
    return told


def of_one_try(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The section `exchange` for a check."""
    return {**settings, "tries": 1}


def summed_usd(checked: list[Checked]) -> float:
    return sum(one.cost_usd or 0.0 for one in checked)


def as_json(checked: list[Checked]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(one) for one in checked]
