"""A service of video jobs, a store whose exchange waits in hundredths of a second, and an order."""

import io
from fractions import Fraction

import av
import numpy as np
import pytest

from codecap import stopping
from codecap.exchange import Exchange, patience
from codecap.generate.jobs.api import JobApi
from codecap.generate.videos import Order

from .service import KEY, Service

PRICES = """
models:
  - models: ["video-*"]
    source: a test
    prices: [{from: 2020-01-01, input: 0, output: 10}]
"""


def encoded(frames: int = 20, rate: int = 16, size: tuple[int, int] = (64, 36)) -> bytes:
    """A video as services give it: not on our clock."""
    told = io.BytesIO()
    with av.open(told, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.time_base = Fraction(1, rate)
        for number in range(frames):
            picture = np.full((size[1], size[0], 3), 8 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return told.getvalue()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("ARK_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    stopping.forget()
    yield
    stopping.forget()


@pytest.fixture(scope="session")
def video() -> bytes:
    return encoded()


@pytest.fixture
def service(video):
    with Service(video) as running:
        yield running


@pytest.fixture
def api_of(service):
    def make(**told) -> JobApi:
        fixed = {"base_url": service.base_url, "model": "video-1", "key_env": "ARK_KEY", "poll_s": 0.02, "timeout_s": 2}
        return JobApi(**(fixed | told))

    return make


@pytest.fixture
def open_exchange(tmp_path):
    """Exchanges on one store, each as another process would open it."""
    opened = []
    (tmp_path / "prices.yaml").write_text(PRICES)

    def make(**settings) -> Exchange:
        told = {"prices": tmp_path / "prices.yaml"} | settings
        opened.append(Exchange(tmp_path / "durable", told, stage="generate_captions", system="filmed"))
        return opened[-1]

    yield make
    for exchange in opened:
        exchange.close()


@pytest.fixture
def order() -> Order:
    return Order("A red square moves from left to right.", 5.2, 1280, 720)
