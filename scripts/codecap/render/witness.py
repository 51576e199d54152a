"""What a page did that is to be known afterwards: errors, requests, crashes. Both engines feed it the same DevTools events."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from codecap.records import Outcome
from codecap.render.failures import PageFailure
from codecap.render.purity import InlineLoad

ADDRESS = "https://page.invalid/"  # where a page is served to its browser
SCRIPT = "witness.js"
LONGEST_NOTE = 300
MOST_NOTES = 20
MOST_LOADS = 5000
HARMLESS = "ResizeObserver loop"  # the browser reports late layout as an error; no script has failed
LOCAL_REFUSED = "Not allowed to load local resource:"
DOMAINS = ("Page", "Runtime", "Log", "Network", "Inspector")  # to be enabled, so that there are events
FLOODS = (b'{"method":"Runtime.consoleAPICalled"', b'{"method":"Log.entryAdded"', b'{"method":"Runtime.exceptionThrown"')
ENDS = {  # events after which a page cannot be drawn any more
    "Inspector.targetCrashed": "the page's process died",
    "Target.targetCrashed": "the page's process died",
    "Page.crash": "the page's process died",
}


@cache
def quiet_script() -> str:
    """To run in the page's own world before its scripts: a gigabyte of console messages is not even sent."""
    return (resources.files(__package__) / SCRIPT).read_text(encoding="utf-8")


class Witness:
    """Notes of one page; bounded in number and in length, whatever the page does.

    Attributes:
        console_errors: errors that scripts raised and did not catch, or wrote to the console.
        requests_blocked: "TYPE ADDRESS" of what the page asked for and was not given.
        inline_loads: what it loaded from addresses that hold the data themselves.
        uncaught: the first errors that nothing caught.
        main_frame: id of the page's own frame, to be set by the engine; `served`, when the page's file has been given to it.
        loaded: it has loaded, or broken that off by going elsewhere, which is refused.
        crashed, left: how the page's process died, or how the page went away; in words, empty while neither.
    """

    def __init__(self) -> None:
        self.console_errors: list[str] = []
        self.requests_blocked: list[str] = []
        self.inline_loads: dict[InlineLoad, None] = {}
        self.uncaught: list[str] = []
        self.main_frame = ""
        self.served = self.loaded = False
        self.crashed = self.left = ""

    def heard_enough(self, start: bytes) -> bool:
        """An event that begins so would add nothing: its kind has been noted often enough."""
        known = bool(self.uncaught) or not start.startswith(FLOODS[-1])
        return len(self.console_errors) > MOST_NOTES and start.startswith(FLOODS) and known

    def hear(self, method: str, told: dict[str, Any]) -> None:
        """Take note of a DevTools event."""
        match method:
            case "Runtime.exceptionThrown":
                self._exception(told["exceptionDetails"])
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "assert"):
                words = [str(part.get("value", part.get("description", ""))) for part in told["args"]]
                note(self.console_errors, " ".join(words))
            case "Log.entryAdded":
                text = told["entry"].get("text", "")
                if text.startswith(LOCAL_REFUSED):
                    self.blocked("local", text.removeprefix(LOCAL_REFUSED).strip())
            case "Page.loadEventFired":
                self.loaded = self.served
            case "Page.frameStoppedLoading" if told["frameId"] == self.main_frame:
                self.loaded = self.served
            case "Page.frameNavigated" if told["frame"]["id"] == self.main_frame and self.served:
                if told["frame"]["url"] != ADDRESS:
                    self.left = self.left or "the page left its own address"
            case "Network.responseReceived":
                load = InlineLoad.of(told)
                if load is not None and len(self.inline_loads) < MOST_LOADS:
                    self.inline_loads[load] = None
            case "Network.webSocketCreated":
                self.blocked("websocket", told["url"])
            case "Network.webTransportCreated":
                self.blocked("webtransport", told["url"])
            case _ if method in ENDS:
                self.crashed = self.crashed or ENDS[method]
            case "Inspector.detached":
                self.left = self.left or "the page closed its window"

    def blocked(self, kind: str, address: str) -> None:
        """Note a request that was refused; the same one is noted once."""
        line = shortened(f"{kind.lower()} {address}")
        if line not in self.requests_blocked:
            note(self.requests_blocked, line)

    def raise_uncaught(self, frame: int | None, answer: dict[str, Any], call: str = "seek") -> None:
        """Raise what nothing caught since the page was opened, or what a call to it ended with.

        Args:
            answer: of DevTools' Runtime.evaluate.
        """
        if self.uncaught:
            raise PageFailure(Outcome.RUNTIME_ERROR, f"uncaught: {self.uncaught[0]}", frame)
        if "exceptionDetails" in answer:
            raise PageFailure(Outcome.RUNTIME_ERROR, f"{call} failed: {in_words(answer['exceptionDetails'])}", frame)

    def raise_left(self) -> None:
        """Raise that the page went away, if it did."""
        if self.left:
            raise PageFailure(Outcome.RUNTIME_ERROR, self.left)

    def _exception(self, details: dict[str, Any]) -> None:
        message = in_words(details)
        note(self.console_errors, f"uncaught: {message}")
        if HARMLESS not in message and len(self.uncaught) < MOST_NOTES:
            self.uncaught.append(message)


def note(notes: list[str], text: str) -> None:
    if len(notes) < MOST_NOTES:
        notes.append(shortened(text))
    elif len(notes) == MOST_NOTES:
        notes.append(f"and more than {MOST_NOTES} in all")


def in_words(details: dict[str, Any]) -> str:
    """An exception of the page (DevTools' ExceptionDetails) in one line, with its place in the page."""
    thrown = details.get("exception", {})
    text = str(thrown.get("description") or thrown.get("value") or details.get("text", "")).split("\n    at ")[0]
    line, column = _place(details)
    return shortened(f"{text} (line {line + 1}, column {column + 1})" if line is not None else text)


def _place(details: dict[str, Any]) -> tuple[int | None, int]:
    """Line and column, both from 0, of the innermost call in the page itself; scripts of ours have no address."""
    for call in details.get("stackTrace", {}).get("callFrames", []):
        if call["url"]:
            return call["lineNumber"], call["columnNumber"]
    if details.get("url"):
        return details["lineNumber"], details["columnNumber"]
    return None, 0


def left_its_address(message: str) -> bool:
    """The browser says so of a page that has put another in its place."""
    return any(sign in message for sign in ("context was destroyed", "Cannot find context", "Cannot find default", "navigated"))


def cannot_be_told(message: str) -> bool:
    """The browser says so of what a page has thrown: a symbol, or an object that throws when it is looked at."""
    return "returned by value" in message or "Internal error" in message


def shortened(text: str) -> str:
    """One line that any file can hold; half of a character, which JavaScript's strings may have, is replaced."""
    line = " ".join(text[: 4 * LONGEST_NOTE].encode("utf-8", "replace").decode().split())
    return line if len(line) <= LONGEST_NOTE else line[: LONGEST_NOTE - 3] + "..."
