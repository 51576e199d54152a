"""What is not code is found with its place; what is code, or only speaks of such things, is not."""

from __future__ import annotations

import base64
import random
import time
from html import escape

import pytest

from codecap.render.purity import MOST_FINDINGS, findings

PNG = base64.b64encode(random.Random(1).randbytes(900)).decode()
PIXELS = ",".join(str(random.Random(n).randrange(256)) for n in range(3000))
PATHS = "".join(f"M{n} {n % 7}.5L{n % 31}-{n % 13}c{n},{n},2-3,4,4z" for n in range(3000))
NOT_CODE = {
    "raster data URI": (f'<img src="data:image/png;base64,{PNG}">', "1:1: data URI of image/png, 1200 characters"),
    "data URI in CSS": (
        f"<style>\na{{background:url(data:image/webp;base64,{PNG})}}</style>",
        "2:18: data URI of image/webp, 1200 characters",
    ),
    "data URI in a script": (
        f"<script>\n\nlet i = 'data:image/jpeg;base64,{PNG}'</script>",
        "3:10: data URI of image/jpeg, 1200 characters",
    ),
    "video data": (f'<video src="data:video/mp4;base64,{PNG}"></video>', "1:1: data URI of video/mp4, 1200 characters"),
    "font data": (
        f"<style>@font-face{{font-family:a;src:url('data:font/woff2;base64,{PNG}')}}</style>",
        "1:42: data URI of font/woff2, 1200 characters",
    ),
    "raster in an SVG data URI": (
        "<img src='data:image/svg+xml;base64,"
        + base64.b64encode(f"<svg><image href='data:image/png;base64,{PNG}'/></svg>".encode()).decode()
        + "'>",
        "1:1: in a data URI of image/svg+xml: data URI of image/png, 1200 characters",
    ),
    "base64 literal": (f"<script>const a = `{PNG}`</script>", "1:20: base64 literal of 1200 characters"),
    "hex literal": (f"<script>const a = '{'00ff7f' * 400}'</script>", "1:20: hexadecimal literal of 2400 characters"),
    "array of pixels": (
        f"<script>\nconst p = new Uint8Array([{PIXELS}])</script>",
        "2:27: array literal of 3000 numbers from 0 to 255, as pixels have",
    ),
    "rows of pixels": (
        f"<script>const p = [[{PIXELS}],\n[{PIXELS}]]</script>",
        "1:21: array literal of 6000 numbers from 0 to 255, as pixels have",
    ),
    "img": ("<p>\n  <img src='a.png'>", "2:3: <img src> loads 'a.png'"),
    "srcset": ("<img srcset='b.png 2x'>", "1:1: <img srcset> loads 'b.png 2x'"),
    "SVG image": ("<svg><image href='c.jpg' /></svg>", "1:6: <image href> loads 'c.jpg'"),
    "SVG image, old way": ("<svg><image xlink:href='c.jpg' /></svg>", "1:6: <image xlink:href> loads 'c.jpg'"),
    "video element": ("<video></video>", "1:1: <video> element"),
    "script from outside": ("<script src='https://x.org/d3.js'></script>", "1:1: <script src> loads 'https://x.org/d3.js'"),
    "style sheet": ("<link rel=stylesheet href='//fonts.org/css'>", "1:1: <link href> loads '//fonts.org/css'"),
    "web font": ("<style>@font-face { src: url(a.woff2) }</style>", "1:8: style @font-face brings a font"),
    "import in CSS": ("<style>@import 'https://x.org/a.css';</style>", "1:8: style @import loads 'https://x.org/a.css'"),
    "url in an attribute": ("<div style='background:url(d.png)'>", "1:1: style url() loads 'd.png'"),
    "fetch": ("<script>let a\n fetch (u)</script>", "2:2: script calls fetch"),
    "XHR": ("<script>new XMLHttpRequest()</script>", "1:13: script calls XMLHttpRequest"),
    "WebSocket": ("<script>new window.WebSocket(u)</script>", "1:13: script calls WebSocket"),
    "beacon": ("<script>navigator.sendBeacon(u)</script>", "1:9: script calls sendBeacon"),
    "remote module": (
        "<script type=module>import * as d from 'https://x.org/d.js'</script>",
        "1:21: script loads 'https://x.org/d.js'",
    ),
    "dynamic import": ("<script>import('https://x.org/d.js')</script>", "1:9: script loads 'https://x.org/d.js'"),
    "image made by script": ("<script>new Image().src = 'e.png'</script>", "1:20: script loads 'e.png'"),
    "attribute set by script": ("<script>i.setAttribute('href', 'f.png')</script>", "1:11: script loads 'f.png'"),
    "call after a regular expression": ('<script>s.match(/"/); fetch(1)</script>', "1:23: script calls fetch"),
    "handler": ("<p onclick='fetch(1)'>", "1:1: script calls fetch"),
    "file access": ("<script>go('file:///etc/passwd')</script>", "1:13: file address 'file:///etc/passwd'"),
    "frame within": ("<iframe srcdoc='<img src=g.png>'></iframe>", "1:1: in <iframe srcdoc>: <img src> loads 'g.png'"),
}
CODE = {
    "SVG": f"<svg xmlns='http://www.w3.org/2000/svg'><use href='#a'/><path fill='url(#g)' d='{PATHS}'/></svg>",
    "SVG by script": f"<script>const p = document.createElementNS('http://www.w3.org/2000/svg', 'path'); p.d = '{PATHS}'</script>",
    "points": f"<svg><polyline points='{PIXELS}'/></svg><script>const s = '{PIXELS}'</script>",
    "data of a chart": "<script>const d = [" + ",".join(f"{n * 0.37:.2f}" for n in range(5000)) + "]</script>",
    "big numbers": "<script>const d = [" + ",".join(str(n) for n in range(4000)) + "]</script>",
    "a level of a game": "<script>const level = [" + ",".join(["[" + ",".join("0102" * 10) + "]"] * 30) + "]</script>",
    "vector data URI": "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0'/></svg>\">",
    "link that is clicked": "<a href='https://example.org'>more</a>",
    "text that speaks of it": "<p>fetch(url), file:///x? no: http://x.org/a.png, @font-face { src: url(a) }</p>",
    "string that speaks of it": "<script>show('fetch(x); new WebSocket(y)', \"i.src = 'a.png'\", `http://x.org/a.png`)</script>",
    "comments": "<!-- <img src=a.png> --><script>// fetch(x)\n/* import('http://x') */</script><style>/* url(a.png) */</style>",
    "names": "<script>const prefetch = x => api.fetch(x); prefetch(1); i.src = c.toDataURL(); j.src = blob</script>",
    "prefix": "<script>s.replace('data:image/png;base64,', '')</script>",
    "words": "<script>const s = '" + "abcdefghij" * 200 + "', t = '" + "-" * 3000 + "'</script>",
    "regular expressions": "<script>s.replace(/[\"']/g, '').replace(/'/g, \"fetch(x)\"); let b = 'fetch(x)'</script>",
    "gradient": "<style>a { background: linear-gradient(#fff, #000); clip-path: url(#c) }</style>",
    "local module": "<script type=module>const f = import.meta; export const seek = 1</script>",
    "not closed": "<script>window.seek = t => { '",
    "empty": "",
}


@pytest.mark.parametrize("what", NOT_CODE)
def test_what_is_not_code_is_found_where_it_is(what):
    html, finding = NOT_CODE[what]
    assert finding in findings(html)


@pytest.mark.parametrize("what", CODE)
def test_code_gives_no_finding(what):
    assert findings(CODE[what]) == []


def within(depth: int, html: str, wrapped) -> str:
    for _ in range(depth):
        html = wrapped(html)
    return html


def in_a_frame(html: str) -> str:
    return f'<iframe srcdoc="{escape(html)}"></iframe>'


def in_a_picture(html: str) -> str:
    return f"<svg><a href='data:image/svg+xml;base64,{base64.b64encode(html.encode()).decode()}'/></svg>"


@pytest.mark.parametrize("wrapped", [in_a_frame, in_a_picture])
def test_documents_within_documents_are_checked_to_a_depth_and_told_beyond_it(wrapped):
    (checked,) = findings(within(5, "<img src=g.png>", wrapped))
    assert checked.endswith(": <img src> loads 'g.png'")
    (told,) = findings(within(6, "<img src=g.png>", wrapped))
    assert told.endswith(": documents within documents, more than 5 deep, which are not checked")


def test_a_page_of_frames_within_frames_is_told_and_does_no_harm():
    (told,) = findings("<!doctype html><html><body>" + "<iframe/srcdoc=" * 340 + "x></iframe></body></html>")
    assert told.endswith("more than 5 deep, which are not checked")


def test_what_a_document_within_holds_is_told_once():
    page = within(2, "<img src=g.png>", lambda html: in_a_frame(in_a_picture(html)))
    assert len(findings(page)) == 1


def test_findings_come_in_order_and_are_few_and_short():
    found = findings("\n".join(f"<img src='{'x' * 500}{n}.png'>" for n in range(200)))
    assert len(found) == MOST_FINDINGS + 1
    assert found[0].startswith("1:1: ") and found[9].startswith("10:1: ")
    assert found[-1] == f"and {200 - MOST_FINDINGS} more findings"
    assert max(map(len, found)) < 150


@pytest.mark.parametrize(
    "piece",
    [
        "[1,",
        "[[",
        "'",
        "data:",
        "url(",
        "<script>`",
        "/*",
        "import ",
        "<img ",
        "aA1" * 100,
        '\\"',
        "(/[",
        "@font-face{",
        'a.setAttribute("',
        ".src=`",
        "'aB3+'+",
        "'#fff',",
        "[0,0,'#fff'],",
        "0x1f,",
        "\u4e2d",
        "aB3/" * 200 + " ",
        "<rect width='1' height='1'/>",
        "<p style='box-shadow:1px 1px red,'>",
        "linear-gradient(red,",
        "\\x00",
    ],
)
def test_a_long_page_takes_no_long_time(piece):
    started = time.process_time()
    findings("<script>" + piece * (300_000 // len(piece)))
    findings(piece * (300_000 // len(piece)))
    assert time.process_time() - started < 5
