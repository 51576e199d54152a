"""What a page's source holds that is no code: raster, video and font data, references to anything outside the page, file access."""

from __future__ import annotations

import base64
import binascii
import bisect
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote_to_bytes

from codecap.render.purity import literals, pixelwise
from codecap.render.purity.literals import Pools

MOST_FINDINGS = 50
MOST_CHARACTERS = 20_000_000
SMALLEST_DATA = 16  # characters of a data URI; less is a prefix that a script handles
DEEPEST = 5  # documents within documents that are checked

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
LINKS_THAT_LOAD = re.compile(r"stylesheet|icon|preload|prefetch|preconnect|modulepreload|manifest|^$", re.IGNORECASE)
RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in ("script", "style", "title", "textarea")}
DATA_URI = re.compile(r"data:\s*([a-z]+/[\w.+-]+)?((?:;[\w.=+-]+)*)\s*,\s*([^\s\"'`<>)]*)", re.IGNORECASE)
VISUAL = re.compile(r"(image/(?!svg\b)|video/|font/|application/(x-)?font|application/vnd\.ms-fontobject|application/octet-stream)")
CSS_URL = re.compile(r"url\(\s*[\"']?\s*([^\"')\s]+)", re.IGNORECASE)
CSS_IMAGE_SET = re.compile(r"image-set\(\s*[\"']([^\"']+)", re.IGNORECASE)
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
    r"|(?<![\w$])navigator\s*\.\s*(sendBeacon|mediaDevices\s*\.\s*get\w+Media)\s*\("
)
NAMED_CALLS = re.compile(  # the same by the name in a string
    r"(?<![\w$.])(?:window|self|globalThis)\s*\[\s*[\"'`](fetch|XMLHttpRequest|WebSocket|EventSource|WebTransport|FontFace)[\"'`]\s*\]"
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
    return _findings(html, 0)


def _findings(html: str, depth: int) -> list[str]:
    """Those of a document that so many others hold, one within the other."""
    found = _Page(html[:MOST_CHARACTERS], depth).findings()
    if len(html) > MOST_CHARACTERS:
        found.append(f"the page has {len(html)} characters; only the first {MOST_CHARACTERS} were checked")
    return found


class _Page:
    """Walks a page as a browser's tokenizer does, in one pass, and collects findings by their offset."""

    def __init__(self, html: str, depth: int) -> None:
        self._html, self._depth = html, depth
        self._lines = [0, *(found.end() for found in re.finditer("\n", html))]
        self._found: dict[tuple[int, str], None] = {}
        self._svg_depth = 0
        self._pools = Pools.of(html)
        self._cells = pixelwise.Cells()
        at = 0
        while tag := TAG.search(html, at):
            self._check_text(at, html[at : tag.start()])
            at = tag.end()
            if not tag["name"]:
                self._check_text(tag.start(), tag[0])
                continue
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
        else:
            self._check_text(at, html[at:])
        for offset, what in (*self._pools.findings(), *self._cells.findings(html)):
            self._add(offset, what)

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
        else:
            self._check_text(at, text)
        return stop

    def _check_text(self, at: int, text: str) -> None:
        """Text that a script can read from the page, however hidden: only data in it is of interest."""
        if len(text) >= literals.SMALLEST_DECODED:
            for offset, what in literals.blobs(text, self._pools.decodes):
                self._add(at + offset, what)

    def _check_tag(self, at: int, tag: str, given: dict[str, str]) -> None:
        self._cells.see(at, tag, given)
        if tag == "link" and not LINKS_THAT_LOAD.search(given.get("rel", "")):
            given = {name: value for name, value in given.items() if name != "href"}
        for name, value in given.items():
            tags = LOADING.get(name, set())
            if (tags is None or tag in tags) and _leads_outside(value):
                self._add(at, f"<{tag} {name}> loads {_quoted(value)}")
            elif name.startswith("on"):
                self._check_script(at, value, moving=False)
                continue
            elif "url(" in value or name == "style":
                self._check_css(at, value, moving=False)
            self._check_data(at, value, moving=False, uris=(tag, name) != ("iframe", "srcdoc"))
            if name.startswith("data-") and len(value) > 2 * literals.FEWEST_PIXELS:
                self._pools.start, self._pools.moving = at, False
                for _, what in literals.numbers(f"[{value.strip(' []')}]", self._pools):
                    self._add(at, f"<{tag} {name}> holds an {what}")
        if tag in ("video", "audio") and not any(_leads_outside(given.get(name, "")) for name in ("src", "poster")):
            self._add(at, f"<{tag}> element")
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh" and "url" in given.get("content", "").lower():
            self._add(at, f"<meta> refresh leads to {_quoted(given['content'])}")
        if tag in ("set", "animate") and given.get("attributename", "").lower() in ("href", "xlink:href", "src"):
            for name in ("to", "from", "values"):
                if _leads_outside(given.get(name, "")):
                    self._add(at, f"<{tag} {name}> loads {_quoted(given[name])}")
        if tag == "iframe" and "srcdoc" in given:
            for inner in self._within(given["srcdoc"]):
                self._add(at, f"in <iframe srcdoc>: {inner}")

    def _check_script(self, at: int, code: str, moving: bool = True) -> None:
        """`moving`: offsets in `code` are offsets in the page (not so in an attribute, whose entities are resolved)."""
        spoken, bare, parts = _parts(code)
        for call in CALLS.finditer(bare):
            self._add(at + call.start() * moving, f"script calls {call[1] or call[2]}")
        for named in NAMED.finditer(spoken):
            if bare[named.start()].isspace() and not spoken[named.start()].isspace():
                continue  # inside a string
            if _leads_outside(named["address"]):
                self._add(at + named.start() * moving, f"script loads {_quoted(named['address'])}")
        for call in NAMED_CALLS.finditer(spoken):
            self._add(at + call.start() * moving, f"script calls {call[1]}")
        self._pools.start, self._pools.moving = at, moving
        for offset, what in (*literals.numbers(bare, self._pools), *literals.strings(parts, bare, self._pools)):
            self._add(at + offset * moving, what)
        self._check_data(at, spoken, moving)

    def _check_css(self, at: int, css: str, moving: bool = True) -> None:
        for pattern, what in ((CSS_URL, "url()"), (CSS_IMPORT, "@import"), (CSS_IMAGE_SET, "image-set()")):
            for found in pattern.finditer(css):
                if _leads_outside(found[1]):
                    self._add(at + found.start() * moving, f"style {what} loads {_quoted(found[1])}")
        for font in CSS_FONT.finditer(css):
            self._add(at + font.start() * moving, "style @font-face brings a font")
        for offset, what in pixelwise.in_style(css):
            self._add(at + offset * moving, what)

    def _check_data(self, at: int, text: str, moving: bool = True, uris: bool = True) -> None:
        """Data URIs (unless the text is a document: they are told of that), long literals of data, and file: addresses."""
        rest = DATA_URI.sub(_blank, text)
        for uri in DATA_URI.finditer(text) if uris else ():
            payload, media = uri[3], (uri[1] or "text/plain").lower()
            if len(payload) < SMALLEST_DATA:
                continue
            if VISUAL.match(media):
                self._add(at + uri.start() * moving, f"data URI of {media}, {len(payload)} characters")
            elif media.startswith("image/svg") or media in ("text/html", "text/css"):
                for inner in self._within(_decoded(payload, "base64" in uri[2].lower())):
                    self._add(at + uri.start() * moving, f"in a data URI of {media}: {inner}")
            else:
                for _, what in literals.blobs(payload, decodes=False):
                    self._add(at + uri.start() * moving, f"data URI of {media}: {what}")
        for offset, what in literals.blobs(rest, self._pools.decodes):
            self._add(at + offset * moving, what)
        for address in FILE_ADDRESS.finditer(text):
            self._add(at + address.start(1) * moving, f"file address {_quoted(address[1])}")

    def _within(self, html: str) -> Iterator[str]:
        """Findings in a document that this one holds, without their place in it."""
        if self._depth == DEEPEST:
            yield f"documents within documents, more than {DEEPEST} deep, which are not checked"
            return
        for inner in _findings(html, self._depth + 1):
            yield inner.partition(": ")[2] or inner

    def _add(self, offset: int, what: str) -> None:
        self._found.setdefault((offset, what))

    def _place(self, offset: int) -> str:
        line = bisect.bisect_right(self._lines, offset) - 1
        return f"{line + 1}:{offset - self._lines[line] + 1}"


def _parts(code: str) -> tuple[str, str, list[tuple[int, int, str]]]:
    """A script with its comments blanked, one with its strings and regular expressions blanked too, and its strings.

    A string is its start, its stop (with the quotes), and what is between them.
    """
    spoken, bare, strings = [], [], []
    last = 0
    for part in SCRIPT_PART.finditer(code):
        between, blank = code[last : part.start()], _blank(part)
        spoken += [between, blank if part["comment"] else part[0]]
        bare += [between, blank]
        if part["string"]:
            strings.append((part.start(), part.end(), part[0][1:-1]))
        last = part.end()
    rest = code[last:]
    return "".join([*spoken, rest]), "".join([*bare, rest]), strings


def _decoded(payload: str, is_base64: bool) -> str:
    """The text that a data URI holds; empty where it is none."""
    raw = unquote_to_bytes(payload)
    if is_base64:
        try:
            raw = base64.b64decode(raw, validate=False)
        except binascii.Error:
            return ""
    return raw.decode("utf-8", errors="replace")


def _leads_outside(address: str) -> bool:
    address = address.strip().lower()
    return bool(address) and not address.startswith(INSIDE) and "${" not in address[:2]


def _blank(part: re.Match[str]) -> str:
    """As many spaces, with the line ends left where they are."""
    return "\n".join(" " * len(line) for line in part[0].split("\n"))


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:77] + "...")
