"""A loopback server, an exchange that waits in hundredths of a second, and a price table with round numbers."""

from pathlib import Path

import pytest
from loopback import Loopback

from codecap.exchange import Endpoint, Exchange, Question, Text, patience

KEY = "sk-test-0123456789-abcdefghijklmnop"
PRICES = """
models:
  - models: ["m-*"]
    source: a test
    prices: [{from: 2020-01-01, input: 11, cache_read: 2, cache_write: 17, output: 53}]
"""
RATES = {"uncached": 11, "read": 2, "written": 17, "output": 53}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with Loopback(answer=lambda asked: f"You said {asked}", key=KEY, hang_s=5) as running:
        yield running


@pytest.fixture
def prices(tmp_path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES)
    return path


@pytest.fixture
def open_exchange(tmp_path, prices):
    """Exchanges on one store, each as another process would open it."""
    opened = []

    def make(**settings) -> Exchange:
        opened.append(Exchange(tmp_path / "durable", {"prices": prices} | settings, stage="retention", system="still"))
        return opened[-1]

    yield make
    for exchange in opened:
        exchange.close()


@pytest.fixture
def endpoint_of(server):
    def make(api="openai", **told) -> Endpoint:
        fixed = {"model": "m-1", "base_url": server.base_url(api), "key_env": "LOOPBACK_KEY", "timeout_s": 5}
        return Endpoint(api=api, **(fixed | told))

    return make


def saying(text: str, **told) -> Question:
    return Question(parts=(Text(text),), **({"most_output_tokens": 100} | told))
