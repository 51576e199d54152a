"""Rates that processes share, on a clock of the test's own."""

import json

import pytest
from pydantic import ValidationError

from codecap.exchange.limits import BURST_S, Gate, Limits


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.now += seconds


def gate(folder, clock, **limits) -> Gate:
    return Gate(folder, "m at host", Limits(**limits), clock=clock, sleep=clock.sleep)


def test_a_minutes_requests_take_a_minute(tmp_path):
    clock = Clock()
    through = gate(tmp_path, clock, requests_per_minute=60)
    for _ in range(70):
        through.wait(tokens=1)
    assert clock.now - 1000 == pytest.approx(69 - BURST_S)


def test_tokens_count_where_they_are_limited(tmp_path):
    clock = Clock()
    through = gate(tmp_path, clock, requests_per_minute=600, tokens_per_minute=6000)
    for _ in range(10):
        through.wait(tokens=1000)  # ten seconds' worth each
    assert clock.now - 1000 == pytest.approx(9 * 10 - BURST_S)


def test_processes_share_a_rate_and_endpoints_do_not(tmp_path):
    clock = Clock()
    gates = [gate(tmp_path, clock, requests_per_minute=60) for _ in range(2)]
    for number in range(40):
        gates[number % 2].wait(tokens=1)
    assert clock.now - 1000 == pytest.approx(39 - BURST_S)
    before = clock.now
    Gate(tmp_path, "another", Limits(requests_per_minute=60), clock=clock, sleep=clock.sleep).wait(1)
    assert clock.now == before


def test_time_that_was_not_used_is_not_saved_up(tmp_path):
    clock = Clock()
    through = gate(tmp_path, clock, requests_per_minute=60)
    through.wait(1)
    clock.now += 3600
    started = clock.now
    for _ in range(30):
        through.wait(1)
    assert clock.now - started == pytest.approx(29 - BURST_S)


def test_a_pause_holds_for_all(tmp_path):
    clock = Clock()
    through = gate(tmp_path, clock)
    through.pause(30)
    through.pause(5)
    through.wait(1)
    assert clock.now == 1030
    through.wait(1)
    assert clock.now == 1030


def test_a_file_that_a_killed_process_left_is_begun_anew(tmp_path):
    clock = Clock()
    through = gate(tmp_path, clock, requests_per_minute=60)
    through.wait(1)
    (file,) = tmp_path.glob("*.turns")
    file.write_text('{"requ')
    through.wait(1)
    assert json.loads(file.read_text())


def test_a_limit_of_nothing_is_refused():
    for told in ({"concurrency": 0}, {"requests_per_minute": 0}, {"tokens_per_minute": -1}):
        with pytest.raises(ValidationError):
            Limits(**told)
