"""A provider on the loopback, gateways before it, and clients that know the gateway's socket only."""

from __future__ import annotations

from dataclasses import dataclass

import httpx2
import pytest

from codecap.exchange import Endpoint, Exchange, patience
from codecap.generate.gateway import Gateway

from .upstream import Upstream

KEY = "sk-test-0123456789-abcdefghijklmnop"
MODEL = "m-1"
PRICES = """
models:
  - models: ["m-*"]
    source: a test
    prices: [{from: 2020-01-01, input: 11, cache_read: 2, cache_write: 17, output: 53}]
"""
RATES = {"input_uncached": 11, "input_cache_read": 2, "input_cache_write": 17, "output": 53}


@dataclass(frozen=True)
class Way:
    """One way in which a client asks."""

    api: str
    path: str
    streamed: bool

    @property
    def dialect(self) -> str:
        return next(name for name in ("chat", "responses", "messages", "odels") if f"/{name}" in self.path or name in self.path)

    def body(self, text: str = "Hello", **more) -> dict:
        turn = [{"role": "user", "content": text}]
        if self.api == "google":
            return {"contents": [{"role": "user", "parts": [{"text": text}]}]} | more
        told = {"model": MODEL} | ({"stream": True} if self.streamed else {})
        if self.path.endswith("/responses"):
            return told | {"input": turn} | more
        return told | {"messages": turn} | ({"max_tokens": 1000} if self.api == "anthropic" else {}) | more


WAYS = {
    "chat": Way("openai", "/v1/chat/completions", False),
    "chat stream": Way("openai", "/v1/chat/completions", True),
    "responses": Way("openai", "/v1/responses", False),
    "responses stream": Way("openai", "/v1/responses", True),
    "messages": Way("anthropic", "/v1/messages?beta=true", False),
    "messages stream": Way("anthropic", "/v1/messages", True),
    "generate": Way("google", f"/v1beta/models/{MODEL}:generateContent", False),
    "generate stream": Way("google", f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse", True),
    "generate array": Way("google", f"/v1beta/models/{MODEL}:streamGenerateContent", True),
}


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("UPSTREAM_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def upstream():
    with Upstream(KEY) as running:
        yield running


@pytest.fixture
def open_exchange(tmp_path):
    """Exchanges on one store, each as another process would open it."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    opened = []

    def make(**settings) -> Exchange:
        opened.append(Exchange(tmp_path / "durable", {"prices": prices} | settings, stage="generate", system="agent"))
        return opened[-1]

    yield make
    for exchange in opened:
        exchange.close()


@pytest.fixture
def endpoint_of(upstream):
    def make(api: str, **more) -> Endpoint:
        told = {"model": MODEL, "base_url": upstream.base_url(api), "key_env": "UPSTREAM_KEY", "timeout_s": 5}
        return Endpoint(api=api, **(told | more))

    return make


@pytest.fixture
def gateway_of(open_exchange, endpoint_of):
    """A gateway for one way of asking; each has an exchange of its own, as a run begun again has."""

    def make(way: Way, *, run: str = "a run", settings: dict | None = None, endpoint: dict | None = None, **more) -> Gateway:
        return Gateway(open_exchange(**(settings or {})), endpoint_of(way.api, **(endpoint or {})), run, **({"drain_s": 5} | more))

    return make


class Client:
    """What an agent has: the socket."""

    def __init__(self, gateway: Gateway, timeout_s: float = 10) -> None:
        self.http = httpx2.Client(
            transport=httpx2.HTTPTransport(uds=str(gateway.socket)), base_url=gateway.url_inside, timeout=timeout_s
        )

    def ask(self, way: Way, text: str = "Hello", **more) -> httpx2.Response:
        return self.http.post(way.path, json=way.body(text, **more), headers={"x-api-key": "a word"})
