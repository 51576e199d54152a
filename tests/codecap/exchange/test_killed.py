"""A run that is killed: what was answered is not bought again. And keys are nowhere, whatever goes wrong."""

import logging
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from codecap.exchange import BudgetSpent, Endpoint, NotReached, Question, Text, session

from .conftest import KEY, RATES, saying

RUN = """
import sys
from pathlib import Path
from codecap.exchange import Endpoint, Question, Text, session
durable, prices, url = sys.argv[1:]
endpoint = Endpoint(api="openai", model="m-1", base_url=url, key_env="LOOPBACK_KEY", timeout_s=30)
with session(Path(durable), {"prices": prices}) as exchange:
    for number in range(12):
        exchange.ask(endpoint, Question((Text(f"question {number}"),), most_output_tokens=100))
"""


@pytest.mark.parametrize("after", [0, 1, 7])
def test_after_a_kill_only_what_was_not_answered_is_asked(server, tmp_path, prices, after):
    durable = tmp_path / "durable"
    server.behave(*["well"] * after, "hang")
    run = subprocess.Popen([sys.executable, "-c", RUN, durable, prices, server.base_url()])
    assert server.hanging.wait(30)
    run.kill()
    run.wait(10)
    assert server.account.calls == after
    endpoint = Endpoint(api="openai", model="m-1", base_url=server.base_url(), key_env="LOOPBACK_KEY")
    with session(durable, {"prices": prices}) as exchange:
        questions = [Question((Text(f"question {number}"),), most_output_tokens=100) for number in range(12)]
        replies = [exchange.ask(endpoint, question) for question in questions]
    assert [reply.replayed for reply in replies] == [True] * after + [False] * (12 - after)
    assert (server.account.calls, server.account.twice) == (12, 0)
    account = exchange.budget.account()
    assert account.spent_usd == Decimal(server.account.millionths(**RATES)) / 1_000_000
    assert len(account.open) == 1  # the one that was under way: it may have been billed


AT_ONCE = """
import sys
from pathlib import Path
from codecap.exchange import Endpoint, Question, Text, session
durable, prices, url = sys.argv[1:]
endpoint = Endpoint(api="openai", model="m-1", base_url=url, key_env="LOOPBACK_KEY", timeout_s=30)
with session(Path(durable), {"prices": prices}) as exchange:
    sys.stdin.readline()
    print(exchange.ask(endpoint, Question((Text("the same"),), most_output_tokens=100)).replayed)
"""


@pytest.mark.parametrize("calls", [1, 5])
def test_processes_that_ask_the_same_at_once_pay_once(server, tmp_path, prices, calls):
    """Also where the budget has no room for a second one."""
    code = AT_ONCE.replace('{"prices": prices}', f'{{"prices": prices, "budget_calls": {calls}}}')
    server.slow_s, server.otherwise = 1.5, "slow"
    command = [sys.executable, "-c", code, tmp_path / "durable", prices, server.base_url()]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=30)[0].strip() for process in running]
    assert sorted(told) == ["False", "True", "True"]
    assert server.account.calls == 1


def test_a_killed_run_is_not_waited_for(server, tmp_path, prices):
    """The budget has room for one call, and that of the killed process may have been billed."""
    server.behave("hang")
    run = subprocess.Popen([sys.executable, "-c", RUN, tmp_path, prices, server.base_url()])
    assert server.hanging.wait(30)
    run.kill()
    run.wait(10)
    endpoint = Endpoint(api="openai", model="m-1", base_url=server.base_url(), key_env="LOOPBACK_KEY")
    started = time.monotonic()
    with session(tmp_path, {"prices": prices, "budget_calls": 1}) as exchange, pytest.raises(BudgetSpent):
        exchange.ask(endpoint, saying("question 0"))
    assert time.monotonic() - started < 5
    with session(tmp_path, {"prices": prices, "budget_calls": 2}) as exchange:
        exchange.ask(endpoint, saying("question 0"))
    assert (exchange.budget.account().calls, len(exchange.budget.account().open)) == (1, 1)


WAYS = ["401", "403", "404", "400", "no quota", "500", "redirect", "cut stream", "no JSON", "hang", "well"]


@pytest.mark.parametrize("api", ["openai", "anthropic", "google"])
def test_keys_are_nowhere(server, open_exchange, endpoint_of, tmp_path, monkeypatch, caplog, capfd, api):
    """Also where a server sends the key back, in an error or in an answer, whole or in part."""
    caplog.set_level(logging.DEBUG)
    server.answer = lambda asked: f"Your key is {KEY}, which starts with {KEY[:14]}."
    told = []
    for way in WAYS:
        server.behave(way)
        exchange = open_exchange(tries=1)
        try:
            told.append(exchange.ask(endpoint_of(api, timeout_s=0.3), saying(f"{way} {KEY}")).text)
        except NotReached as why:
            told += [str(why), repr(why), repr(why.__cause__)]
    monkeypatch.setenv("HTTP_PROXY", f"http://me:{KEY}@127.0.0.1:9")
    with pytest.raises(NotReached) as caught:
        open_exchange(tries=1).ask(endpoint_of(api, base_url="http://example.invalid/v1"), saying("proxy"))
    told.append(str(caught.value))
    captured = capfd.readouterr()
    told += [caplog.text, captured.out, captured.err]
    told += [path.read_bytes().decode("utf-8", "replace") for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert any("[LOOPBACK_KEY]" in text for text in told)
    assert not [text for text in told if KEY in text or KEY[:14] in text]
