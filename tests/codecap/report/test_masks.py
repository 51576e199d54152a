"""Masks in the report: a script beside a clip's page, and what the page draws of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from codecap.records import ObjectTracks, read_rows, write_rows
from codecap.report.site import build_report
from codecap.score.masks import kept, rle
from codecap.score.segmenters import Segmented

CLIP, FRAMES, FRAME = "A_000", 60, 20


@pytest.fixture(scope="module")
def masked(run, tmp_path_factory):
    """The run, with masks of an ellipse in each box that one system has of a clip; the system's name."""
    folder = tmp_path_factory.mktemp("masks")
    shards, system = [], None
    for shard in run.tracks:
        rows = []
        for row in read_rows(shard, ObjectTracks):
            if row.clip_id == CLIP and system is None and any(any(track.boxes_xyxy) for track in row.tracks):
                system = row.system
                masks = {
                    track.name: {frame: rle.encode(ellipse(box)) for frame, box in enumerate(track.boxes_xyxy) if box is not None}
                    for track in row.tracks
                }
                kept.write(folder / "masks", Segmented(row.tracks, {name: one for name, one in masks.items() if one}, 180, 320))
                row = row.model_copy(update={"masks": folder / "masks"})
            elif row.clip_id == CLIP:
                row = row.model_copy(update={"masks": folder / "purged"})
            rows.append(row)
        shards.append(folder / shard.name)
        write_rows(shards[-1], ObjectTracks, rows)
    out = folder / "8_report"
    build_report(run.comparison, annotations=run.annotations, tracks=shards, out_dir=out, tables=run.tables)
    tracks = {row.system: row for shard in shards for row in read_rows(shard, ObjectTracks) if row.clip_id == CLIP}
    return out, system, tracks[system].tracks


def ellipse(box) -> np.ndarray:
    x0, y0, x1, y1 = box
    y, x = np.mgrid[:180, :320] + 0.5
    return ((x - (x0 + x1) / 2) / max((x1 - x0) / 2, 1)) ** 2 + ((y - (y0 + y1) / 2) / max((y1 - y0) / 2, 1)) ** 2 <= 1


def test_a_system_with_masks_has_their_script_and_others_have_none(masked, page_data):
    out, system, tracks = masked
    data = page_data((out / "clips" / f"{CLIP}.html").read_text(), "player-data")
    assert list(data["masks"]) == [system]
    script = (out / "clips" / data["masks"][system]).resolve().read_text()
    assert script.startswith(f"takeMasks({json.dumps(system)}, ") and script.endswith(");\n")
    told = json.loads(script[len(f"takeMasks({json.dumps(system)}, ") : -3])
    assert set(told["objects"]) <= {track.name for track in tracks}
    assert len(list((out / "media").rglob("*.masks.js"))) == 1
    assert 'id="masks"' in (out / "clips" / f"{CLIP}.html").read_text()
    assert 'id="masks"' not in (out / "clips" / "B_001.html").read_text()


@pytest.mark.slow
def test_the_page_draws_the_masks_of_the_frame_that_it_shows(masked):
    from playwright.sync_api import sync_playwright

    from codecap.render.browser import find_browser

    out, system, tracks = masked
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_browser()))
        page = browser.new_page(viewport={"width": 1280, "height": 1500})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: None if "getImageData" in message.text else complaints.append(message.text))
        page.goto((out / "clips" / f"{CLIP}.html").as_uri())
        canvas = page.locator(f'.screen[data-system="{system}"] canvas.masks')
        page.locator("#scrubber").evaluate(f"it => {{ it.value = {FRAME}; it.dispatchEvent(new Event('input')); }}")
        pixels = "it.getContext('2d').getImageData(0, 0, it.width, it.height).data"
        read = f"it => Array.from({pixels}).filter((_, place) => place % 4 === 3)"
        page.wait_for_function("() => document.querySelector('canvas.masks')?.width === 320")
        page.wait_for_function(f"() => document.querySelector('#clock').textContent.startsWith('frame {FRAME} ')")
        page.wait_for_timeout(300)
        drawn = np.array(canvas.evaluate(read)).reshape(180, 320) > 0
        page.locator("#masks").uncheck()
        page.wait_for_timeout(100)
        hidden = np.array(canvas.evaluate(read))
        browser.close()
    expected = np.zeros((180, 320), bool)
    for track in tracks:
        if track.boxes_xyxy[FRAME] is not None:
            expected |= ellipse(track.boxes_xyxy[FRAME])
    assert complaints == [] and expected.any()
    assert (drawn == expected).all() and not hidden.any()
