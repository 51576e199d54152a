"""Clips that code can draw, of families on which the shipped scorecard was not trained: it is tested on them."""

from __future__ import annotations

import cv2
import numpy as np

from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.plots import drawn_by_matplotlib
from codecap.filtering.specimens.structured import WORDS, any_colour, plain, sentence, write


def board_of_tasks(rng: np.random.Generator) -> Scene:
    """Columns of cards, one of which is dragged across by a pointer."""
    cards = [(column, row, sentence(rng, 2), any_colour(rng)) for column in range(4) for row in range(int(rng.integers(2, 5)))]
    moving, back = int(rng.integers(len(cards))), any_colour(rng, 215, 250)

    def at(time_s: float) -> np.ndarray:
        picture, gone = plain(back), float(np.clip(time_s / 3, 0, 1))
        for column in range(4):
            cv2.rectangle(picture, (12 + 157 * column, 40), (158 + 157 * column, 350), (235, 236, 240), -1)
            write(picture, WORDS[column], 20 + 157 * column, 30, 0.6, (60, 60, 70))
        for number, (column, row, words, ink) in enumerate(cards):
            x, y = 20 + 157 * column, 50 + 72 * row
            if number == moving:
                x, y = int(x + gone * (400 - x)), int(y + 40 * np.sin(np.pi * gone))
            cv2.rectangle(picture, (x, y), (x + 130, y + 60), (255, 255, 255), -1)
            cv2.rectangle(picture, (x, y), (x + 6, y + 60), ink, -1)
            write(picture, words, x + 14, y + 26, 0.4, (50, 50, 60))
        return picture

    return at


def spectrum_of_sound(rng: np.random.Generator) -> Scene:
    """Bars that dance, mirrored below."""
    phase, pace, back = rng.uniform(0, 6, (40, 3)), rng.uniform(3, 12, (40, 3)), any_colour(rng, 0, 60)
    ends = rng.integers(90, 256, (2, 3))

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for bar in range(40):
            level = int(20 + 110 * np.abs(np.sin(phase[bar] + pace[bar] * time_s)).prod())
            ink = tuple(int(value) for value in ends[0] + (ends[1] - ends[0]) * bar / 39)
            cv2.rectangle(picture, (12 + 15 * bar, 200 - level), (22 + 15 * bar, 200), ink, -1)
            cv2.rectangle(picture, (12 + 15 * bar, 206), (22 + 15 * bar, 206 + level // 2), tuple(value // 2 for value in ink), -1)
        return picture

    return at


def clocks(rng: np.random.Generator) -> Scene:
    starts, inks, back = rng.uniform(0, 6, 6), [any_colour(rng) for _ in range(6)], any_colour(rng, 200, 256)

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for number, start in enumerate(starts):
            x, y = 110 + 210 * (number % 3), 95 + 170 * (number // 3)
            cv2.circle(picture, (x, y), 74, (255, 255, 255), -1, cv2.LINE_AA)
            cv2.circle(picture, (x, y), 74, inks[number], 5, cv2.LINE_AA)
            for hand, (length, pace) in enumerate(((60, 3.0), (45, 0.5), (30, 0.05))):
                turn = start * (hand + 1) + pace * time_s
                end = (int(x + length * np.cos(turn)), int(y + length * np.sin(turn)))
                cv2.line(picture, (x, y), end, (40, 40, 50), 2 + 2 * hand, cv2.LINE_AA)
        return picture

    return at


def sorting(rng: np.random.Generator) -> Scene:
    """Bars that bubble sort puts in order, many swaps a second."""
    states, values = [], list(rng.permutation(32))
    for end in range(31, 0, -1):
        for place in range(end):
            if values[place] > values[place + 1]:
                values[place], values[place + 1] = values[place + 1], values[place]
            states.append((list(values), place))
    ink, busy = any_colour(rng, 80, 200), any_colour(rng, 150, 256)

    def at(time_s: float) -> np.ndarray:
        picture = plain((250, 250, 250))
        shown, place = states[min(int(90 * time_s), len(states) - 1)]
        for bar, value in enumerate(shown):
            cv2.rectangle(
                picture, (16 + 19 * bar, 340 - 10 * int(value) - 8), (32 + 19 * bar, 340), busy if bar == place else ink, -1
            )
        return picture

    return at


def chess(rng: np.random.Generator) -> Scene:
    """A board of 8 x 8, pieces as letters on discs that slide from square to square, a list of moves."""
    pieces = [
        (rng.integers(0, 8, 2), rng.integers(0, 8, 2), str(rng.choice(list("KQRBNP"))), bool(rng.random() < 0.5)) for _ in range(14)
    ]
    light, dark = any_colour(rng, 200, 240), any_colour(rng, 80, 140)

    def at(time_s: float) -> np.ndarray:
        picture = plain((48, 46, 44))
        for row in range(8):
            for column in range(8):
                corner = (20 + 40 * column, 20 + 40 * row)
                cv2.rectangle(picture, corner, (corner[0] + 39, corner[1] + 39), (light, dark)[(row + column) % 2], -1)
        for number, (start, end, letter, white) in enumerate(pieces):
            gone = float(np.clip(3 * time_s - number, 0, 1))
            x, y = (40 + 40 * (start + gone * (end - start))).astype(int)
            cv2.circle(picture, (int(x), int(y)), 15, (245, 245, 240) if white else (30, 30, 30), -1, cv2.LINE_AA)
            write(picture, letter, int(x) - 7, int(y) + 7, 0.7, (30, 30, 30) if white else (245, 245, 240))
            if gone >= 1:
                write(
                    picture, f"{number + 1}. {letter}{'abcdefgh'[end[0]]}{end[1] + 1}", 380, 40 + 22 * number, 0.5, (220, 220, 220)
                )
        return picture

    return at


def bricks_and_ball(rng: np.random.Generator) -> Scene:
    inks, back = [any_colour(rng, 90, 255) for _ in range(5)], any_colour(rng, 0, 50)
    order = rng.permutation(60)

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for brick in range(60):
            if order[brick] >= 6 * time_s:
                x, y = 8 + 52 * (brick % 12), 30 + 22 * (brick // 12)
                cv2.rectangle(picture, (x, y), (x + 47, y + 17), inks[brick // 12], -1)
        x, y = 320 + 300 * np.sin(2.3 * time_s), 240 - 95 * np.abs(np.cos(4 * time_s))
        cv2.circle(picture, (int(x), int(y)), 8, (255, 255, 255), -1, cv2.LINE_AA)
        cv2.rectangle(picture, (int(x) - 45, 335), (int(x) + 45, 345), (200, 200, 210), -1)
        write(picture, f"score {60 * int(6 * time_s)}", 20, 20, 0.6, (255, 255, 255))
        return picture

    return at


def bubbles_of_countries(rng: np.random.Generator) -> Scene:
    places, drift, sizes = rng.uniform(5, 60, (24, 2)), rng.uniform(0, 8, (24, 2)), rng.uniform(80, 1600, 24)

    def draw(figure, time_s: float) -> None:
        axes = figure.add_subplot()
        now = places + drift * time_s
        axes.scatter(now[:, 0], now[:, 1], s=sizes * (1 + 0.1 * time_s), c=np.arange(24), cmap="tab20", alpha=0.7, edgecolors="k")
        for number in range(0, 24, 3):
            axes.annotate(WORDS[number % len(WORDS)], now[number])
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.text(60, 10, f"{1950 + int(10 * time_s)}", fontsize=40, alpha=0.3)

    return drawn_by_matplotlib(draw)


def stacked_areas(rng: np.random.Generator) -> Scene:
    values = np.abs(np.cumsum(rng.normal(0, 1, (5, 120)), axis=1)) + 2

    def draw(figure, time_s: float) -> None:
        axes = figure.add_subplot()
        shown = int(10 + 27 * time_s)
        axes.stackplot(range(shown), values[:, :shown], labels=WORDS[:5])
        axes.set_xlim(0, 120)
        axes.set_ylim(0, values.sum(axis=0).max())
        axes.legend(loc="upper left")

    return drawn_by_matplotlib(draw)


def words_that_turn(rng: np.random.Generator) -> Scene:
    """Words of a song that fly in, turning and growing, over a ground that changes its colour at each line."""
    grounds, words = [any_colour(rng) for _ in range(6)], [sentence(rng, 2) for _ in range(6)]

    def at(time_s: float) -> np.ndarray:
        number, gone = int(1.5 * time_s) % 6, 1.5 * time_s % 1
        picture = plain(grounds[number])
        write(picture, words[number], 150, 190, 1.6, (255, 255, 255))
        move = cv2.getRotationMatrix2D((320, 180), 40 * (1 - gone) ** 2, 0.5 + 0.7 * gone)
        return cv2.warpAffine(picture, move, (WIDTH_PX, HEIGHT_PX), borderValue=grounds[number])

    return at


def way_through_a_maze(rng: np.random.Generator) -> Scene:
    """A maze whose cells are coloured one by one as a search goes through it."""
    walls = rng.random((18, 32)) < 0.3
    seen, edge = [], [(9, 16)]
    found = {(9, 16)}
    while edge:
        row, column = edge.pop(0)
        seen.append((row, column))
        for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if 0 <= near[0] < 18 and 0 <= near[1] < 32 and near not in found and not walls[near]:
                found.add(near)
                edge.append(near)
    ends = rng.integers(60, 240, (2, 3))

    def at(time_s: float) -> np.ndarray:
        picture = plain((255, 255, 255))
        for row, column in np.argwhere(walls).tolist():
            cv2.rectangle(picture, (20 * column, 20 * row), (20 * column + 19, 20 * row + 19), (50, 50, 60), -1)
        for number, (row, column) in enumerate(seen[: int(100 * time_s)]):
            ink = tuple(int(value) for value in ends[0] + (ends[1] - ends[0]) * number / len(seen))
            cv2.rectangle(picture, (20 * column + 1, 20 * row + 1), (20 * column + 18, 20 * row + 18), ink, -1)
        return picture

    return at


DRAWERS: dict[str, Drawer] = {
    "board_of_tasks": board_of_tasks,
    "spectrum_of_sound": spectrum_of_sound,
    "clocks": clocks,
    "sorting": sorting,
    "chess": chess,
    "bricks_and_ball": bricks_and_ball,
    "bubbles_of_countries": bubbles_of_countries,
    "stacked_areas": stacked_areas,
    "words_that_turn": words_that_turn,
    "way_through_a_maze": way_through_a_maze,
}
