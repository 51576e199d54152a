"""A small clip, a page that draws it, and agents' runs on it."""

import contextlib
import re
from pathlib import Path

import numpy as np
import pytest

from codecap import exchange
from codecap.generate import sandbox as sandboxes
from codecap.generate.agents.scripted import Account, Script, ScriptedModel
from codecap.generate.paid import caption_shard
from codecap.records import Caption, Clip
from codecap.render import BrowserMissing, find_browser
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX, FRAMES, SIDE_PX = 160, 96, 48, 32
GROUND, INK = (16, 32, 48), (200, 40, 40)


@pytest.fixture(scope="session")
def clip(tmp_path_factory) -> Clip:
    """A square that moves 2 px a frame from the left edge, 2 s."""
    mp4 = tmp_path_factory.mktemp("clip") / "A_001.mp4"
    writer = CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX)
    for frame in range(FRAMES):
        rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), GROUND, np.uint8)
        rgb[SIDE_PX : 2 * SIDE_PX, 2 * frame : 2 * frame + SIDE_PX] = INK
        writer.add(rgb)
    writer.close()
    told = {"clip_id": "A_001", "category": "A", "mp4": mp4, "sha256": file_sha256(mp4)}
    return Clip(**told, frames=FRAMES, width_px=WIDTH_PX, height_px=HEIGHT_PX)


@pytest.fixture(scope="session")
def page() -> str:
    style = f"position:absolute;top:{SIDE_PX}px;width:{SIDE_PX}px;height:{SIDE_PX}px;background:rgb{INK}"
    return (
        f'<!doctype html><html><body style="margin:0;background:rgb{GROUND}"><div id="a" style="{style}"></div>\n'
        "<script>window.seek = t => { document.getElementById('a').style.left = Math.round(t * 48) + 'px'; };</script>"
        "</body></html>\n"
    )


@pytest.fixture(scope="session")
def writes_page(page) -> str:
    """The command that writes the page to index.html."""
    return f"cat > index.html <<'EOF'\n{page}EOF"


@pytest.fixture(scope="session")
def browser() -> Path:
    try:
        return find_browser()
    except BrowserMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def bwrap() -> None:
    try:
        sandboxes.load({"backend": "bwrap"}).check()
    except sandboxes.SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def durable(tmp_path) -> Path:
    return tmp_path / "durable"


@pytest.fixture
def play(clip, durable):
    """Have an agent with a scripted model caption the clip; the row, and the model's account of it."""

    def played(
        turns: list[dict], harness: str = "scripted", api: str = "openai", model: str = "scripted-1", **told
    ) -> tuple[Caption, Account]:
        script = Script.model_validate({"model": model, "turns": turns})
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(ScriptedModel(script, for_s=300))
            stack.enter_context(exchange.session(durable, {"prices": _prices(durable)}))
            url = re.sub("/v1$", "/v1beta", server.base_url) if api == "google" else server.base_url
            endpoint = {"api": api, "model": model, "base_url": url, "thinking": "high"}
            settings = {"endpoint": endpoint, "deadline_s": 120, "memory_mb": 2500, **told}
            (row,) = caption_shard([clip], "system", harness, settings, durable)
            return row, server.account

    return played


def _prices(durable: Path) -> Path:
    """A table that has the scripted model: 1, 0.1 and 10 USD for a million tokens of input, of input read again, of output."""
    table = durable.parent / "prices.yaml"
    rates = "{from: 2026-01-01, input: 1, cache_read: 0.1, output: 10}"
    table.write_text(f"models:\n  - models: [scripted-*, gemini-*]\n    source: the test\n    prices: [{rates}]\n")
    return table
