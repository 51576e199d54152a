"""Does a page hold only code? Finds raster, video and font data, references to anything outside the page, and file access.

A finding is recorded with its place and judged elsewhere. SVG, CSS and scripts that draw are what a page should be made of: they
give no finding, and neither does text that only speaks of such things (a string or a comment that mentions `fetch(...)`).
"""

from __future__ import annotations

import base64
import binascii
import bisect
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote_to_bytes

MOST_FINDINGS = 50
MOST_CHARACTERS = 20_000_000
SMALLEST_DATA = 16  # characters of a data URI; less is a prefix that a script handles
SMALLEST_BASE64 = 512  # characters of a literal
SMALLEST_HEX = 2048
FEWEST_PIXELS = 2000  # numbers of an array literal, all 0 to 255

LOADING = {  # attributes that make an element load what they name
    "src": None,
    "srcset": None,
    "poster": None,
    "background": None,
    "data": {"object"},
    "href": {"link", "image", "use", "feimage", "script", "base", "mpath", "textpath"},
    "xlink:href": {"image", "use", "feimage", "script", "mpath", "textpath"},
}
INSIDE = ("#", "data:", "blob:", "about:", "javascript:")  # addresses that lead to nothing outside of the page

TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)", re.DOTALL)
ATTRIBUTE = re.compile(
    r"[\s/]*+(?P<name>[^\s/>][^\s/>=]*+)"
    r"(?:\s*+=\s*+(?:\"(?P<double>[^\"]*+)(?:\"|\Z)|'(?P<single>[^']*+)(?:'|\Z)|(?P<bare>[^\s>]*+)))?+"
)
RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in ("script", "style", "title", "textarea")}
DATA_URI = re.compile(r"data:\s*([a-z]+/[\w.+-]+)?((?:;[\w.=+-]+)*)\s*,\s*([^\s\"'`<>)]*)", re.IGNORECASE)
VISUAL = re.compile(r"(image/(?!svg\b)|video/|font/|application/(x-)?font|application/vnd\.ms-fontobject|application/octet-stream)")
BASE64 = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{SMALLEST_BASE64},}}={{0,2}}")
HEX = re.compile(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{{SMALLEST_HEX},}}")
NUMBERS = re.compile(r"(?<![\w.])\d{1,3}+(?![\w.])(?:[\s\[\]]*+,[\s\[\]]*+\d{1,3}+(?![\w.]))*+")
CSS_URL = re.compile(r"url\(\s*[\"']?\s*([^\"')\s]+)", re.IGNORECASE)
CSS_IMPORT = re.compile(r"@import\s+[\"']([^\"']+)", re.IGNORECASE)
CSS_FONT = re.compile(r"@font-face\s*\{[^}]{0,2000}url\(", re.IGNORECASE)
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SCRIPT_PART = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*+(?:\"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*+(?:'|(?=\n)|\Z)|`(?:\\.|[^`\\])*+(?:`|\Z))"
    r"|(?P<expression>(?<=[=(,:;!&|?])[ ]?/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n]){0,99}+\]|[^/\\\n\[]){1,299}+/)",
    re.DOTALL,
)
CALLS = re.compile(
    r"(?<![\w$.])(?:(?:window|self|globalThis)\s*\.\s*)?"
    r"(fetch|XMLHttpRequest|WebSocket|EventSource|WebTransport|RTCPeerConnection|importScripts|FontFace|showOpenFilePicker)\s*\("
    r"|(?<![\w$])navigator\s*\.\s*(sendBeacon)\s*\("
)
NAMED = re.compile(  # a literal address given to something that loads it
    r"(?:(?<![\w$])import\s*\(\s*|(?<![\w$])import\s+(?:[\w$*{},\s]{1,300}?\sfrom\s+)?|(?<![\w$])export\s+[\w$*{},\s]{1,300}?\sfrom\s+"
    r"|(?<![\w$])(?:Worker|SharedWorker)\s*\(\s*"
    r"|\.(?:src|srcset|poster|href)\s*=\s*|\bsetAttribute(?:NS)?\s*\(\s*(?:[\w$.]{1,99}\s*,\s*|\"[^\"]{0,99}\"\s*,\s*|'[^']{0,99}'\s*,\s*)?"
    r"[\"'](?:src|srcset|poster|xlink:href|href)[\"']\s*,\s*)"
    r"([\"'`])(?P<address>(?:(?!\1)[^\\\n])*)\1"
)
FILE_ADDRESS = re.compile(r"(?:^|[\"'`(\s=])(file:/[^\s\"'`)<>]*)", re.IGNORECASE)


def findings(html: str) -> list[str]:
    """What in a page is not code, each as `LINE:COLUMN: what` (both from 1), in order of place; at most `MOST_FINDINGS`.

    >>> findings("<svg><path d='M0 0L9 9'/></svg><script>window.seek = t => {}</script>")
    []
    >>> findings('<p>Hello\\n<img src="photo.png">')
    ["2:1: <img src> loads 'photo.png'"]
    """
    found = _Page(html[:MOST_CHARACTERS]).findings()
    if len(html) > MOST_CHARACTERS:
        found.append(f"the page has {len(html)} characters; only the first {MOST_CHARACTERS} were checked")
    return found


class _Page:
    """Walks a page as a browser's tokenizer does, in one pass, and collects findings by their offset."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._lines = [0, *(found.end() for found in re.finditer("\n", html))]
        self._found: dict[tuple[int, str], None] = {}
        self._svg_depth = 0
        at = 0
        while tag := TAG.search(html, at):
            at = tag.end()
            if not tag["name"]:
                continue  # a comment
            name = tag["name"].lower()
            if tag["end"]:
                self._svg_depth -= name == "svg"
                continue
            given, at = self._attributes(at)
            self._check_tag(tag.start(), name, given)
            empty = html.startswith("/>", at) and self._svg_depth > 0
            at = html.find(">", at) + 1
            if at == 0:
                break
            self._svg_depth += name == "svg"
            if name in RAW and not empty:
                at = self._raw_text(name, at)

    def findings(self) -> list[str]:
        ordered = sorted(self._found)
        told = [f"{self._place(offset)}: {what}" for offset, what in ordered[:MOST_FINDINGS]]
        if len(ordered) > MOST_FINDINGS:
            told.append(f"and {len(ordered) - MOST_FINDINGS} more findings")
        return told

    def _attributes(self, at: int) -> tuple[dict[str, str], int]:
        """Attributes of a tag by their lower-case names, entities resolved, and where they end."""
        given: dict[str, str] = {}
        while attribute := ATTRIBUTE.match(self._html, at):
            at = attribute.end()
            value = attribute["double"] or attribute["single"] or attribute["bare"] or ""
            given.setdefault(attribute["name"].lower(), unescape(value))
        return given, at

    def _raw_text(self, name: str, at: int) -> int:
        """Check what a script or a style holds; returns where its end tag starts."""
        end = RAW[name].search(self._html, at)
        stop = end.start() if end else len(self._html)
        text = self._html[at:stop]
        if name == "style":
            text = CSS_COMMENT.sub(_blank, text)
            self._check_css(at, text)
            self._check_data(at, text)
        elif name == "script":
            self._check_script(at, text)
        return stop

    def _check_tag(self, at: int, tag: str, given: dict[str, str]) -> None:
        for name, value in given.items():
            tags = LOADING.get(name, set())
            if (tags is None or tag in tags) and _leads_outside(value):
                self._add(at, f"<{tag} {name}> loads {_quoted(value)}")
            elif name.startswith("on"):
                self._check_script(at, value, moving=False)
                continue
            elif "url(" in value:
                self._check_css(at, value, moving=False)
            self._check_data(at, value, moving=False)
        if tag in ("video", "audio") and not any(_leads_outside(given.get(name, "")) for name in ("src", "poster")):
            self._add(at, f"<{tag}> element")
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh" and "url" in given.get("content", "").lower():
            self._add(at, f"<meta> refresh leads to {_quoted(given['content'])}")
        if tag == "iframe" and "srcdoc" in given:
            for inner in findings(given["srcdoc"]):
                self._add(at, f"in <iframe srcdoc>: {inner.partition(': ')[2]}")

    def _check_script(self, at: int, code: str, moving: bool = True) -> None:
        """`moving`: offsets in `code` are offsets in the page (not so in an attribute, whose entities are resolved)."""
        spoken = SCRIPT_PART.sub(lambda part: _blank(part) if part["comment"] else part[0], code)
        bare = SCRIPT_PART.sub(_blank, spoken)
        for call in CALLS.finditer(bare):
            self._add(at + call.start() * moving, f"script calls {call[1] or call[2]}")
        for named in NAMED.finditer(spoken):
            if bare[named.start()].isspace() and not spoken[named.start()].isspace():
                continue  # inside a string
            if _leads_outside(named["address"]):
                self._add(at + named.start() * moving, f"script loads {_quoted(named['address'])}")
        for numbers in NUMBERS.finditer(bare):
            count = numbers[0].count(",") + 1
            opened = bare[max(numbers.start() - 99, 0) : numbers.start()].rstrip().endswith("[")
            if count >= FEWEST_PIXELS and opened and all(int(number) <= 255 for number in re.findall(r"\d+", numbers[0])):
                self._add(at + numbers.start() * moving, f"array literal of {count} numbers from 0 to 255, as pixels have")
        self._check_data(at, spoken, moving)

    def _check_css(self, at: int, css: str, moving: bool = True) -> None:
        for pattern, what in ((CSS_URL, "url()"), (CSS_IMPORT, "@import")):
            for found in pattern.finditer(css):
                if _leads_outside(found[1]):
                    self._add(at + found.start() * moving, f"style {what} loads {_quoted(found[1])}")
        for font in CSS_FONT.finditer(css):
            self._add(at + font.start() * moving, "style @font-face brings a font")

    def _check_data(self, at: int, text: str, moving: bool = True) -> None:
        """Data URIs, long base64 and hex literals, and file: addresses."""
        for uri in DATA_URI.finditer(text):
            payload, media = uri[3], (uri[1] or "text/plain").lower()
            if len(payload) < SMALLEST_DATA:
                continue
            if VISUAL.match(media):
                self._add(at + uri.start() * moving, f"data URI of {media}, {len(payload)} characters")
            elif media.startswith("image/svg") or media in ("text/html", "text/css"):
                for inner in _within(payload, "base64" in uri[2].lower()):
                    self._add(at + uri.start() * moving, f"in a data URI of {media}: {inner}")
        rest = DATA_URI.sub(_blank, text)
        for literal in HEX.finditer(rest):
            self._add(at + literal.start() * moving, f"hexadecimal literal of {len(literal[0])} characters")
        for literal in BASE64.finditer(HEX.sub(_blank, rest)):
            if _is_base64(literal[0]):
                self._add(at + literal.start() * moving, f"base64 literal of {len(literal[0])} characters")
        for address in FILE_ADDRESS.finditer(text):
            self._add(at + address.start(1) * moving, f"file address {_quoted(address[1])}")

    def _add(self, offset: int, what: str) -> None:
        self._found.setdefault((offset, what))

    def _place(self, offset: int) -> str:
        line = bisect.bisect_right(self._lines, offset) - 1
        return f"{line + 1}:{offset - self._lines[line] + 1}"


def _within(payload: str, is_base64: bool) -> Iterator[str]:
    """Findings in a document that a data URI holds, without their place in it."""
    raw = unquote_to_bytes(payload)
    if is_base64:
        try:
            raw = base64.b64decode(raw, validate=False)
        except binascii.Error:
            return
    for inner in findings(raw.decode("utf-8", errors="replace")):
        yield inner.partition(": ")[2] or inner


def _leads_outside(address: str) -> bool:
    address = address.strip().lower()
    return bool(address) and not address.startswith(INSIDE) and "${" not in address[:2]


def _is_base64(literal: str) -> bool:
    """Text of base64 has both cases and digits, mostly letters, and nearly all of its alphabet; path data and words have not."""
    letters = sum(character.isalpha() for character in literal)
    return (
        letters >= 0.6 * len(literal)
        and len(set(literal)) >= 30
        and any(character.isdigit() for character in literal)
        and literal.lower() != literal != literal.upper()
    )


def _blank(part: re.Match[str]) -> str:
    """As many spaces, with the line ends left where they are."""
    return re.sub(r"[^\n]", " ", part[0])


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:77] + "...")
