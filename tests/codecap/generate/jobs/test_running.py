"""A job that is paid for is submitted once, whatever happens between the order and the file."""

import json
import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from codecap import stopping
from codecap.exchange import BudgetSpent, NotReached, PriceUnknown, Rejected
from codecap.exchange.prices import PriceTable
from codecap.exchange.spending import summed
from codecap.generate.harnesses import InfraError
from codecap.generate.jobs.running import Jobs
from codecap.generate.videos import Refused

from .service import KEY, REFUSAL, until

USD = Decimal("1.089")  # 108,900 tokens at 10 USD a million


def test_a_video_is_ordered_awaited_and_downloaded(service, api_of, open_exchange, order, tmp_path, video):
    exchange = open_exchange()
    done = Jobs(exchange, api_of()).video(order, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == video
    assert service.jobs == {
        "cgt-001": {
            "model": "video-1",
            "content": [{"type": "text", "text": order.prompt}],
            "ratio": "16:9",
            "duration": 5,
            "resolution": "720p",
            "watermark": False,
        }
    }
    assert (done.job, done.usage.output, done.usd) == ("cgt-001", 108_900, USD)
    assert done.answer["status"] == "succeeded" and 0 <= done.wall_s < 10
    assert (exchange.paid, exchange.paid_usd) == (1, USD)


def test_the_same_order_is_the_same_job_ever_after(service, api_of, open_exchange, order, tmp_path, video):
    for _ in range(3):
        done = Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == video and done.usd == USD
    assert len(service.jobs) == 1
    Jobs(open_exchange(), api_of(model="video-2")).video(order, tmp_path / "out")
    assert len(service.jobs) == 2


def test_the_same_order_of_two_threads_is_one_job(service, api_of, open_exchange, order, tmp_path):
    jobs = Jobs(open_exchange(), api_of())
    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda number: jobs.video(order, tmp_path / str(number)).job, range(3)))
    assert told == ["cgt-001"] * 3 and list(service.jobs) == ["cgt-001"]


def test_a_service_is_not_asked_for_more_at_once_than_it_may_be(service, api_of, open_exchange, order, tmp_path):
    jobs = Jobs(open_exchange(concurrency=2), api_of())
    orders = [order.__class__(f"scene {number}", 5, 64, 36) for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda told: jobs.video(told, tmp_path / told.prompt), orders))
    assert len(service.jobs) == 6 and service.most_at_once <= 2


RUN = """
import sys
from pathlib import Path
from codecap.exchange import Exchange
from codecap.generate.jobs.api import JobApi
from codecap.generate.jobs.running import Jobs
from codecap.generate.videos import Order
durable, prices, url, out = sys.argv[1:]
api = JobApi(base_url=url, model="video-1", key_env="ARK_KEY", poll_s=0.02)
order = Order("A red square moves from left to right.", 5.2, 1280, 720)
print(Jobs(Exchange(Path(durable), {"prices": prices}), api).video(order, Path(out)).job)
"""


def run(service, tmp_path: Path) -> subprocess.Popen:
    where = [tmp_path / "durable", tmp_path / "prices.yaml", service.base_url, tmp_path / "out"]
    return subprocess.Popen([sys.executable, "-c", RUN, *map(str, where)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("killed", ["while it is under way", "while it is downloaded"])
def test_a_run_that_is_killed_after_its_order_goes_on_with_the_job(service, open_exchange, api_of, order, tmp_path, video, killed):
    exchange = open_exchange()
    downloading = killed == "while it is downloaded"
    service.states = ["running", "succeeded"] if downloading else ["running"]
    service.downloads.extend(["slow"] * downloading)
    process = run(service, tmp_path)
    until(lambda: service.hanging.is_set() if downloading else service.asked["cgt-001"] > 3, 30)
    process.kill()
    process.communicate()
    service.states = ["queued", "running", "succeeded"]
    done = Jobs(exchange, api_of()).video(order, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == video and list(service.jobs) == ["cgt-001"]
    assert (done.usd == USD and done.wall_s is None) or killed == "while it is downloaded"
    later = open_exchange()
    later.reconcile()
    account = later.budget.account()
    assert (account.spent_usd, len(account.open)) == (USD, 0)
    total = summed(tmp_path / "durable", PriceTable.read(tmp_path / "prices.yaml")).total
    assert (total.calls, total.usd, total.tokens["output"]) == (1, USD, 108_900)


def test_a_run_that_is_killed_while_it_orders_orders_nothing_again_by_itself(service, open_exchange, api_of, order, tmp_path):
    service.orders.append("hang")
    process = run(service, tmp_path)
    assert service.hanging.wait(30)
    process.kill()
    process.communicate()
    for _ in range(2):
        with pytest.raises(InfraError, match=r"its answer was lost: it may be paid for; .*submit_lost_again for one run"):
            Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert len(service.jobs) == 1
    Jobs(open_exchange(), api_of(submit_lost_again=True)).video(order, tmp_path / "out")
    assert len(service.jobs) == 2
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert len(service.jobs) == 2


@pytest.mark.parametrize("way", ["no rights", "a plan", "200 with 400"])
def test_missing_rights_and_wrong_orders_are_no_refusals(service, open_exchange, api_of, order, tmp_path, way):
    service.orders.append(way)
    with pytest.raises(Rejected, match="AccessDenied|InvalidParameter"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-001"
    assert not open_exchange().budget.account().open


def test_errors_that_are_said_with_status_200_took_no_order(service, open_exchange, api_of, order, tmp_path):
    service.orders.append("200 with 429")
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-001"
    service.orders.append("200 refused")
    with pytest.raises(Refused, match="InputTextSensitiveContentDetected"):
        Jobs(open_exchange(), api_of(model="video-2")).video(order, tmp_path / "out")


def test_half_a_character_in_an_answer_is_replaced(service, open_exchange, api_of, order, tmp_path):
    service.states, service.failure = ["failed"], {"code": "Internal\ud83d", "message": "caf\ud83d"}
    with pytest.raises(InfraError, match=r"Internal\?: caf\?"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    service.states, service.echo = ["succeeded"], ["caf\ud83d", float("inf")]
    for _ in range(2):
        done = Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
        assert done.answer["content"]["echo"] == ["caf?", None]
        json.dumps(done.answer, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("way", ["cut", "504", "500 of a gateway", "no id", "no id, and words"])
def test_an_order_whose_answer_is_lost_is_not_sent_again(service, open_exchange, api_of, order, tmp_path, way):
    service.orders.append(way)
    for _ in range(2):
        with pytest.raises(InfraError, match="may be paid for"):
            Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert len(service.jobs) == (way == "cut")
    assert len(open_exchange().budget.account().open) >= 1  # it goes on counting


def test_a_service_that_knows_an_order_again_is_sent_it_again(service, open_exchange, api_of, order, tmp_path):
    service.orders.extend(["cut", "504"])
    done = Jobs(open_exchange(), api_of(idempotency="X-Client-Token")).video(order, tmp_path / "out")
    assert done.job == "cgt-001" and list(service.tokens.values()) == [2]
    assert len(service.jobs) == 1


def test_orders_that_were_not_taken_are_sent_again(service, open_exchange, api_of, order, tmp_path):
    service.orders.extend(["429", "500", "429"])
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-001"
    service.orders.extend(["500"] * 9)
    with pytest.raises(NotReached, match=r"InternalServiceError.*after 3 tries\); run again later"):
        Jobs(open_exchange(tries=3), api_of(model="video-2")).video(order, tmp_path / "out")
    assert len(service.jobs) == 1 and not open_exchange().budget.account().open


def test_a_server_that_is_not_there_took_no_order(service, open_exchange, api_of, order, tmp_path):
    nobody = api_of(base_url="http://127.0.0.1:9/api/v3")
    with pytest.raises(NotReached, match="no connection"):
        Jobs(open_exchange(tries=2), nobody).video(order, tmp_path / "out")
    with pytest.raises(NotReached):  # and not: it may be paid for
        Jobs(open_exchange(tries=1), nobody).video(order, tmp_path / "out")


def test_a_text_that_the_service_refuses(service, open_exchange, api_of, order, tmp_path):
    service.orders.append("refused")
    with pytest.raises(Refused, match="InputTextSensitiveContentDetected: The request failed"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    service.states, service.failure = ["running", "failed"], {"code": "OutputVideoSensitiveContentDetected", "message": "hidden"}
    with pytest.raises(Refused, match="OutputVideoSensitiveContentDetected: hidden"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")


def test_a_job_that_the_service_fails_at_is_ordered_anew_by_the_next_run(service, open_exchange, api_of, order, tmp_path):
    service.states, service.failure = ["failed"], {"code": "InternalServiceError", "message": "out of memory"}
    with pytest.raises(InfraError, match="job cgt-001 has ended as failed: InternalServiceError: out of memory; the next run"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    service.states = ["succeeded"]
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-002"
    assert not open_exchange().budget.account().open


def test_a_job_that_takes_too_long_is_taken_up_by_the_next_run(service, open_exchange, api_of, order, tmp_path):
    service.states = ["running"]
    with pytest.raises(InfraError, match=r"cgt-001 was not done within 0\.1 s \(it is running\); the next run goes on with it"):
        Jobs(open_exchange(), api_of(limit_s=0.1)).video(order, tmp_path / "out")
    service.states = ["succeeded"]
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-001"
    assert len(service.jobs) == 1


def test_a_job_that_the_service_has_forgotten_is_not_ordered_again_by_itself(service, open_exchange, api_of, order, tmp_path):
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    service.forgets = True
    for _ in range(2):
        with pytest.raises(InfraError, match=r"does not know job cgt-001 any more.*may be paid for"):
            Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    service.forgets = False
    assert Jobs(open_exchange(), api_of(submit_lost_again=True)).video(order, tmp_path / "out").job == "cgt-002"


def test_a_process_that_is_to_end_does_not_wait_for_a_job_and_the_next_one_does(service, open_exchange, api_of, order, tmp_path):
    service.states = ["running"]
    threading.Timer(0.3, stopping.ask, ["time limit near"]).start()
    with pytest.raises(stopping.Stopped):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    stopping.forget()
    service.states = ["succeeded"]
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-001"


def test_a_wrong_key_is_told_and_nothing_more_is_asked(service, open_exchange, api_of, order, tmp_path, monkeypatch):
    monkeypatch.setenv("ARK_KEY", "another-key-0123456789")
    jobs = Jobs(open_exchange(), api_of())
    for _ in range(2):
        with pytest.raises(Rejected, match="check the key in the environment variable ARK_KEY"):
            jobs.video(order, tmp_path / "out")
    monkeypatch.delenv("ARK_KEY")
    with pytest.raises(Rejected, match="set the environment variable ARK_KEY"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert not service.jobs


def test_budgets_hold_for_videos_too(service, open_exchange, api_of, order, tmp_path):
    with pytest.raises(BudgetSpent):
        Jobs(open_exchange(budget_usd=1), api_of()).video(order, tmp_path / "out")  # 5 s are likely to cost 1.08
    with pytest.raises(PriceUnknown):
        Jobs(open_exchange(budget_usd=1), api_of(model="unpriced")).video(order, tmp_path / "out")
    assert not service.jobs
    done = Jobs(open_exchange(budget_usd=1), api_of(usd_a_second="0.04", usd_a_video="0.3")).video(order, tmp_path / "out")
    assert done.usd == Decimal("0.5")
    total = summed(tmp_path / "durable", PriceTable.read(tmp_path / "prices.yaml")).total
    assert (total.calls, total.usd, total.unpriced) == (1, Decimal("0.5"), 0)


def test_a_lost_ledger_is_made_again_of_what_the_videos_cost(service, open_exchange, api_of, order, tmp_path):
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    (tmp_path / "durable/exchange/ledger.jsonl").unlink()
    exchange = open_exchange()
    exchange.budget.release(exchange.budget.reserve("another", Decimal(0), 1))
    assert exchange.budget.account().spent_usd == USD


def test_keys_are_nowhere(service, open_exchange, api_of, order, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    service.failure = {"code": "InternalServiceError", "message": f"key {KEY} failed"}
    service.states = ["failed"]
    said = []
    service.orders.append("401")
    for _ in range(2):
        with pytest.raises((InfraError, Rejected)) as why:
            Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
        said += [str(why.value), repr(why.value.__cause__)]
    said += [caplog.text, *capfd.readouterr()]
    said += [path.read_bytes().decode("utf-8", "replace") for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert "[ARK_KEY]" in "".join(said) and KEY not in "".join(said)


def test_what_was_ordered_and_answered_is_recorded(service, open_exchange, api_of, order, tmp_path):
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    records = {name: [json.loads(told) for told in [payload]] for name, payload in open_exchange().records.every()}
    (digest,) = (name for name in records if not name.endswith(".job.free"))
    record = records[digest][0]
    assert (record["job"], record["stage"], record["system"]) == ("cgt-001", "generate_captions", "filmed")
    assert record["request"]["content"][0]["text"] == order.prompt
    assert json.loads(record["response"])["status"] == "succeeded"
    assert REFUSAL["error"]["code"] not in str(records)
