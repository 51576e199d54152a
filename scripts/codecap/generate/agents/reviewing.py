"""What the host does for an agent that works on a page: draws it, compares it, tells the time that is left.

The page's text comes in the request and pictures go back: no path of the sandbox is opened here. The pages that were drawn without
a failure are remembered, for the case that the agent is overtaken by its deadline in the midst of a change.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import functools
import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap.clock import FPS, frame_at, time_of
from codecap.generate.extraction import documents
from codecap.generate.gateway import Deadline, Response, values
from codecap.generate.gateway.routes import Abandoned, Gone, Route
from codecap.records import Clip, Outcome, writable
from codecap.render import InfraError, RenderSettings, render_page

LOG = logging.getLogger("codecap")

RENDER, COMPARE, TIME_LEFT = "/codecap/render", "/codecap/compare", "/codecap/time-left"
MOST_INSTANTS = 60  # of one request
MOST_VALUES = 10_000  # of a request, in memory
LARGEST_PAGE = 20_000_000  # characters
LARGEST_VIDEO = 40_000_000  # bytes that are sent back
KEPT_ERRORS, KEPT_WORDS = 10, 1000
LATEST_S = 1e6  # or earliest, that can be asked for
LEAST_LEFT_S = 1.0
LOOK_S = 0.2  # how often it is looked whether anybody waits

_BROWSERS = threading.BoundedSemaphore(max(len(os.sched_getaffinity(0)), 1))  # of all runs of this process


class BadRequest(Exception):
    """What was asked cannot be done as it was asked; the message is for the agent."""


class Reviewer:
    """Answers one run's requests; pages are drawn one after another, so that no run keeps others from the browsers.

    What is asked for and drawn is given up when nobody waits for it any more, between two frames.

    Args:
        clip: the reference.
        settings: how its pages are drawn.
        deadline: of the run.

    Attributes:
        rendered: the last complete page that was drawn without a failure; None before.
        renders: requests that drew something.
        failed: in words, when a page could not be drawn by our fault.
    """

    def __init__(self, clip: Clip, settings: RenderSettings, deadline: Deadline) -> None:
        self._clip, self._settings, self._deadline = clip, settings, deadline
        self._lock = threading.Lock()
        self._turn = threading.Semaphore()
        self.rendered: str | None = None
        self.renders = 0
        self.failed: str | None = None

    @property
    def routes(self) -> dict[str, Route]:
        return {
            RENDER: functools.partial(self._answered, self._render),
            COMPARE: functools.partial(self._answered, self._compare),
            TIME_LEFT: functools.partial(self._answered, self._time_left),
        }

    def _answered(self, do: Callable[[Mapping[str, Any], Gone], dict[str, Any]], body: bytes, gone: Gone) -> Response:
        try:
            told, status = do(_asked(body), gone), 200
        except BadRequest as error:
            told, status = {"error": str(error)}, 400
        except Abandoned:
            raise
        except Exception as error:  # a fault of this program that one page brings out must not end the other runs
            if not isinstance(error, InfraError):
                LOG.exception("%s: a page could not be drawn", self._clip.clip_id)
            with self._lock:
                self.failed = str(error) or type(error).__name__
            told, status = {"error": "the page could not be drawn now, which is no fault of it; try again"}, 503
        return Response(json.dumps(told).encode(), "application/json", status)

    def _time_left(self, asked: Mapping[str, Any], gone: Gone) -> dict[str, Any]:  # noqa: ARG002
        return {"seconds": max(round(self._deadline.moment - time.monotonic(), 1), 0.0)}

    def _render(self, asked: Mapping[str, Any], gone: Gone) -> dict[str, Any]:
        page, frames = _page(asked), _instants(asked, self._clip)
        if frames is None:
            return self._whole(page, gone)
        drawn = self._draw(page, frames, gone)
        pictures = {f"{time_of(frame):.3f}": _base64(png) for frame, png in drawn.pictures.items()}
        return {**_told(drawn), "pictures": pictures}

    def _whole(self, page: str, gone: Gone) -> dict[str, Any]:
        """All frames, as the benchmark draws them."""
        clip = self._clip
        with self._browser(gone), _in_a_file(page) as file:
            video = file.with_suffix(".mp4")
            made = render_page(file, clip.frames, clip.width_px, clip.height_px, video, self._within(), _attend(gone))
            self._remember(page, made.outcome)
            told = _told(made) | {"frames": made.frames, "seek_repeatable": made.seek_repeatable, "not_only_code": made.purity[:5]}
            if made.outcome is Outcome.OK and video.stat().st_size <= LARGEST_VIDEO:
                told["video"] = _base64(video.read_bytes())
        return told

    def _compare(self, asked: Mapping[str, Any], gone: Gone) -> dict[str, Any]:
        from codecap.generate.agents import contact_sheet

        page, frames = _page(asked), _instants(asked, self._clip)
        drawn = self._draw(page, _each_second(self._clip.frames) if frames is None else frames, gone)
        told = _told(drawn)
        if drawn.pictures:
            pairs = contact_sheet.pairs_of(self._clip.mp4, drawn.pictures)
            told["ssim"] = [{"time_s": round(pair.time_s, 3), "ssim": round(pair.ssim, 4)} for pair in pairs]
            told["sheet"] = _base64(contact_sheet.sheet(pairs))
        return told

    def _draw(self, page: str, frames: Sequence[int], gone: Gone) -> Any:
        from codecap.generate.agents import drawing

        with self._browser(gone), _in_a_file(page) as file:
            drawn = drawing.draw(file, frames, self._clip.width_px, self._clip.height_px, self._within(), _attend(gone))
        self._remember(page, drawn.outcome)
        return drawn

    @contextlib.contextmanager
    def _browser(self, gone: Gone) -> Iterator[None]:
        """This run's turn, and one of the browsers of all.

        Raises:
            Abandoned: nobody waits any more.
            BadRequest: the time was over before.
        """
        with contextlib.ExitStack() as held:
            for gate in (self._turn, _BROWSERS):
                while not gate.acquire(timeout=LOOK_S):
                    self._within()
                    if gone():
                        raise Abandoned
                held.callback(gate.release)
            yield

    def _within(self) -> RenderSettings:
        """The settings, with no longer limit than the time that is left."""
        left_s = self._deadline.moment - time.monotonic()
        if left_s < LEAST_LEFT_S:
            raise BadRequest("there is no time left")
        return dataclasses.replace(self._settings, limit_s=min(self._settings.limit_s, left_s))

    def _remember(self, page: str, outcome: Outcome) -> None:
        with self._lock:
            self.renders += 1
            if outcome is Outcome.OK and documents(page):
                self.rendered = page


@contextlib.contextmanager
def _in_a_file(page: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="codecap-page-") as folder:
        file = Path(folder) / "index.html"
        file.write_text(page, encoding="utf-8")
        yield file


def _attend(gone: Gone) -> Callable[[], None]:
    def attend() -> None:
        if gone():
            raise Abandoned

    return attend


def _asked(body: bytes) -> Mapping[str, Any]:
    if not body:
        return {}
    if values.more_than(MOST_VALUES, body):
        raise BadRequest("the request has too many values")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest("the request is no JSON") from error
    if not isinstance(told, dict):
        raise BadRequest("the request is no JSON object")
    return told


def _page(asked: Mapping[str, Any]) -> str:
    page = asked.get("page")
    if not isinstance(page, str) or not page.strip():
        raise BadRequest("there is no page in the request")
    if writable(page) != page:
        raise BadRequest("the page holds half of a character, which no file can hold")
    if len(page) > LARGEST_PAGE:
        raise BadRequest(f"the page has {len(page)} characters; at most {LARGEST_PAGE} are drawn")
    return page


def _instants(asked: Mapping[str, Any], clip: Clip) -> list[int] | None:
    """The frames on screen at the times that were asked for; None where none were."""
    told = asked.get("at_s")
    if told is None:
        return None
    if not isinstance(told, list) or not all(isinstance(at, int | float) and abs(at) <= LATEST_S for at in told) or not told:
        raise BadRequest(f"the times must be numbers of seconds, none beyond {LATEST_S:.0f}")
    frames = sorted({frame_at(at, clip.frames) for at in told})
    if len(frames) > MOST_INSTANTS:
        raise BadRequest(f"{len(frames)} instants are too many at once; at most {MOST_INSTANTS}")
    return frames


def _each_second(frames: int) -> list[int]:
    """The frames at 0 s, 1 s and so on, and the last one; of a long clip as many as are allowed, evenly spaced."""
    whole = sorted({*range(0, frames, FPS), frames - 1})
    if len(whole) <= MOST_INSTANTS:
        return whole
    return sorted({round(k * (frames - 1) / (MOST_INSTANTS - 1)) for k in range(MOST_INSTANTS)})


def _told(made: Any) -> dict[str, Any]:
    """Outcome and complaints of a render or a drawing."""
    return {
        "outcome": str(made.outcome),
        "detail": made.detail[:KEPT_WORDS],
        "console_errors": [word[:KEPT_WORDS] for word in made.console_errors[:KEPT_ERRORS]],
        "requests_blocked": [word[:KEPT_WORDS] for word in made.requests_blocked[:KEPT_ERRORS]],
    }


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
