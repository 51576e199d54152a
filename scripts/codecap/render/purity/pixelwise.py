"""Pictures that are drawn pixel by pixel: as many small rectangles, shadows, gradient stops or cells, each with its own colour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

FEWEST_CELLS = 2000  # 45 x 45; a year of days, a heat map of weeks and a small QR code stay below
LARGEST_CELL = 4.0  # units of a rectangle that counts as a pixel
FEWEST_SHADOWS = 200  # of one box; stars in a sky are often more, but of one colour
FEWEST_SHADOW_COLOURS = 8
FEWEST_STOPS = 256  # of one gradient; a hue circle has up to 360 and one only
FEWEST_GRADIENTS = 128  # of one background

UNIT_PATH = re.compile(r"[hH]\s*1\s*[vV]\s*1\s*[hH]\s*-?\d*\s*[zZ]")
SHADOWS = re.compile(r"\bbox-shadow\s*:\s*([^;}]+)", re.IGNORECASE)
LENGTH = r"-?[\d.]+(?:px|em|rem|vw|vh)?\s+"
SHADOW = re.compile(LENGTH + LENGTH + r"(?:0(?:px)?\s+){0,2}(#[0-9a-f]{3,8}|rgba?\([^)]*\)|[a-z]+)", re.IGNORECASE)
BACKGROUND = re.compile(r"\bbackground(?:-image)?\s*:\s*([^;}]+)", re.IGNORECASE)
GRADIENT = re.compile(r"gradient\(((?:[^()]|\([^()]*\))*)", re.IGNORECASE)
OWN_COLOUR = re.compile(r"\bbackground(?:-color)?\s*:\s*(#[0-9a-f]{3,8}|rgba?\([^)]*\))", re.IGNORECASE)


def in_style(css: str) -> Iterator[tuple[int, str]]:
    """In a style sheet or a style attribute: `(offset, what)`."""
    for rule in SHADOWS.finditer(css) if css.count(",") >= FEWEST_SHADOWS else ():
        colours = [found[1].lower() for found in SHADOW.finditer(rule[1])]
        if len(colours) >= FEWEST_SHADOWS and len(set(colours)) >= FEWEST_SHADOW_COLOURS:
            yield rule.start(), f"style box-shadow of {len(colours)} shadows, as pixels"
    for rule in BACKGROUND.finditer(css) if css.count(",") >= FEWEST_GRADIENTS else ():
        stops = [re.sub(r"\([^()]*\)", "", found[1]).count(",") for found in GRADIENT.finditer(rule[1])]
        if stops and max(stops) >= FEWEST_STOPS:
            yield rule.start(), f"style gradient of {max(stops)} stops, as pixels"
        elif len(stops) >= FEWEST_GRADIENTS:
            yield rule.start(), f"style background of {len(stops)} gradients, as pixels"


class Cells:
    """Counts elements of a page that may be pixels."""

    def __init__(self) -> None:
        self._rectangles: Counter[tuple[str, str]] = Counter()
        self._coloured: Counter[str] = Counter()
        self._colours: dict[str, set[str]] = {}
        self._first: dict[object, int] = {}

    def see(self, at: int, tag: str, given: Mapping[str, str]) -> None:
        if tag == "rect" and _length(given.get("width")) <= LARGEST_CELL and _length(given.get("height")) <= LARGEST_CELL:
            size = given["width"], given["height"]
            self._rectangles[size] += 1
            self._first.setdefault(size, at)
        elif "bgcolor" in given or "background" in given.get("style", ""):
            own = OWN_COLOUR.search(given.get("style", ""))
            colour = own[1] if own else given.get("bgcolor", "")
            if colour:
                self._coloured[tag] += 1
                self._colours.setdefault(tag, set()).add(colour.lower())
                self._first.setdefault(tag, at)

    def findings(self, html: str) -> Iterator[tuple[int, str]]:
        for (width, height), count in self._rectangles.items():
            if count >= FEWEST_CELLS:
                yield self._first[width, height], f"{count} rectangles of {width} x {height}, as pixels"
        for tag, count in self._coloured.items():
            if count >= FEWEST_CELLS and len(self._colours[tag]) >= FEWEST_SHADOW_COLOURS:
                yield self._first[tag], f"{count} elements <{tag}> with a background colour of their own, as pixels"
        squares = [found.start() for found in UNIT_PATH.finditer(html)] if html.count("1") >= FEWEST_CELLS else []
        if len(squares) >= FEWEST_CELLS:
            yield squares[0], f"path data of {len(squares)} unit squares, as pixels"


def _length(value: str | None) -> float:
    try:
        return float((value or "inf").strip().removesuffix("px"))
    except ValueError:
        return float("inf")
