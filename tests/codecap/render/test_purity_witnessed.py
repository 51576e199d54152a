"""What a page did, in a browser and with addresses that scripts build: it made pictures or fonts of its own bytes."""

from __future__ import annotations

import base64
from pathlib import Path

import cv2
import numpy as np
import pytest

from codecap.render.purity import InlineLoad, findings, observed, seen_call, watch_script

PIXEL = base64.b64encode(cv2.imencode(".png", np.zeros((1, 1, 3), np.uint8))[1].tobytes()).decode()
VECTOR = '<svg xmlns="http://www.w3.org/2000/svg"/>'
BYTES = f"Uint8Array.from(atob('{PIXEL[:40]}' + '{PIXEL[40:]}'), c => c.charCodeAt(0))"
CANVAS = "const c = document.createElement('canvas'); c.getContext('2d').fillRect(0, 0, 9, 9);"
IMPURE = {
    "a picture in parts": (f"show('da' + 'ta:image/png;base' + '64,' + '{PIXEL}')", "made an image of its own data (image/png)"),
    "a picture of no type": (f"show('data:;base64,{PIXEL}')", "made an image of its own data (text/plain)"),
    "a picture as a blob": (
        f"show(URL.createObjectURL(new Blob([{BYTES}], {{type: 'image/png'}})))",
        "an image of its own data (image/png)",
    ),
    "a picture in a style": (
        f"document.body.style.background= 'url(data:image/' + 'png;base64,{PIXEL})'",
        "an image of its own data",
    ),
    "a bitmap of bytes": (f"createImageBitmap(new Blob([{BYTES}])).then(done)", "made a picture of bytes by createImageBitmap"),
    "a font of bytes": (f"document.fonts.add(new FontFace('Brand', {BYTES}.buffer))", "brought a font, 'Brand'"),
    "a font in a style": (
        "document.body.innerHTML = '<style>@font-' + 'face{font-family:B;src:url(data:font/woff2;base' + '64,d09GMgABAAAA)}</style>"
        '<p style="font-family:B">x\'',
        "made a font of its own data (font/woff2)",
    ),
}
PURE = {
    "a canvas as a data address": CANVAS + "show(c.toDataURL())",
    "a canvas as JPEG": CANVAS + "show(c.toDataURL('image/jpeg'))",
    "a canvas as a blob": CANVAS + "c.toBlob(blob => show(URL.createObjectURL(blob)))",
    "a canvas off the screen": "const c = new OffscreenCanvas(9, 9); c.getContext('2d').fillRect(0, 0, 9, 9);"
    "c.convertToBlob().then(blob => show(URL.createObjectURL(blob)))",
    "a bitmap of a canvas": CANVAS + "createImageBitmap(c).then(done)",
    "a vector picture": f"show('data:image/svg+xml,{VECTOR}')",
    "a vector picture as a blob": f"show(URL.createObjectURL(new Blob(['{VECTOR}'], {{type: 'image/svg+xml'}})))",
    "a worker": "new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))",
    "an installed font": "document.fonts.add(new FontFace('Mine', 'local(Arial)'))",
}


@pytest.fixture(scope="module")
def done_by(browser: Path):
    """What a page does, in a real browser: its findings at run time."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])

        def done(script: str) -> list[str]:
            page = chromium.new_page()
            page.add_init_script(watch_script())
            devtools = page.context.new_cdp_session(page)
            devtools.send("Network.enable")
            loads: list[InlineLoad | None] = []
            devtools.on("Network.responseReceived", lambda told: loads.append(InlineLoad.of(told)))
            page.goto("about:blank")
            show = "const done = () => 0, show = a => { const i = new Image(); i.src = a; document.body.append(i) };"
            page.evaluate(f"async () => {{ {show} {script}; await new Promise(then => setTimeout(then, 150)) }}")
            found = observed([], [load for load in loads if load], page.evaluate(seen_call()))
            page.close()
            return found

        yield done
        chromium.close()


@pytest.mark.parametrize("what", IMPURE)
def test_what_a_page_makes_of_its_bytes_is_seen(done_by, what):
    script, finding = IMPURE[what]
    assert any(told.startswith("at run time: ") and finding in told for told in done_by(script))


@pytest.mark.parametrize("what", PURE)
def test_its_own_drawings_and_vectors_are_no_findings(done_by, what):
    assert done_by(PURE[what]) == []


def test_what_was_asked_for_is_told_as_it_stood_in_the_page():
    assert observed(["image https://page.invalid/pics/a.png", "font https://x.org/f.woff2", "local file:///etc/passwd"]) == [
        "at run time: asked for an image 'pics/a.png'",
        "at run time: asked for a font 'https://x.org/f.woff2'",
        "at run time: asked for a local file 'file:///etc/passwd'",
    ]


def test_the_same_is_told_once_and_browsers_own_wishes_are_not():
    asked = ["fetch https://x.org/a", "xhr https://x.org/a", "other https://page.invalid/favicon.ico", "and more than 20 in all"]
    assert observed(asked[:2] + asked) == ["at run time: asked for data 'https://x.org/a'"]


def test_a_page_that_cannot_be_asked_any_more_is_not_accused_of_its_canvases():
    loads = [InlineLoad("image", "image/png", "a"), InlineLoad("media", "video/webm", "b")]
    assert observed([], loads, None) == ["at run time: made a video or a sound of its own data (video/webm)"]


def test_long_addresses_are_cut():
    assert len(observed([f"image https://x.org/{'a' * 5000}"])[0]) < 150


def test_what_the_source_check_cannot_see_is_why_there_is_a_second_one():
    hidden = "<script>const k = 'f' + 'etch'; self[k]('x'); i['s' + 'rc'] = 'a' + '.png'</script>"
    assert findings(hidden) == []
