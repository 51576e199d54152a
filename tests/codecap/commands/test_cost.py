"""`codecap cost` from the command line."""

import json

import pytest
from loopback import Loopback
from typer.testing import CliRunner

from codecap.cli import app
from codecap.config import PROJECT
from codecap.exchange import Endpoint, Question, Text, session

PRICES = (
    'models: [{models: ["m"], source: a test, prices: [{from: 2020-01-01, input: 1, cache_read: 1, cache_write: 1, output: 1}]}]'
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.yaml").write_text(PRICES)
    (tmp_path / "mine.yaml").write_text(f"exchange: {{prices: {tmp_path}/prices.yaml}}\n")

    def make(*arguments: str):
        files = ["--config", str(PROJECT / "config" / "demo.yaml"), "--config", str(tmp_path / "mine.yaml")]
        return CliRunner().invoke(app, ["cost", *arguments, *files])

    return make


def test_what_was_spent(run, tmp_path):
    with Loopback(answer=lambda _: "hello") as server:
        for system in ("one", "two"):
            with session(
                tmp_path / "store" / "durable", {"prices": tmp_path / "prices.yaml"}, stage="score", system=system
            ) as exchange:
                for model in ("m", "unknown"):
                    exchange.ask(Endpoint(api="openai", model=model, base_url=server.base_url()), Question((Text(system),)))
                    exchange.ask(Endpoint(api="openai", model=model, base_url=server.base_url()), Question((Text(system),)))
        found = run("--by", "system", "--json")
    told = json.loads(found.output)
    assert [row["system"] for row in told["sums"]] == ["one", "two"]
    assert told["total"]["calls"] == server.account.calls == 4
    each = 101 + 3 + 3 // 3 + 3 // 7 + 13 + 5  # the server's rule for "one" or "two"
    assert float(told["total"]["usd"]) == pytest.approx(2 * each / 1e6, abs=1e-12)
    table = run("--by", "endpoint").output
    assert "unknown at 127.0.0.1" in table
    assert "2 calls have no price" in table
    assert f"{tmp_path}/prices.yaml" in table


def test_nothing_was_spent(run):
    found = run()
    assert (found.exit_code, found.output) == (0, "nothing was asked yet\ntotal: 0 calls, 0.00 USD\n")


@pytest.mark.parametrize("by", ["colour", "day,day", ""])
def test_a_wrong_grouping_is_told(run, by):
    found = run("--by", by)
    assert found.exit_code == 1
    assert "endpoint,stage,system,day" in found.stderr


def test_a_plan_without_hosted_models(run):
    assert run("--plan").output == "no hosted model is asked by this configuration\n"


def test_a_plan(run, tmp_path):
    endpoint = '{api: openai, model: "gpt-6.2-sol"}'
    (tmp_path / "mine.yaml").write_text(f"metrics: {{retention: {{judge: mllm, judges: {{mllm: {{endpoint: {endpoint}}}}}}}}}\n")
    told = json.loads(run("--plan", "--json").output)
    assert [row["asker"] for row in told["planned"]] == ["retention, judge mllm"]
    assert float(told["planned"][0]["low_usd"]) > 0
    assert "gpt-6.2-sol at api.openai.com" in run("--plan").output


def test_an_exchange_can_be_looked_into(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Loopback(answer=lambda _: "hello") as server, session(tmp_path / "store" / "durable") as exchange:
        endpoint = Endpoint(api="openai", model="m", base_url=server.base_url())
        digest = exchange.ask(endpoint, Question((Text("a"),))).digest
    found = CliRunner().invoke(app, ["exchange", "show", digest[:10]])
    assert json.loads(found.output)[0]["model"] == "m"
    assert CliRunner().invoke(app, ["exchange", "show", "0000000000"]).exit_code == 1
    assert CliRunner().invoke(app, ["exchange", "verify"]).output == "0 problems\n"
