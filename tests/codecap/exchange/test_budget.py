"""The budget: counted across threads and processes, never overdrawn by estimates, resumed when raised."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from decimal import Decimal

import psutil
import pytest

from codecap.errors import UserError
from codecap.exchange import BudgetSpent, PriceUnknown
from codecap.exchange.budget import Budget
from codecap.exchange.processes import is_gone, this_process

from .conftest import RATES, saying


def test_calls_stop_at_the_budget_and_go_on_when_it_is_raised(server, open_exchange, endpoint_of):
    exchange = open_exchange(budget_calls=3)
    for number in range(3):
        exchange.ask(endpoint_of(), saying(f"{number}"))
    with pytest.raises(BudgetSpent, match="exchange.budget_calls"):
        exchange.ask(endpoint_of(), saying("3"))
    assert exchange.ask(endpoint_of(), saying("0")).replayed  # what is recorded is free
    assert server.account.calls == 3
    raised = open_exchange(budget_calls=5)
    assert [raised.ask(endpoint_of(), saying(f"{number}")).replayed for number in range(5)] == [True] * 3 + [False] * 2
    assert server.account.calls == 5


def test_dollars_are_never_overdrawn_by_many_at_once(server, open_exchange, endpoint_of):
    exchange = open_exchange(budget_usd=0.06, concurrency=8)  # a call costs 3,000 to 4,000 millionths, its estimate is 5,500

    def one(number: int) -> bool:
        try:
            return bool(exchange.ask(endpoint_of(), saying(f"{number}")))
        except BudgetSpent as why:
            assert "exchange.budget_usd" in str(why)
            return False

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        answered = sum(threads.map(one, range(40)))
    spent = server.account.millionths(**RATES)
    assert spent <= 60_000
    assert spent > 60_000 - 2 * 5_500  # and it is used, since what was reserved too high is given back
    assert answered == server.account.calls
    rest = open_exchange(budget_usd=1)
    replayed = [rest.ask(endpoint_of(), saying(f"{number}")).replayed for number in range(40)]
    assert sum(replayed) == answered
    assert (server.account.calls, server.account.twice) == (40, 0)


def test_a_model_without_a_price_is_not_asked_on_a_budget_in_dollars(server, open_exchange, endpoint_of, prices):
    with pytest.raises(PriceUnknown, match=str(prices)) as caught:
        open_exchange(budget_usd=10).ask(endpoint_of(model="unknown"), saying("a"))
    assert "'unknown'" in str(caught.value)
    assert server.ways == []
    assert open_exchange(budget_calls=1).ask(endpoint_of(model="unknown"), saying("a")).cost_usd is None


def test_a_failure_is_not_charged(server, open_exchange, endpoint_of):
    server.behave("500", "500")
    exchange = open_exchange(budget_calls=1)
    exchange.ask(endpoint_of(), saying("a"))
    assert exchange.budget.account().calls == 1


def test_what_may_have_been_billed_goes_on_counting(server, open_exchange, endpoint_of):
    server.behave("cut stream")
    exchange = open_exchange(budget_calls=2)
    exchange.ask(endpoint_of(), saying("a"))
    account = exchange.budget.account()
    assert (account.calls, len(account.open)) == (1, 1)
    with pytest.raises(BudgetSpent):
        exchange.ask(endpoint_of(), saying("b"))


PROCESS = """
import os, sys
from decimal import Decimal
from pathlib import Path
from codecap.exchange import BudgetSpent
from codecap.exchange.budget import Budget
budget = Budget(Path(sys.argv[1]), usd=Decimal("1"))
made = 0
try:
    for number in range(1000):
        name = budget.reserve(f"{os.getpid()} {number}", Decimal("0.01"), 60)
        budget.settle(name, Decimal("0.01"))
        made += 1
except BudgetSpent:
    pass
print(made)
"""


def test_processes_share_it(tmp_path):
    running = [subprocess.Popen([sys.executable, "-c", PROCESS, tmp_path], stdout=subprocess.PIPE) for _ in range(3)]
    assert sum(int(process.communicate(timeout=60)[0]) for process in running) == 100
    assert Budget(tmp_path).account().spent_usd == 1


def test_a_call_of_a_dead_process_is_settled_when_its_reply_was_recorded(tmp_path):
    dead = Budget(tmp_path)
    dead.reserve("recorded", Decimal(2), lasts_s=-1)
    dead.reserve("lost", Decimal(3), lasts_s=-1)
    budget = Budget(tmp_path, usd=Decimal(4))
    with pytest.raises(BudgetSpent):  # at once: nothing is under way
        budget.reserve("new", Decimal(1), 60)
    budget.reconcile({"recorded": Decimal("0.5")}.get)
    account = budget.account()
    assert account.spent_usd == Decimal("0.5")
    assert [reserved.digest for reserved in account.open.values()] == ["lost"]
    budget.reserve("new", Decimal("0.5"), 60)


def test_a_reply_is_settled_once_however_many_tries_it_took(tmp_path):
    budget = Budget(tmp_path)
    budget.lose(budget.reserve("a", Decimal(2), 60))
    Budget(tmp_path).reserve("a", Decimal(2), lasts_s=-1)  # by a process that was killed
    budget.settle(budget.reserve("a", Decimal(2), 60), Decimal(1))
    budget.reconcile({"a": Decimal(1)}.get)
    account = budget.account()
    assert (account.spent_usd, account.calls, account.reserved_usd) == (1, 1, 4)


def test_a_call_under_way_is_awaited_where_it_may_leave_enough(tmp_path):
    budget = Budget(tmp_path, usd=Decimal(1))
    first = budget.reserve("first", Decimal("0.8"), 60)
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        second = threads.submit(budget.reserve, "second", Decimal("0.5"), 60)
        time.sleep(0.1)
        assert not second.done()
        budget.settle(first, Decimal("0.3"))
        assert second.result(5)
    with pytest.raises(BudgetSpent):
        budget.reserve("third", Decimal("0.9"), 60)


HOLDER = """
import sys
from decimal import Decimal
from pathlib import Path
from codecap.exchange.budget import Budget
print(Budget(Path(sys.argv[1])).reserve(sys.argv[2], Decimal("0.8"), 60), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process with a call of 0.80 USD under way."""
    command = [sys.executable, "-c", HOLDER, tmp_path, "theirs"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    yield process
    process.kill()
    process.wait(10)
    process.stdin.close()
    process.stdout.close()


def test_a_dead_process_is_not_waited_for_and_its_call_goes_on_counting(tmp_path, holder):
    budget = Budget(tmp_path, usd=Decimal(1))
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(budget.reserve, "new", Decimal("0.5"), 60)
        time.sleep(0.5)
        assert not waiting.done()
        holder.kill()
        with pytest.raises(BudgetSpent):
            waiting.result(5)  # while it is a zombie too
    holder.wait(10)
    assert budget.account().reserved_usd == Decimal("0.8")
    budget.reconcile({"theirs": Decimal("0.3")}.get)
    assert (budget.account().spent_usd, budget.account().open) == (Decimal("0.3"), {})


def test_what_is_waited_for_is_told_once(tmp_path, holder, caplog):
    caplog.set_level("INFO")
    budget = Budget(tmp_path, usd=Decimal(1))
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(budget.reserve, f"{number}", Decimal("0.5"), 60) for number in range(3)]
        time.sleep(0.7)
        holder.kill()
        assert all(isinstance(one.exception(5), BudgetSpent) for one in waiting)
    (line,) = [record.getMessage() for record in caplog.records if "waiting" in record.getMessage()]
    told = re.fullmatch(r"what is left of the budget depends on others: waiting for 1 call under way, (\d+) s at most", line)
    assert 50 < int(told[1]) <= 60


def test_the_same_call_of_another_process_is_awaited(tmp_path, holder):
    budget = Budget(tmp_path)
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(budget.reserve, "theirs", Decimal(1), 60)
        time.sleep(0.5)
        assert not waiting.done()
        holder.kill()
        assert waiting.result(5) is None  # look whether it is recorded
    assert budget.reserve("theirs", Decimal(1), 60)


def test_a_pid_that_is_used_again_is_another_process():
    host, pid, started = this_process()
    assert not is_gone((host, os.getppid(), psutil.Process(os.getppid()).create_time()))
    assert is_gone((host, os.getppid(), started - 1000))
    assert not is_gone(("another-host", pid, started - 1000))
    assert not is_gone(None)


@pytest.mark.parametrize("behind", ["a running session", "the next session"])
def test_a_lost_ledger_is_made_again_of_what_is_recorded(server, open_exchange, endpoint_of, tmp_path, behind):
    exchange = open_exchange(budget_calls=3)
    for number in range(3):
        exchange.ask(endpoint_of(), saying(f"{number}"))
    spent = exchange.budget.account().spent_usd
    (tmp_path / "durable" / "exchange" / "ledger.jsonl").unlink()
    later = exchange if behind == "a running session" else open_exchange(budget_calls=3)
    with pytest.raises(BudgetSpent):
        later.ask(endpoint_of(), saying("3"))
    assert server.account.calls == 3
    raised = open_exchange(budget_calls=4)
    raised.ask(endpoint_of(), saying("3"))
    assert raised.budget.account().spent_usd == Decimal(server.account.millionths(**RATES)) / 1_000_000 > spent
    assert raised.budget.account().calls == exchange.budget.account().calls == 4


def test_a_ledger_that_was_cut_short_is_completed(server, open_exchange, endpoint_of, tmp_path):
    for number in range(4):
        open_exchange().ask(endpoint_of(), saying(f"{number}"))
    ledger = tmp_path / "durable" / "exchange" / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:2]))  # one call is reserved and settled
    with pytest.raises(BudgetSpent):
        open_exchange(budget_calls=4).ask(endpoint_of(), saying("4"))
    assert open_exchange().budget.account().spent_usd == Decimal(server.account.millionths(**RATES)) / 1_000_000


def test_a_line_that_a_killed_process_left_is_taken_away(tmp_path):
    budget = Budget(tmp_path)
    budget.settle(budget.reserve("a", Decimal(1), 60), Decimal(1))
    ledger = tmp_path / "ledger.jsonl"
    with ledger.open("a") as file:
        file.write('{"what":"settle","id":"x","us')
    other = Budget(tmp_path)
    other.settle(other.reserve("b", Decimal(1), 60), Decimal("0.25"))
    assert budget.account().spent_usd == Decimal("1.25")
    assert all(json.loads(line) for line in ledger.read_text().splitlines())


@pytest.mark.parametrize("line", ["\0\0\0", "{}", '{"what":"reserve","id":"x","digest":"d","usd":"many","until":1}', "3"])
def test_a_damaged_ledger_is_told_and_not_guessed(tmp_path, line):
    budget = Budget(tmp_path)
    budget.settle(budget.reserve("a", Decimal(1), 60), Decimal(1))
    ledger = tmp_path / "ledger.jsonl"
    size = ledger.stat().st_size
    with ledger.open("a") as file:
        file.write(f"{line}\n")
    for opened in (budget, Budget(tmp_path)):
        with pytest.raises(UserError, match=f"{ledger}: the line at byte {size} is damaged"):
            opened.reserve("b", Decimal(1), 60)
