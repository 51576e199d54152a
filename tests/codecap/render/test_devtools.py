"""The DevTools client against the other end of its pipes, played by the test: answers, events, silence, floods, death."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from codecap.render.devtools import DeadlinePassed, DevTools, Disconnected, Refused


class Browser:
    """The browser's ends of the pipes."""

    def __init__(self, devtools: DevTools) -> None:
        self._in, self._out = (os.dup(end) for end in devtools.theirs)
        devtools.close_theirs()
        self._rest = b""

    def say(self, message: dict | bytes) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message, separators=(",", ":")).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]

    def hear(self) -> dict:
        while b"\0" not in self._rest:
            self._rest += os.read(self._in, 65536)
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def die(self) -> None:
        os.close(self._in)
        os.close(self._out)


@pytest.fixture
def heard() -> list[tuple[str, dict, str]]:
    return []


@pytest.fixture
def devtools(heard) -> Iterator[DevTools]:
    made = DevTools(
        lambda *event: heard.append(event),
        passed_over=lambda start: start.startswith(b'{"method":"Spam'),
        longest_message=100_000,
    )
    yield made
    made.close()
    made.close()


@pytest.fixture
def browser(devtools) -> Browser:
    return Browser(devtools)


def soon() -> float:
    return time.monotonic() + 5


def answering(browser: Browser, *answers) -> threading.Thread:
    """Answer calls in another thread: a dict is a result, bytes are said as they are before the next answer."""

    def run() -> None:
        for answer in answers:
            if isinstance(answer, bytes):
                browser.say(answer)
            else:
                browser.say({"id": browser.hear()["id"], **answer})

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_a_call_gets_its_own_answer_and_events_go_to_the_listener(devtools, browser, heard):
    event = b'{"method":"Page.loaded","params":{"at":1},"sessionId":"S"}\0'
    answering(browser, event, {"result": {"value": "\u00e9 \u6f22"}})
    assert devtools.call("Runtime.evaluate", {"expression": "1"}, "S", soon()) == {"value": "\u00e9 \u6f22"}
    assert heard == [("Page.loaded", {"at": 1}, "S")]


def test_a_call_is_sent_as_the_protocol_wants_it(devtools, browser):
    number = devtools.send("Page.enable", None, "S", until=soon())
    assert browser.hear() == {"id": number, "method": "Page.enable", "params": {}, "sessionId": "S"}
    devtools.send("Browser.close")
    assert browser.hear() == {"id": number + 1, "method": "Browser.close", "params": {}}


def test_answers_may_come_in_another_order(devtools, browser):
    first, second = (devtools.send("A.b", until=soon()) for _ in range(2))
    browser.say({"id": second, "result": {"n": 2}})
    browser.say({"id": first, "result": {"n": 1}})
    assert devtools.answer(first, soon()) == {"n": 1}
    assert devtools.answer(second, soon()) == {"n": 2}


def test_an_error_is_raised_with_the_browser_s_words(devtools, browser):
    answering(browser, {"error": {"code": -32000, "message": "Cannot find context"}})
    with pytest.raises(Refused, match="Cannot find context"):
        devtools.call("Runtime.evaluate", {}, "S", soon())


def test_silence_ends_at_the_deadline_and_the_answer_can_be_waited_for_again(devtools, browser):
    number = devtools.send("A.b", until=soon())
    with pytest.raises(DeadlinePassed):
        devtools.answer(number, time.monotonic() + 0.02)
    browser.say({"id": number, "result": {}})
    assert devtools.answer(number, soon()) == {}


def test_a_flood_of_events_cannot_hold_off_the_deadline(devtools, browser, heard):
    def flood() -> None:
        with pytest.raises(OSError, match="Broken pipe"):
            while True:
                browser.say(b'{"method":"Page.x","params":{}}\0' * 1000)

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    number, ends_at = devtools.send("A.b", until=soon()), time.monotonic() + 0.2
    with pytest.raises(DeadlinePassed):
        devtools.answer(number, ends_at)
    assert time.monotonic() < ends_at + 2
    devtools.close()
    thread.join(5)
    assert not thread.is_alive()
    assert len(heard) >= 1000


def test_what_is_passed_over_is_not_read(devtools, browser, heard):
    browser.say(b'{"method":"Spam.more", this is no JSON}\0{"method":"Page.y"}\0')
    devtools.listen(soon())
    assert [method for method, _, _ in heard] == ["Page.y"]


def test_a_message_that_is_too_long_is_dropped_as_it_comes_in(devtools, browser, heard):
    long = b'{"method":"Page.long","params":{"x":"' + b"x" * 5_000_000 + b'"}}\0'
    thread = threading.Thread(target=browser.say, args=(long + b'{"method":"Page.short"}\0',), daemon=True)
    thread.start()
    most = 0
    while not heard:
        devtools.listen(soon())
        most = max(most, sum(map(len, devtools._parts)))
    assert [method for method, _, _ in heard] == ["Page.short"]
    assert most <= 100_000


def test_the_end_of_the_browser_is_told(devtools, browser):
    number = devtools.send("A.b", until=soon())
    browser.die()
    with pytest.raises(Disconnected):
        devtools.answer(number, soon())
    with pytest.raises(Disconnected):
        devtools.send("A.b")


def test_a_browser_that_reads_nothing_cannot_hold_us(devtools, browser):
    with pytest.raises(DeadlinePassed):
        devtools.send("A.b", {"x": "x" * 5_000_000}, until=time.monotonic() + 0.1)


def test_no_descriptor_stays_open():
    before = psutil.Process().num_fds()
    DevTools(lambda *_: None, lambda _: False, 1000).close()
    assert psutil.Process().num_fds() == before
