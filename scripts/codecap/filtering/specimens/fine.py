"""Clips that code can draw, and that are hard: parts so fine that, made small, they look like texture; jumps; stretching."""

from __future__ import annotations

import cv2
import numpy as np

from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.structured import any_colour, plain, sentence, write


def fine_histogram(rng: np.random.Generator) -> Scene:
    """Many thin bars that jump to new heights a few times a second."""
    bars, rate = int(rng.integers(30, 110)), float(rng.choice([2, 5, 10]))
    middle, ink, back = rng.uniform(0.3, 0.7), any_colour(rng), plain(any_colour(rng, 215, 256))
    shape = np.exp(-(((np.arange(bars) / bars) - middle) ** 2) / rng.uniform(0.02, 0.1))
    seed, gap = int(rng.integers(1 << 30)), bool(rng.random() < 0.5)

    def at(time_s: float) -> np.ndarray:
        picture, step = back.copy(), int(time_s * rate)
        heights = 280 * shape * np.random.default_rng([seed, step]).uniform(0.6, 1.1, bars)
        for bar, height in enumerate(heights):
            left, right = 50 + 540 * bar // bars, 50 + 540 * (bar + 1) // bars - gap
            cv2.rectangle(picture, (left, int(325 - height)), (right, 325), ink, -1)
        cv2.rectangle(picture, (50, 30), (590, 325), (60, 60, 60), 1)
        return picture

    return at


def table_of_numbers(rng: np.random.Generator) -> Scene:
    """A dense table in which cells change now and then, as of prices."""
    dark, seed = rng.random() < 0.5, int(rng.integers(1 << 30))
    back, ink = ((20, 22, 28), (220, 225, 230)) if dark else ((252, 252, 252), (40, 42, 50))
    names = [sentence(rng, 1) for _ in range(18)]

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for row, name in enumerate(names):
            write(picture, name, 10, 24 + 19 * row, 0.4, ink)
            for column in range(8):
                since = int((time_s * 2 + (row * 7 + column * 3) % 11 / 5) // 1)
                number = np.random.default_rng([seed, row, column, since]).uniform(10, 999)
                write(picture, f"{number:.1f}", 110 + 66 * column, 24 + 19 * row, 0.4, ink)
            cv2.line(picture, (0, 30 + 19 * row), (WIDTH_PX, 30 + 19 * row), (128, 128, 128), 1)
        return picture

    return at


def grid_of_symbols(rng: np.random.Generator) -> Scene:
    """Rows of small symbols that turn in waves."""
    inks, back = [any_colour(rng) for _ in range(5)], any_colour(rng, 200, 256) if rng.random() < 0.5 else any_colour(rng, 0, 50)
    side, pace = int(rng.integers(24, 44)), float(rng.uniform(1, 3))

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for row in range(HEIGHT_PX // side):
            for column in range(WIDTH_PX // side):
                turn = 90 * np.sin(pace * time_s + 0.3 * column + 0.2 * row)
                centre = (column * side + side / 2, row * side + side / 2)
                points = cv2.boxPoints((centre, (side * 0.6, side * 0.25), float(turn)))
                cv2.fillConvexPoly(picture, points.astype(np.int32), inks[(row + column) % 5], cv2.LINE_AA)
        return picture

    return at


def pages_that_dissolve(rng: np.random.Generator) -> Scene:
    """Flat pages of headings and boxes, each fading into the next."""
    pages = []
    for _ in range(4):
        page = plain(any_colour(rng, 120, 256))
        write(page, sentence(rng, 2), 40, 70, 1.5, any_colour(rng, 0, 90))
        for _ in range(6):
            x, y = int(rng.integers(30, 480)), int(rng.integers(110, 290))
            cv2.rectangle(page, (x, y), (x + int(rng.integers(30, 140)), y + int(rng.integers(20, 60))), any_colour(rng), -1)
        pages.append(page)

    def at(time_s: float) -> np.ndarray:
        number, share = int(time_s), float(np.clip(2 * (time_s % 1) - 1, 0, 1))
        return cv2.addWeighted(pages[number % 4], 1 - share, pages[(number + 1) % 4], share, 0)

    return at


def code_that_scrolls_in_jumps(rng: np.random.Generator) -> Scene:
    """Small coloured text in two columns that jumps by lines, as an editor does."""
    lines = [(sentence(rng, int(rng.integers(2, 8))), int(rng.integers(0, 4)), any_colour(rng, 130, 255)) for _ in range(140)]
    pace = float(rng.uniform(3, 12))

    def at(time_s: float) -> np.ndarray:
        picture, first = plain((28, 30, 36)), int(pace * time_s)
        for row in range(24):
            for left, shift in ((12, 0), (330, 60)):
                words, indent, ink = lines[first + row + shift]
                write(picture, words[: 34 - 4 * indent], left + 14 * indent, 14 + 15 * row, 0.35, ink)
        cv2.line(picture, (322, 0), (322, HEIGHT_PX), (80, 80, 90), 1)
        return picture

    return at


def squash_and_stretch(rng: np.random.Generator) -> Scene:
    """Faces and panels that are squashed, stretched and skewed while they bounce, as in cartoons."""
    inks, back = [any_colour(rng) for _ in range(5)], any_colour(rng, 170, 256)
    starts, pace = rng.uniform(0, 6, 5), float(rng.uniform(2, 5))
    sign = plain(inks[0], 120, 120)
    for place, ink in zip(((36, 44), (84, 44), (60, 84)), inks[1:4], strict=True):
        cv2.circle(sign, place, 13, ink, -1, cv2.LINE_AA)
    write(sign, sentence(rng, 1), 8, 114, 0.6, inks[4])

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for number, start in enumerate(starts):
            wave = np.sin(pace * time_s + start)
            wide, tall, skew = 1 + 0.3 * wave, 1 - 0.3 * wave, 0.25 * np.cos(pace * time_s + start)
            move = np.float32([[wide, skew, 20 + 125 * number - 30 * skew], [0, tall, 240 - 120 * tall - 60 * wave]])
            inside = cv2.warpAffine(np.full((120, 120), 255, np.uint8), move, (WIDTH_PX, HEIGHT_PX)) > 127
            picture[inside] = cv2.warpAffine(sign, move, (WIDTH_PX, HEIGHT_PX))[inside]
        return picture

    return at


def curves_that_scale(rng: np.random.Generator) -> Scene:
    """Curves and labels whose axes are scaled again as values come in: all moves, up and down more than across."""
    values = np.cumsum(rng.normal(0, 1, (3, 300)), axis=1)
    inks, dark = [any_colour(rng, 60, 230) for _ in range(3)], rng.random() < 0.5

    def at(time_s: float) -> np.ndarray:
        picture, shown = plain((24, 26, 32) if dark else (255, 255, 255)), int(40 + 60 * time_s)
        lowest, highest = values[:, :shown].min(), values[:, :shown].max()
        for row, ink in zip(values, inks, strict=True):
            y = 330 - 290 * (row[:shown] - lowest) / (highest - lowest)
            points = np.column_stack([60 + 550 * np.arange(shown) / shown, y]).astype(np.int32)
            cv2.polylines(picture, [points], False, ink, 2, cv2.LINE_AA)
            for point in range(0, shown, 20):
                cv2.circle(picture, tuple(map(int, points[point])), 5, ink, -1, cv2.LINE_AA)
        for mark in range(int(lowest) // 2 * 2, int(highest), 2):
            write(picture, str(mark), 20, int(334 - 290 * (mark - lowest) / (highest - lowest)), 0.4, (128, 128, 128))
        return picture

    return at


def cards_that_flip(rng: np.random.Generator) -> Scene:
    """A board of cards that turn over one after another by growing narrow and wide again."""
    fronts = []
    for _ in range(18):
        card = plain(any_colour(rng, 200, 256), 100, 90)
        cv2.circle(card, (45, 42), 24, any_colour(rng), -1, cv2.LINE_AA)
        write(card, sentence(rng, 1), 12, 90, 0.5, (40, 40, 50))
        fronts.append(card)
    hidden, back = plain(any_colour(rng, 60, 160), 100, 90), any_colour(rng, 30, 110)
    cv2.rectangle(hidden, (10, 10), (80, 90), (230, 230, 230), 2)
    order = rng.permutation(18)

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for number in range(18):
            gone = float(np.clip(4 * time_s - order[number] / 1.3, 0, 1))
            width = max(2, round(90 * abs(np.cos(np.pi * gone))))
            face = cv2.resize(hidden if gone < 0.5 else fronts[number], (width, 100), interpolation=cv2.INTER_AREA)
            x, y = 12 + 105 * (number % 6) + (90 - width) // 2, 15 + 115 * (number // 6)
            picture[y : y + 100, x : x + width] = face
        return picture

    return at


DRAWERS: dict[str, Drawer] = {
    "fine_histogram": fine_histogram,
    "table_of_numbers": table_of_numbers,
    "grid_of_symbols": grid_of_symbols,
    "pages_that_dissolve": pages_that_dissolve,
    "code_that_scrolls_in_jumps": code_that_scrolls_in_jumps,
    "squash_and_stretch": squash_and_stretch,
    "curves_that_scale": curves_that_scale,
    "cards_that_flip": cards_that_flip,
}
