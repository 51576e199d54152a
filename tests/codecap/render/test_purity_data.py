"""Pictures that a page hides in literals, markup or style are found; levels of games, charts, texts and vectors are not."""

from __future__ import annotations

import base64
import math
import random
import re
import zlib

import pytest

from codecap.render.purity import findings

rng = random.Random(7)
PACKED = base64.b64encode(rng.randbytes(3000)).decode()
BYTES = [rng.randrange(256) for _ in range(9000)]
SMALLEST_GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
WEBP = base64.b64encode(b"RIFF\x24\x00\x00\x00WEBPVP8 " + rng.randbytes(40)).decode()
COLOURS = [f"#{rng.randrange(1 << 24):06x}" for _ in range(3000)]


def script(code: str) -> str:
    return f"<script>\n{code}</script>"


def numbers(values: object) -> str:
    return ",".join(map(str, values))


def cut(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]


DATA = {
    "base64 as a sum of strings": (script("let s = " + " +\n".join(f"'{part}'" for part in cut(PACKED, 60))), "pieces of base64"),
    "base64 as a list of strings": (script(f"let s = {cut(PACKED, 20)}.join('')"), "pieces of base64"),
    "base64 in many names": (
        script("".join(f"const p{n} = '{part}';" for n, part in enumerate(cut(PACKED, 80)))),
        "pieces of base64",
    ),
    "base64 in members": (
        script("p={" + ",".join(f"k{n}:'{part}'" for n, part in enumerate(cut(PACKED, 100))) + "}"),
        "pieces of base64",
    ),
    "base64 in lines": (script("let s = `" + "\n".join(cut(PACKED, 76)) + "`"), "base64"),
    "base64 continued by backslashes": (script("let s = '" + "\\\n".join(cut(PACKED, 76)) + "'"), "base64"),
    "base64 in an attribute": (f"<p data-a='{PACKED}'>", "base64 literal"),
    "base64 in hidden text": (f"<div hidden>{PACKED}</div>", "base64 literal"),
    "base64 in a comment of the page": (f"<!-- {PACKED} -->", "base64 literal"),
    "base64 in a text area": (f"<textarea>{PACKED}</textarea>", "base64 literal"),
    "base64 in JSON": (f'<script type="application/json">{{"a": "{PACKED}"}}</script>', "base64 literal"),
    "base64 in a style": (f"<style>:root{{--a:'{PACKED}'}}</style>", "base64 literal"),
    "short base64 that is decoded": (script(f"f(atob('{PACKED[:200]}'))"), "base64 literal of 200 characters"),
    "base64 in an unnamed data URI": (f"<img src='data:;base64,{PACKED}'>", "data URI of text/plain: base64 literal"),
    "a small picture in an unnamed data URI": (f"<img src='data:;base64,{SMALLEST_GIF}'>", "a GIF picture"),
    "a small picture": (script(f"i.src = a + '{SMALLEST_GIF}'"), "2:14: base64 literal of a GIF picture"),
    "a small WebP": (script(f"i.src = a + '{WEBP}'"), "a WebP picture"),
    "base85": (script(f"let s = `{base64.b85encode(rng.randbytes(900)).decode().replace('`', 'x')}`"), "as compressed data has"),
    "data in a wide alphabet": (
        script("s = '" + "".join(chr(0x4E00 + rng.randrange(20000)) for _ in range(900)) + "'"),
        "that are no text",
    ),
    "escaped bytes": (script("s = '" + "".join(f"\\x{value:02x}" for value in BYTES[:400]) + "'"), "string of 400 escaped bytes"),
    "bytes as characters": (
        script("s = '" + "".join(chr(256 + n) if n in (10, 13, 39, 92) else chr(n) for n in BYTES[:900]) + "'"),
        "string of bytes",
    ),
    "hexadecimal in pieces": (script(f"s = {cut(rng.randbytes(1500).hex(), 40)}"), "pieces of a hexadecimal literal"),
    "pixels in several arrays": (
        script("".join(f"a{n} = [{numbers(BYTES[n * 900 : n * 900 + 900])}];" for n in range(10))),
        "10 array literals of together 9000",
    ),
    "few pixels that are written": (
        script(f"c.putImageData(new ImageData(new Uint8ClampedArray([{numbers(BYTES[:1024])}]), 16), 0, 0)"),
        "1024 numbers",
    ),
    "pixels as arguments": (script(f"a = Uint8Array.of({numbers(BYTES[:2500])})"), "array literal of 2500 numbers"),
    "signed pixels": (script(f"a = new Int8Array([{numbers(n - 128 for n in BYTES[:2500])}])"), "numbers from -128 to 255"),
    "hexadecimal pixels": (script(f"a = [{numbers(map(hex, BYTES[:2500]))}]"), "array literal of 2500 numbers"),
    "packed pixels": (script(f"a = [{numbers(0xFF000000 + n * 7919 % (1 << 24) for n in range(2500))}]"), "numbers of 32 bits"),
    "packed colours": (
        script("a = [" + ",".join(f"0x{n * 7919 % (1 << 24):06x}" for n in range(2500)) + "]"),
        "hexadecimal colours",
    ),
    "pixels in a string": (script(f"d = '{numbers(BYTES[:1200])}'.split(','); c.putImageData(d, 0, 0)"), "string of 1200 numbers"),
    "pixels in an attribute": (f"<p data-pixels='[{numbers(BYTES[:2500])}]'>", "<p data-pixels> holds an array literal of 2500"),
    "an indexed picture": (script(f"a = [{numbers(n % 16 for n in BYTES * 2)}]"), "numbers of 16 kinds"),
    "a list of colours": (script(f"a = {COLOURS[:900]}"), "list of 900 colours"),
    "a list of placed colours": (
        script(f"a = {[[n % 40, n // 40, c] for n, c in enumerate(COLOURS[:900])]}"),
        "list of 900 colours",
    ),
    "a rectangle a pixel": (
        "<svg>" + "".join(f"<rect x='{n}' width='1' height='1' fill='{c}'/>" for n, c in enumerate(COLOURS)) + "</svg>",
        "3000 rectangles of 1 x 1",
    ),
    "a unit square a pixel": (
        "<svg><path d='" + "".join(f"M{n % 50} {n // 50}h1v1h-1z" for n in range(2500)) + "'/></svg>",
        "2500 unit squares",
    ),
    "a cell a pixel": ("<table>" + "".join(f"<td style='background:{c}'>" for c in COLOURS), "3000 elements <td>"),
    "a shadow a pixel": (
        "<style>p{box-shadow:" + ",".join(f"{n % 30}px {n // 30}px {c}" for n, c in enumerate(COLOURS[:900])) + "}</style>",
        "box-shadow of 900",
    ),
    "a gradient stop a pixel": (
        "<style>p{background:linear-gradient(90deg," + ",".join(f"{c} {n}px" for n, c in enumerate(COLOURS[:400])) + ")}</style>",
        "gradient of 400 stops",
    ),
    "a gradient a row": (
        "<p style='background-image:" + ",".join(f"linear-gradient({c},{c})" for c in COLOURS[:300]) + "'>",
        "background of 300 gradients",
    ),
    "a call by its name": (script("window['fetch'](u)"), "script calls fetch"),
    "a camera": (script("navigator.mediaDevices.getUserMedia({})"), "script calls mediaDevices.getUserMedia"),
    "a set of images in a style": ("<style>p{background:image-set('a.png' 1x)}</style>", "image-set() loads 'a.png'"),
    "an address that is animated": ("<svg><image><set attributeName='href' to='a.png'/></image></svg>", "<set to> loads 'a.png'"),
}

WORDS = [
    "Account",
    "Balance",
    "Customer",
    "Delivery",
    "Energy",
    "Finance",
    "Germany",
    "Harbour",
    "Island",
    "Journey",
    "Kitchen",
    "Lantern",
    "Mountain",
    "Network",
]
TEXT = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉"
HONEST = {
    "a level of 64 x 64 tiles": script(f"level = [{numbers(n % 12 for n in BYTES[:4096])}]"),
    "a level in rows": script(f"level = {[''.join(str(n % 4) for n in BYTES[r * 80 : r * 80 + 80]) for r in range(60)]}"),
    "a level in one string": script("level = '" + "".join(str(n % 8) for n in BYTES[:5000]) + "'"),
    "a level of characters": script(f"level = {[''.join('.#oSX'[n % 5] for n in BYTES[r * 90 : r * 90 + 90]) for r in range(40)]}"),
    "a chart": script(f"d = [{numbers(BYTES[:600])}]"),
    "several charts": script("".join(f"d{n} = [{numbers(BYTES[n * 200 : n * 200 + 200])}];" for n in range(12))),
    "a chart of decimals": script(f"d = [{numbers(round(math.sin(n), 4) for n in range(6000))}]"),
    "populations": script(f"d = [{numbers(n * 977 + 31000 for n in range(3000))}]"),
    "records": script(
        "d = [" + ",".join(f"{{name:'{WORDS[n % 14]}{n}',value:{n % 97},year:{1950 + n % 70}}}" for n in range(900)) + "]"
    ),
    "names in a list": script(f"d = {[f'{WORDS[n % 14]}{WORDS[n % 11]}{n}' for n in range(900)]}"),
    "long class names": script(
        "".join(f"a{n}='app-{WORDS[n % 14]}-{WORDS[n % 13]}-{WORDS[n % 11]}-{WORDS[n % 9]}-panel{n}';" for n in range(99))
    ),
    "a palette": script(f"p = {COLOURS[:256]}"),
    "shapes with colours": script(f"s = {[[c, f'M{n} 0L9 {n}z'] for n, c in enumerate(COLOURS)]}"),
    "boxes with colours": script(f"s = {[[n, 3, 20, 40, c] for n, c in enumerate(COLOURS)]}"),
    "a procedural picture": script(
        "c.putImageData(plasma(c.createImageData(320, 180)), 0, 0); const d = [" + numbers(BYTES[:300]) + "]"
    ),
    "points in a string": script(f"p = '{numbers(BYTES[:3000])}'"),
    "points of shapes": script(f"p = {[[round(rng.random() * 640, 1), round(rng.random() * 360, 1)] for _ in range(5000)]}"),
    "compact path data": "<path d='" + "".join(f"m{n % 90}-{n % 7}h{n % 9}v-{n % 5}l{n % 40}-9z" for n in range(3000)) + "'/>",
    "text in Chinese": f"<p>{''.join(rng.choice(TEXT) for _ in range(2000))}</p>",
    "escaped text in Chinese": script("s = '" + "".join(f"\\u{ord(rng.choice(TEXT)):04x}" for _ in range(900)) + "'"),
    "emoji": script("s = '" + "🎉🚀🌟🔥💡🎨🧩📈" * 100 + "'"),
    "stars as shadows": "<style>p{box-shadow:"
    + ",".join(f"{n * 37 % 900}px {n * 71 % 900}px #FFF" for n in range(700))
    + "}</style>",
    "a hue circle": "<style>p{background:conic-gradient(" + ",".join(f"hsl({n * 10},80%,50%)" for n in range(37)) + ")}</style>",
    "a calendar of a year": "<svg>"
    + "".join(f"<rect width='3' height='3' x='{n}' fill='{COLOURS[n]}'/>" for n in range(371))
    + "</svg>",
    "a heat map": "<table>" + "".join(f"<td style='background:{c}'>" for c in COLOURS[:1000]),
    "digits of pi": script("pi = '3." + str(3 * 10**4000 // 7) + "'"),
    "a minified script": script(";".join(f"function f{n}(a,b){{return a.x{n}*b.y{n}+Math.sin(a.t*{n})}}" for n in range(400))),
    "a canonical address": "<link rel='canonical' href='https://example.org/'>",
    "a source map that is empty": script("//# sourceMappingURL=data:application/json;base64,e30="),
}


@pytest.mark.parametrize("what", DATA)
def test_data_is_found(what):
    html, finding = DATA[what]
    found = findings(html)
    assert any(finding in told for told in found), found
    assert all(re.match(r"\d+:\d+: ", told) for told in found)


@pytest.mark.parametrize("what", HONEST)
def test_honest_pages_give_no_finding(what):
    assert findings(HONEST[what]) == []


@pytest.mark.parametrize("length", [20, 60, 76, 200])
@pytest.mark.parametrize("kind", ["noise", "drawing"])
def test_a_compressed_picture_is_found_however_it_is_cut(length, kind):
    row = [(x * 7 % 256, x * x % 251, 40) for x in range(64)]
    pixels = (
        rng.randbytes(6000)
        if kind == "noise"
        else bytes(v for y in range(64) for p in row for v in ((p[0] + y * y) % 256, p[1], p[2]))
    )
    packed = base64.b64encode(zlib.compress(pixels, 9)).decode()
    assert any("base64" in told for told in findings(script(f"s = {cut(packed, length)}")))


def test_what_adds_up_is_told_where_its_first_part_is():
    names = "".join(f"const p{n} = '{part}';\n" for n, part in enumerate(cut(PACKED, 80)))
    assert findings(f"<p>\n<script>\n{names}</script>") == ["3:12: 50 pieces of base64, 4000 characters together"]
    arrays = "".join(f"a{n} = [{numbers(BYTES[n * 900 : n * 900 + 900])}];\n" for n in range(10))
    assert findings(f"<p>\n<script>\n{arrays}</script>")[0].startswith("3:7: 10 array literals")
