"""Clips whose frames say their number by their colour, and sessions of the exchange that wait in hundredths of a second."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

from codecap.exchange import patience, session
from codecap.records import Clip
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX = 48, 32
PAGE = """<!doctype html>
<html><head><title>{name}</title></head><body><script>
window.seek = seconds => {{ document.body.style.background = "rgb(0, 0, " + Math.round(seconds * 9) + ")"; }};
</script></body></html>"""
PRICES = """
models:
  - models: ["m-*"]
    source: a test
    prices: [{from: 2020-01-01, input: 11, cache_read: 2, cache_write: 17, output: 53}]
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def clip_of(tmp_path):
    """Makes a clip of so many frames; frame `i` has one colour that no other near it has."""

    def make(frames: int, clip_id: str = "A_001", shade: int = 0) -> Clip:
        mp4 = tmp_path / f"{clip_id}.mp4"
        writer = CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX)
        for index in range(frames):
            rgb = np.zeros((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
            rgb[:] = (index // 12 * 37 % 200 + 20, index // 12 * 11 % 200 + 20, shade)
            writer.add(rgb)
        writer.close()
        size = {"width_px": WIDTH_PX, "height_px": HEIGHT_PX, "frames": frames}
        return Clip(clip_id=clip_id, category=clip_id[0], mp4=mp4, sha256=file_sha256(mp4), **size)

    return make


@pytest.fixture
def durable(tmp_path) -> Path:
    return tmp_path / "durable"


@pytest.fixture
def opened(tmp_path, durable):
    """Sessions on one store, each as another process would open it."""

    @contextlib.contextmanager
    def make(**settings):
        prices = tmp_path / "prices.yaml"
        prices.write_text(PRICES)
        with session(durable, {"prices": prices} | settings, stage="generate_captions", system="mine") as exchange:
            yield exchange

    return make
