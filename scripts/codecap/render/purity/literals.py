"""Data in literals: which long strings and number lists are pictures, videos or fonts written down, and which are vectors, charts
and texts.

All functions yield `(offset, what)`. What alone would be honest (300 numbers of a chart) is added up over the page by `Pools`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

Found = Iterator[tuple[int, str]]

SAMPLE = 200_000  # characters of a longer literal that are judged; its count is of all of it
SMALLEST_BASE64 = 512  # characters of a literal
SMALLEST_FILE = 48  # of base64 that begins as a file does; the smallest GIF has 56
SMALLEST_DECODED = 128  # of one in a page that decodes base64 itself
SMALLEST_HEX = 2048
SMALLEST_PIECE = 48  # characters of a string that may be a piece of base64
FEWEST_PIXELS = 2000  # numbers of an array literal, all 0 to 255
FEWEST_WRITTEN = 1000  # of one in a page that writes pixels itself
FEWEST_IN_PIECES = 8000  # numbers in arrays that are shorter than that, together
SHORTEST_ARRAY = 64  # numbers of an array that counts at all
MOST_KINDS = 24  # different numbers of a level map; pixels have more
OPAQUE = 0xFF000000  # a pixel of 32 bits whose highest byte is a full alpha
FEWEST_INDICES = 16_384  # numbers of that few kinds, which are an indexed picture nevertheless: 128 x 128
FEWEST_COLOURS = 512  # one after another; the largest usual palettes have 256
FEWEST_ESCAPES = 256  # bytes written as \x7f in a string
FEWEST_CONTROLS = 64  # control characters in a string
DENSE_BITS = 5.6  # entropy of a character of compressed data; prose and code stay below 5.3
MAGIC = {  # how files begin in base64
    r"iVBORw0KGgo": "a PNG picture",
    r"/9j/": "a JPEG picture",
    r"R0lGOD[dl]h": "a GIF picture",
    r"UklGR.{6}XRUJQ": "a WebP picture",
    r"AAAA..Z0eX": "a video or an AVIF picture",
    r"GkXfo": "a WebM video",
    r"d09GM": "a WOFF2 font",
    r"d09GR": "a WOFF font",
    r"T1RUTw": "an OpenType font",
    r"AAEAAAA": "a TrueType font",
}
BEGINS = [(re.compile(magic), kind) for magic, kind in MAGIC.items()]
MAGIC_LITERAL = re.compile(rf"(?<![A-Za-z0-9+/=])(?=(?:{'|'.join(MAGIC)}))[A-Za-z0-9+/_-]{{{SMALLEST_FILE},}}+={{0,2}}")
BASE64 = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{SMALLEST_DECODED},}}={{0,2}}")
HEX = re.compile(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{{SMALLEST_HEX},}}")
DENSE = re.compile(rf"(?<![!#-&(-_a-~])[!#-&(-_a-~]{{{SMALLEST_BASE64},}}+")  # visible ASCII but quotes
WIDE = re.compile(rf"(?<![\u0100-\U0010ffff])[\u0100-\U0010ffff]{{{SMALLEST_BASE64},}}+")
NUMBER = r"-?(?:0[xX][0-9A-Fa-f]{1,8}+|\d{1,10}+)(?![\w.])"
NUMBERS = re.compile(rf"(?<![\w.$-]){NUMBER}(?:[\s\[\]]*+,[\s\[\]]*+{NUMBER})*+")
LISTED = re.compile(r"\d{1,3}+(?:[\s,;|]++\d{1,3}+)*+[\s,;|]*")
DECODES = re.compile(r"\batob\s*\(|\bfromBase64\s*\(")
WRITES_PIXELS = re.compile(r"\b(?:putImageData|createImageData|new\s+ImageData|createImageBitmap|texImage2D|texSubImage2D)\b")
ESCAPE = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u00[0-9A-Fa-f]{2}|\\u\{[0-9A-Fa-f]{1,2}\}")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")
COLOUR = re.compile(r"#?[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?|#[0-9A-Fa-f]{3,4}|rgba?\([\d\s,.%/]{5,40}\)")
BETWEEN = re.compile(r"[\s,+\[\]()]*+")  # between strings of one list, or of one sum
PLACED = re.compile(r"[\s,\[\]]*+(?:\d{1,4}\s*,\s*\d{1,4}[\s,\[\]]*+)?")  # between the colours of a list of x, y, colour
PIECE = re.compile(rf"[A-Za-z0-9+/_-]{{{SMALLEST_PIECE},}}=*")
BROKEN = re.compile(r"\\\r?\n|\\[nrt]|\s+")


@dataclass
class Pools:
    """What is too short to be told by itself, over a whole page.

    Attributes:
        decodes: the page has calls that make bytes of base64.
        writes: the page has calls that take pixels.
        start: where the text that is looked at begins in the page.
        moving: whether offsets in that text are offsets in the page.
    """

    decodes: bool
    writes: bool
    start: int = 0
    moving: bool = True
    arrays: list[tuple[int, int]] = field(default_factory=list)  # offset and count
    pieces: list[tuple[int, str]] = field(default_factory=list)  # offset and text

    @classmethod
    def of(cls, html: str) -> Pools:
        return cls(decodes=bool(DECODES.search(html)), writes=bool(WRITES_PIXELS.search(html)))

    @property
    def fewest_pixels(self) -> int:
        return FEWEST_WRITTEN if self.writes else FEWEST_PIXELS

    def place(self, offset: int) -> int:
        return self.start + offset * self.moving

    def findings(self) -> Found:
        count = sum(count for _, count in self.arrays)
        if len(self.arrays) > 1 and count >= (FEWEST_PIXELS if self.writes else FEWEST_IN_PIECES):
            yield self.arrays[0][0], f"{len(self.arrays)} array literals of together {count} numbers from 0 to 255, as pixels have"
        text = "".join(piece for _, piece in self.pieces)
        if len(self.pieces) > 1 and is_dense(text):
            yield self.pieces[0][0], f"{len(self.pieces)} pieces of base64, {len(text)} characters together"


def blobs(text: str, decodes: bool = False) -> Found:
    """Long runs of characters that are data, wherever they stand: base64, hexadecimal, and denser or wider alphabets."""
    found: list[tuple[int, str]] = []

    def judged(literal: re.Match[str], judge: Callable[[str], str]) -> str:
        what = judge(literal[0])
        if not what:
            return literal[0]
        found.append((literal.start(), what))
        return " " * len(literal[0])  # told once

    base64 = partial(_base64, decodes=decodes)
    for pattern, judge in ((MAGIC_LITERAL, _magic), (HEX, _hex), (BASE64, base64), (DENSE, _dense), (WIDE, _wide)):
        text = pattern.sub(partial(judged, judge=judge), text)
    return iter(found)


def file_kind(base64: str) -> str:
    """What kind of file base64 text begins with; empty when none that is known.

    >>> file_kind("iVBORw0KGgoAAAANSUhEUg")
    'a PNG picture'
    """
    return next((kind for magic, kind in BEGINS if magic.match(base64)), "")


def _magic(literal: str) -> str:
    return f"base64 literal of {file_kind(literal)}, {len(literal)} characters"


def _hex(literal: str) -> str:
    has_both = any(character.isdigit() for character in literal) and any(character.isalpha() for character in literal)
    return f"hexadecimal literal of {len(literal)} characters" if has_both else ""


def _base64(literal: str, decodes: bool) -> str:
    long = len(literal) >= SMALLEST_BASE64 and is_base64(literal)
    handed = decodes and literal.lower() != literal != literal.upper()
    return f"base64 literal of {len(literal)} characters" if long or handed else ""


def _dense(literal: str) -> str:
    return f"literal of {len(literal)} characters without a pattern, as compressed data has" if is_dense(literal) else ""


def _wide(literal: str) -> str:
    kinds = len(set(literal[:SMALLEST_BASE64]))
    return f"literal of {len(literal)} characters that are no text" if kinds >= 0.75 * SMALLEST_BASE64 else ""


def numbers(code: str, pools: Pools) -> Found:
    """Number lists in a script whose strings and comments are blanked."""
    for run in NUMBERS.finditer(code):
        count = run[0].count(",") + 1
        if count < SHORTEST_ARRAY or code[max(run.start() - 99, 0) : run.start()].rstrip()[-1:] not in ("[", "("):
            continue
        values = _values(run[0][:SAMPLE])
        if all(-128 <= value <= 255 for value in values) and len(set(values)) > MOST_KINDS and count < pools.fewest_pixels:
            pools.arrays.append((pools.place(run.start()), count))
        elif what := _pixels(values, count, run[0][:SAMPLE], pools):
            yield run.start(), f"array literal of {count} {what}"


def _values(run: str) -> list[int]:
    found = re.findall(r"-?(?:0[xX][0-9A-Fa-f]+|\d+)", run)
    return [int(number, 16) if "x" in number or "X" in number else int(number) for number in found]


def _pixels(values: list[int], count: int, written: str, pools: Pools) -> str:
    """How the numbers of a list look like pixels; empty when they do not, or are too few."""
    kinds = len(set(values))
    if all(-128 <= value <= 255 for value in values):
        if 1 < kinds <= MOST_KINDS and count >= (FEWEST_PIXELS if pools.writes else FEWEST_INDICES):
            return f"numbers of {kinds} kinds, as indexed pixels have"
        if kinds > MOST_KINDS and count >= pools.fewest_pixels:
            return f"numbers from {'0' if min(values) >= 0 else '-128'} to 255, as pixels have"
    elif count >= pools.fewest_pixels:
        if sum(value >= OPAQUE for value in values) >= 0.9 * len(values):
            return "numbers of 32 bits, as packed pixels have"
        if len(re.findall(r"0[xX][0-9A-Fa-f]{5,8}", written)) >= 0.5 * len(values):
            return "hexadecimal colours, as packed pixels have"
    return ""


def strings(parts: list[tuple[int, int, str]], code: str, pools: Pools) -> Found:
    """String literals of a script, alone and joined.

    Args:
        parts: start, stop (with the quotes) and what is between the quotes, in order.
        code: the script, in which strings and comments are blanked.
    """
    run: list[tuple[int, str]] = []
    colours: list[int] = []
    last_stop = colour_stop = 0
    for start, stop, text in parts:
        if COLOUR.fullmatch(text):
            if colours and not (colour_stop == last_stop and PLACED.fullmatch(code, colour_stop, start)):
                yield from _colours(colours)
                colours = []
            colours.append(start)
            colour_stop = stop
        if run and not BETWEEN.fullmatch(code, last_stop, start):
            yield from _joined(run, pools)
            run = []
        run.append((start, BROKEN.sub("", text) if len(text) < 1_000_000 else text))
        last_stop = stop
        yield from _bytes(start, text, pools)
    yield from _colours(colours)
    yield from _joined(run, pools)


def _bytes(start: int, text: str, pools: Pools) -> Found:
    escapes = sum(1 for _ in ESCAPE.finditer(text)) if "\\" in text else 0
    if escapes >= FEWEST_ESCAPES:
        yield start, f"string of {escapes} escaped bytes"
    elif len(text) >= FEWEST_CONTROLS and (controls := sum(1 for _ in CONTROL.finditer(text))) >= FEWEST_CONTROLS:
        yield start, f"string of bytes, {controls} of them control characters"
    if pools.writes and len(text) > 2 * FEWEST_WRITTEN and LISTED.fullmatch(text.strip()):
        values = [int(number) for number in re.findall(r"\d+", text)]
        if len(values) >= FEWEST_WRITTEN and max(values) <= 255 and len(set(values)) > MOST_KINDS:
            yield start, f"string of {len(values)} numbers from 0 to 255, as pixels have"


def _colours(starts: list[int]) -> Found:
    if len(starts) >= FEWEST_COLOURS:
        yield starts[0], f"list of {len(starts)} colours, as pixels have"


def _joined(run: list[tuple[int, str]], pools: Pools) -> Found:
    """Strings of one list or sum: each may be short, and together they are base64 or hexadecimal data."""
    whole = "".join(text for _, text in run)
    if len(run) == 1 and len(whole) >= SMALLEST_BASE64 and BASE64.fullmatch(whole) and is_dense(whole):
        yield run[0][0], f"base64 literal of {len(whole)} characters"
    elif len(run) > 1 and len(whole) >= SMALLEST_BASE64:
        if is_hex_data(whole) and len(whole) >= SMALLEST_HEX and not all(COLOUR.fullmatch(text) for _, text in run):
            yield run[0][0], f"{len(run)} pieces of a hexadecimal literal, {len(whole)} characters together"
            return
        if BASE64.fullmatch(whole.replace("=", "")) and is_dense(whole):
            yield run[0][0], f"{len(run)} pieces of base64, {len(whole)} characters together"
            return
    pools.pieces += [(pools.place(start), text) for start, text in run if len(text) < SMALLEST_BASE64 and PIECE.fullmatch(text)]


def is_hex_data(text: str) -> bool:
    """All digits of the hexadecimal alphabet, nearly; rows of a level map have few, and decimal digits are at most ten."""
    return len(set(text.lower())) >= 12 and re.fullmatch(r"[0-9A-Fa-f]+", text) is not None


def is_base64(text: str) -> bool:
    """Text of base64 has both cases and digits, mostly letters, and nearly all of its alphabet; path data and words have not."""
    text = text[:SAMPLE]
    letters = sum(character.isalpha() for character in text)
    return (
        letters >= 0.6 * len(text)
        and len(set(text)) >= 30
        and any(character.isdigit() for character in text)
        and text.lower() != text != text.upper()
    )


def is_dense(text: str) -> bool:
    """At least `SMALLEST_BASE64` characters with nearly no pattern: compressed data in an alphabet of 64 characters or more.

    >>> is_dense("a rose is a rose " * 100)
    False
    """
    if len(text) < SMALLEST_BASE64:
        return False
    text = text[:SAMPLE]
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares) >= DENSE_BITS
