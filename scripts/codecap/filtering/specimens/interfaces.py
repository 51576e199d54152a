"""Clips that code can draw: more interfaces, charts, games and motion graphics."""

from __future__ import annotations

import cv2
import numpy as np

from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.plots import drawn_by_matplotlib
from codecap.filtering.specimens.structured import WORDS, any_colour, plain, sentence, write


def terminal_log(rng: np.random.Generator) -> Scene:
    """Lines of a program that appear at the bottom and push the others up, some in colour."""
    lines = [sentence(rng, int(rng.integers(3, 10))) for _ in range(200)]
    inks = [(200, 205, 200) if rng.random() < 0.7 else any_colour(rng, 120, 255) for _ in lines]
    pace = float(rng.uniform(4, 16))

    def at(time_s: float) -> np.ndarray:
        picture, last = plain((12, 14, 16)), int(18 + pace * time_s)
        for row in range(20):
            number = last - 20 + row
            if 0 <= number < len(lines):
                write(picture, lines[number], 10, 20 + 17 * row, 0.4, inks[number])
        return picture

    return at


def snake_game(rng: np.random.Generator) -> Scene:
    """A chequered board, a snake of squares that turns at random, an apple, a score."""
    steps, place, way = [], np.array([8, 12]), np.array([0, 1])
    for _ in range(80):
        if rng.random() < 0.3:
            way = np.array([way[1], -way[0]]) * rng.choice([-1, 1])
        place = (place + way) % [16, 28]
        steps.append(place.copy())
    dark, light, skin = any_colour(rng, 40, 90), any_colour(rng, 50, 100), any_colour(rng, 120, 255)

    def at(time_s: float) -> np.ndarray:
        picture, head = plain((20, 20, 24)), int(12 + 8 * time_s)
        for row in range(16):
            for column in range(28):
                corner = (12 + 22 * column, 6 + 22 * row)
                cv2.rectangle(picture, corner, (corner[0] + 21, corner[1] + 21), (dark, light)[(row + column) % 2], -1)
        for row, column in steps[head - 10 : head]:
            corner = (14 + 22 * int(column), 8 + 22 * int(row))
            cv2.rectangle(picture, corner, (corner[0] + 17, corner[1] + 17), skin, -1)
        cv2.circle(picture, (300, 170), 8, (230, 60, 60), -1, cv2.LINE_AA)
        write(picture, f"{10 * head}", 560, 30, 0.8, (255, 255, 255))
        return picture

    return at


def line_chart(rng: np.random.Generator) -> Scene:
    values = np.cumsum(rng.normal(0, 1, (3, 200)), axis=1)

    def draw(figure, time_s: float) -> None:
        axes = figure.add_subplot()
        shown = int(20 + 40 * time_s)
        for number, row in enumerate(values):
            axes.plot(row[:shown], label=WORDS[number], linewidth=2)
        axes.set_xlim(0, 200)
        axes.set_ylim(values.min() - 1, values.max() + 1)
        axes.legend(loc="upper left")
        axes.grid(alpha=0.3)

    return drawn_by_matplotlib(draw)


def heat_map(rng: np.random.Generator) -> Scene:
    phases, paces = rng.uniform(0, 6, (9, 14)), rng.uniform(1, 3, (9, 14))
    palette = str(rng.choice(["viridis", "magma", "coolwarm"]))

    def draw(figure, time_s: float) -> None:
        axes = figure.add_subplot()
        picture = axes.imshow(np.sin(phases + paces * time_s), cmap=palette, vmin=-1, vmax=1, aspect="auto")
        figure.colorbar(picture)
        axes.set_title(f"week {int(4 * time_s)}")

    return drawn_by_matplotlib(draw)


def contour_map(rng: np.random.Generator) -> Scene:
    x, y = np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-2, 2, 40))
    phase = rng.uniform(0, 6, 3)

    def draw(figure, time_s: float) -> None:
        axes = figure.add_subplot()
        height = np.sin(x + phase[0] + 0.8 * time_s) * np.cos(y + phase[1]) + 0.5 * np.sin(2 * x - time_s + phase[2])
        axes.contourf(x, y, height, levels=8, cmap="Blues")
        axes.contour(x, y, height, levels=8, colors="k", linewidths=0.5)

    return drawn_by_matplotlib(draw)


def donut_chart(rng: np.random.Generator) -> Scene:
    shares, inks, back = rng.dirichlet(np.full(6, 3.0)), [any_colour(rng) for _ in range(6)], any_colour(rng, 225, 256)

    def at(time_s: float) -> np.ndarray:
        picture, start = plain(back), -90.0
        grown = min(1.0, 0.2 + 0.35 * time_s)
        for share, ink in zip(shares, inks, strict=True):
            end = start + 360 * share * grown
            cv2.ellipse(picture, (240, 180), (110, 110), 0, start, end, ink, 50, cv2.LINE_AA)
            start = end
        for row, ink in enumerate(inks):
            cv2.rectangle(picture, (440, 90 + 30 * row), (456, 106 + 30 * row), ink, -1)
            write(picture, f"{WORDS[row]} {100 * shares[row] * grown:.0f} %", 466, 104 + 30 * row, 0.5, (50, 50, 60))
        return picture

    return at


def node_graph(rng: np.random.Generator) -> Scene:
    """Labelled nodes that drift, and the lines between them."""
    homes, phase = rng.uniform([60, 40], [580, 320], (18, 2)), rng.uniform(0, 6, (18, 2))
    pairs = rng.integers(0, 18, (30, 2))
    inks, dark = [any_colour(rng, 100, 255) for _ in range(18)], rng.random() < 0.5

    def at(time_s: float) -> np.ndarray:
        picture = plain((22, 24, 32) if dark else (248, 248, 250))
        places = (homes + 28 * np.sin(1.3 * time_s + phase)).astype(int)
        for one, other in pairs:
            cv2.line(picture, tuple(map(int, places[one])), tuple(map(int, places[other])), (130, 130, 140), 1, cv2.LINE_AA)
        for number, (x, y) in enumerate(places.tolist()):
            cv2.circle(picture, (x, y), 14, inks[number], -1, cv2.LINE_AA)
            write(picture, WORDS[number % len(WORDS)], x + 16, y + 5, 0.4, (150, 150, 160))
        return picture

    return at


def dashboard(rng: np.random.Generator) -> Scene:
    """Cards with gauges, numbers that count and small curves."""
    inks, phase = [any_colour(rng, 60, 220) for _ in range(6)], rng.uniform(0, 6, 6)

    def at(time_s: float) -> np.ndarray:
        picture = plain((236, 239, 244))
        for card in range(6):
            left, top = 14 + 208 * (card % 3), 14 + 172 * (card // 3)
            cv2.rectangle(picture, (left, top), (left + 196, top + 160), (255, 255, 255), -1)
            level = 0.5 + 0.4 * np.sin(phase[card] + (0.6 + 0.2 * card) * time_s)
            write(picture, str(WORDS[card]), left + 12, top + 22, 0.5, (110, 110, 120))
            write(picture, f"{100 * level:.1f}", left + 12, top + 54, 0.8, (30, 30, 40))
            if card % 2:
                cv2.ellipse(picture, (left + 130, top + 110), (40, 40), 180, 0, 180 * level, inks[card], 10, cv2.LINE_AA)
            else:
                x = np.arange(0, 172, 4)
                y = top + 110 + 24 * np.sin(x / 20 + 2 * time_s + phase[card])
                points = np.column_stack([left + 12 + x, y]).astype(np.int32)
                cv2.polylines(picture, [points], False, inks[card], 2, cv2.LINE_AA)
        return picture

    return at


def cards_on_a_gradient(rng: np.random.Generator) -> Scene:
    """A ground whose colour runs softly, and cards that slide in over it."""
    ends = rng.integers(40, 255, (2, 3)).astype(np.float32)
    ramp = (np.arange(WIDTH_PX)[None, :] / WIDTH_PX + np.arange(HEIGHT_PX)[:, None] / HEIGHT_PX)[..., None] / 2
    back = (ends[0] + (ends[1] - ends[0]) * ramp).astype(np.uint8)
    inks = [any_colour(rng) for _ in range(3)]

    def at(time_s: float) -> np.ndarray:
        picture = back.copy()
        for card in range(3):
            gone = np.clip(time_s * 1.5 - card, 0, 1)
            top = int(HEIGHT_PX - (HEIGHT_PX - 70) * (1 - (1 - gone) ** 3))
            left = 40 + 195 * card
            cv2.rectangle(picture, (left, top), (left + 170, top + 220), (250, 250, 252), -1)
            cv2.circle(picture, (left + 85, top + 60), 34, inks[card], -1, cv2.LINE_AA)
            write(picture, str(WORDS[card]), left + 40, top + 130, 0.8, (50, 50, 60))
            write(picture, "again and again", left + 20, top + 160, 0.4, (120, 120, 130))
        return picture

    return at


def isometric_town(rng: np.random.Generator) -> Scene:
    """Boxes with three flat sides each in a fixed slanted view that slides by, some growing: no perspective."""
    heights, inks = rng.integers(10, 70, (12, 12)), [np.array(any_colour(rng, 90, 240)) for _ in range(6)]
    kind, speed_px, back = rng.integers(0, 6, (12, 12)), float(rng.uniform(-25, 25)), any_colour(rng, 150, 235)

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for row in range(12):
            for column in range(12):
                x = int(320 + 30 * (column - row) + speed_px * time_s)
                y = int(70 + 15 * (column + row))
                up = int(heights[row, column] * min(1.0, 0.3 + 0.3 * time_s))
                ink = inks[kind[row, column]]
                roof = np.array([(x, y - 15 - up), (x + 26, y - up), (x, y + 13 - up), (x - 26, y - up)])
                left = np.array([(x - 26, y - up), (x, y + 13 - up), (x, y + 13), (x - 26, y)])
                right = np.array([(x + 26, y - up), (x, y + 13 - up), (x, y + 13), (x + 26, y)])
                for side, light in ((roof, 1.0), (left, 0.75), (right, 0.55)):
                    cv2.fillPoly(picture, [side.astype(np.int32)], tuple(int(value * light) for value in ink), cv2.LINE_AA)
        return picture

    return at


def painted_strokes(rng: np.random.Generator) -> Scene:
    """A drawing that comes into being, stroke by stroke."""
    steps = [np.vstack([rng.uniform([40, 40], [600, 320]), rng.normal(0, 14, (40, 2))]) for _ in range(24)]
    strokes = [(np.cumsum(step, axis=0), any_colour(rng), int(rng.integers(2, 12))) for step in steps]

    def at(time_s: float) -> np.ndarray:
        picture, done = plain((252, 250, 244)), 240 * time_s
        for points, ink, width in strokes:
            shown = int(np.clip(done, 0, len(points)))
            if shown > 1:
                cv2.polylines(picture, [points[:shown].astype(np.int32)], False, ink, width, cv2.LINE_AA)
            done -= len(points)
        return picture

    return at


def slides(rng: np.random.Generator) -> Scene:
    """Slides of a title and points, each wiped over the one before."""
    made = []
    for _ in range(4):
        slide = plain(any_colour(rng, 180, 256) if rng.random() < 0.6 else any_colour(rng, 10, 70))
        ink = (30, 30, 40) if slide[0, 0].mean() > 128 else (240, 240, 245)
        write(slide, sentence(rng, 2), 50, 80, 1.4, ink)
        for row in range(4):
            cv2.circle(slide, (62, 140 + 44 * row), 5, ink, -1, cv2.LINE_AA)
            write(slide, sentence(rng, int(rng.integers(3, 6))), 80, 146 + 44 * row, 0.7, ink)
        cv2.rectangle(slide, (470, 110), (600, 300), any_colour(rng), -1)
        made.append(slide)

    def at(time_s: float) -> np.ndarray:
        number, gone = int(time_s), min(1.0, (time_s % 1) * 2.5)
        edge = int(WIDTH_PX * gone)
        return np.hstack([made[(number + 1) % 4][:, :edge], made[number % 4][:, edge:]])

    return at


def morphing_blobs(rng: np.random.Generator) -> Scene:
    angle = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    waves, inks, back = rng.uniform(0, 6, (4, 3)), [any_colour(rng) for _ in range(4)], any_colour(rng, 200, 250)

    def at(time_s: float) -> np.ndarray:
        picture = plain(back)
        for blob in range(4):
            radius = 55 + 14 * np.sin(3 * angle + 2 * time_s + waves[blob, 0]) + 9 * np.sin(5 * angle - 3 * time_s + waves[blob, 1])
            x = 120 + 130 * blob + 20 * np.sin(time_s + waves[blob, 2]) + radius * np.cos(angle)
            points = np.column_stack([x, 180 + 40 * np.cos(time_s + blob) + radius * np.sin(angle)])
            cv2.fillPoly(picture, [points.astype(np.int32)], inks[blob], cv2.LINE_AA)
        return picture

    return at


def falling_bricks(rng: np.random.Generator) -> Scene:
    """A puzzle of bricks: a well, a pile with bevelled squares, a piece that falls by whole squares."""
    inks = [any_colour(rng, 80, 240) for _ in range(7)]
    pile = np.where(rng.random((18, 10)) < np.linspace(-0.9, 1.0, 18)[:, None], rng.integers(0, 7, (18, 10)), -1)

    def square(picture: np.ndarray, row: int, column: int, ink: tuple[int, int, int]) -> None:
        left, top = 220 + 19 * column, 9 + 19 * row
        cv2.rectangle(picture, (left, top), (left + 17, top + 17), ink, -1)
        cv2.line(picture, (left, top), (left + 17, top), tuple(min(255, value + 40) for value in ink), 2)

    def at(time_s: float) -> np.ndarray:
        picture = plain((16, 18, 30))
        cv2.rectangle(picture, (216, 5), (412, 353), (90, 90, 110), 2)
        for row, column in np.argwhere(pile >= 0).tolist():
            square(picture, row, column, inks[pile[row, column]])
        for piece in range(2):
            row = int(6 * time_s + 5 * piece) % 9
            for part in range(4):
                square(picture, row + part // 2, 3 + part % 2 + 2 * piece, inks[piece])
        write(picture, f"{int(120 * time_s)}", 450, 60, 0.9, (255, 255, 255))
        return picture

    return at


DRAWERS: dict[str, Drawer] = {
    "terminal_log": terminal_log,
    "snake_game": snake_game,
    "line_chart": line_chart,
    "heat_map": heat_map,
    "contour_map": contour_map,
    "donut_chart": donut_chart,
    "node_graph": node_graph,
    "dashboard": dashboard,
    "cards_on_a_gradient": cards_on_a_gradient,
    "isometric_town": isometric_town,
    "painted_strokes": painted_strokes,
    "slides": slides,
    "morphing_blobs": morphing_blobs,
    "falling_bricks": falling_bricks,
}
