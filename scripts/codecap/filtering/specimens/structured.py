"""Clips that code can draw: interfaces, sprite games, charts, type, icons, also the hard ones that look textured."""

from __future__ import annotations

import cv2
import numpy as np

from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.photographs import COLOUR, photograph

WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs", "while", "code", "draws", "every", "frame", "again")
FONT = cv2.FONT_HERSHEY_SIMPLEX


def any_colour(rng: np.random.Generator, low: int = 30, high: int = 235) -> tuple[int, int, int]:
    red, green, blue = rng.integers(low, high, 3)
    return int(red), int(green), int(blue)


def plain(colour: tuple[int, int, int], height_px: int = HEIGHT_PX, width_px: int = WIDTH_PX) -> np.ndarray:
    return np.full((height_px, width_px, 3), colour, np.uint8)


def write(picture: np.ndarray, words: str, x: int, y: int, size: float, colour: tuple[int, int, int]) -> None:
    cv2.putText(picture, words, (x, y), FONT, size, colour, max(1, round(size * 2)), cv2.LINE_AA)


def sentence(rng: np.random.Generator, count: int) -> str:
    return " ".join(rng.choice(WORDS, count))


def _page(rng: np.random.Generator, height_px: int, photographs: int = 0) -> np.ndarray:
    """A long light page of headings, text, buttons and, if asked, small photographs."""
    page = plain((250, 250, 252), height_px)
    for y in range(30, height_px - 20, 22):
        if rng.random() < 0.2:
            cv2.rectangle(page, (150, y - 14), (150 + int(rng.integers(60, 160)), y + 4), any_colour(rng), -1)
        else:
            write(page, sentence(rng, int(rng.integers(4, 9))), 150, y, float(rng.choice([0.4, 0.45, 0.6])), (40, 40, 50))
    for _ in range(photographs):
        x, y = int(rng.integers(150, WIDTH_PX - 150)), int(rng.integers(0, height_px - 110))
        page[y : y + 100, x : x + 140] = photograph(str(rng.choice(COLOUR)), 140, 100)
    return page


def scrolling_page(rng: np.random.Generator) -> Scene:
    return _scrolling(rng, photographs=0)


def scrolling_page_with_thumbnails(rng: np.random.Generator) -> Scene:
    return _scrolling(rng, photographs=5)


def _scrolling(rng: np.random.Generator, photographs: int) -> Scene:
    page, speed_px = _page(rng, 1600, photographs), float(rng.uniform(40, 200))
    bar = any_colour(rng)

    def at(time_s: float) -> np.ndarray:
        top = int(speed_px * time_s)
        picture = page[top : top + HEIGHT_PX].copy()
        picture[:, :120] = bar
        for item in range(8):
            write(picture, WORDS[item], 12, 40 + 36 * item, 0.5, (255, 255, 255))
        return picture

    return at


def typed_code(rng: np.random.Generator) -> Scene:
    lines = [sentence(rng, int(rng.integers(2, 8))) for _ in range(14)]
    colours = [any_colour(rng, 120, 255) for _ in lines]

    def at(time_s: float) -> np.ndarray:
        picture, left = plain((24, 26, 34)), int(120 * time_s)
        for number, (words, colour) in enumerate(zip(lines, colours, strict=True)):
            write(picture, words[: max(0, left)], 50, 30 + 23 * number, 0.5, colour)
            left -= len(words)
        return picture

    return at


def windows_over_photograph(rng: np.random.Generator) -> Scene:
    wall = photograph(str(rng.choice(COLOUR)), WIDTH_PX, HEIGHT_PX)
    inside, speed = _page(rng, HEIGHT_PX)[:220, 140:520], rng.uniform(10, 40, 2)

    def at(time_s: float) -> np.ndarray:
        picture = wall.copy()
        x, y = int(40 + speed[0] * time_s), int(30 + speed[1] * time_s * 0.5)
        picture[y : y + 220, x : x + 380] = inside
        cv2.rectangle(picture, (x, y - 18), (x + 380, y), (60, 62, 70), -1)
        picture[-26:] = (20, 22, 28)
        cv2.circle(picture, (int(300 + 60 * np.sin(2 * time_s)), int(200 + 40 * time_s)), 6, (255, 255, 255), -1, cv2.LINE_AA)
        return picture

    return at


def _tiles(rng: np.random.Generator, count: int, side: int = 16) -> np.ndarray:
    """Pixel-art tiles of 3-5 colours each, `(count, side, side, 3)`."""
    tiles = np.zeros((count, side, side, 3), np.uint8)
    for tile in tiles:
        palette = rng.integers(20, 236, (int(rng.integers(3, 6)), 3))
        pattern = rng.integers(0, len(palette), (side // 4, side // 4)).repeat(4, 0).repeat(4, 1)
        pattern[rng.random((side, side)) < 0.12] = 0
        tile[:] = palette[pattern]
    return tiles


def scrolling_pixel_art(rng: np.random.Generator) -> Scene:
    """A platform game: ground and blocks of textured tiles that scroll, flat sky, a running sprite."""
    tiles, columns = _tiles(rng, 6), 120
    level = plain(any_colour(rng, 90, 230), 180, columns * 16)
    for column in range(columns):
        top = int(8 - rng.integers(0, 3)) if rng.random() < 0.9 else 11
        for row in [*range(top, 11), *([int(rng.integers(2, 5))] if rng.random() < 0.25 else [])]:
            level[16 * row : 16 * row + 16, 16 * column : 16 * column + 16] = tiles[rng.integers(6)]
    hero, speed_px = _tiles(rng, 1)[0], float(rng.uniform(40, 160))

    def at(time_s: float) -> np.ndarray:
        left = int(speed_px * time_s)
        view = level[:, left : left + 320].copy()
        y = int(100 - 50 * abs(np.sin(3 * time_s)))
        view[y : y + 16, 100:116] = hero
        return view.repeat(2, 0).repeat(2, 1)

    return at


def parallax_landscape(rng: np.random.Generator) -> Scene:
    """Layers of flat hills and trees that pass at different speeds, a sun, pixel sprites in front."""
    colours = [any_colour(rng) for _ in range(5)]
    x = np.arange(WIDTH_PX * 2)
    ridges = [150 + 40 * layer + 30 * np.sin(x / rng.uniform(15, 60)) + 15 * np.abs(x % 60 - 30) / 30 for layer in range(4)]
    sprites, places = _tiles(rng, 6), rng.uniform([20, 40], [280, 160], (6, 2))
    speed_px = float(rng.uniform(20, 120))

    def at(time_s: float) -> np.ndarray:
        picture = plain(colours[4])
        cv2.circle(picture, (400, 130), 60, (250, 230, 170), -1, cv2.LINE_AA)
        for layer, (ridge, colour) in enumerate(zip(ridges, colours, strict=False)):
            left = int(speed_px * time_s * (layer + 1) / 4)
            tops = ridge[left : left + WIDTH_PX]
            picture[np.arange(HEIGHT_PX)[:, None] > tops[None]] = colour
        for sprite, (column, row) in zip(sprites, places, strict=True):
            left, top = int(column + 20 * time_s) % 300 * 2, int(row + 8 * np.sin(3 * time_s + column)) % 160 * 2
            picture[top : top + 32, left : left + 32] = sprite.repeat(2, 0).repeat(2, 1)
        return picture

    return at


def illustrated_cards(rng: np.random.Generator) -> Scene:
    """A feed of cards that scrolls, each with a small drawn landscape in gradients."""
    page = plain((240, 243, 248), 1400)
    for row in range(9):
        for column in range(3):
            x, y = 20 + 205 * column, 15 + 150 * row + 25 * column
            card = _gradient(rng)[::4, ::3][:90, :190].copy()
            for _ in range(4):
                peak = rng.integers([0, 30], [190, 80])
                hill = np.array([peak, [peak[0] - 90, 95], [peak[0] + 90, 95]], np.int32)
                cv2.fillPoly(card, [hill], any_colour(rng), cv2.LINE_AA)
            page[y : y + 90, x : x + 190] = card
            write(page, sentence(rng, 3), x + 6, y + 110, 0.45, (40, 40, 50))
    speed_px = float(rng.uniform(30, 150))

    def at(time_s: float) -> np.ndarray:
        top = int(speed_px * time_s)
        return page[top : top + HEIGHT_PX]

    return at


def tile_map(rng: np.random.Generator) -> Scene:
    """A game seen from above: the whole picture is tiles, and it scrolls."""
    tiles = _tiles(rng, 4)
    plan = rng.choice(4, (40, 60), p=[0.7, 0.15, 0.1, 0.05])
    tiles[0] = tiles[0][0, 0]  # most of a map is plain ground
    world = tiles[plan].transpose(0, 2, 1, 3, 4).reshape(640, 960, 3)
    speed = rng.uniform(-30, 30, 2)

    def at(time_s: float) -> np.ndarray:
        left, top = int(240 + speed[0] * time_s), int(200 + speed[1] * time_s)
        return world[top : top + 180, left : left + 320].repeat(2, 0).repeat(2, 1)

    return at


def sprites_on_stars(rng: np.random.Generator) -> Scene:
    stars = np.column_stack([rng.uniform(0, WIDTH_PX, 250), rng.uniform(0, HEIGHT_PX, 250), rng.uniform(10, 60, 250)])
    ships = rng.uniform([0, 0, -80, -50], [WIDTH_PX, HEIGHT_PX, 80, 50], (12, 4))
    sprites = _tiles(rng, 12, 24)

    def at(time_s: float) -> np.ndarray:
        picture = plain((8, 8, 24))
        for x, y, speed in stars:
            row, column = int(y + speed * time_s) % HEIGHT_PX, int(x)
            picture[row : row + 2, column : column + 2] = int(80 + 2.5 * speed)
        for sprite, (x, y, dx, dy) in zip(sprites, ships, strict=True):
            left, top = int(x + dx * time_s) % (WIDTH_PX - 24), int(y + dy * time_s) % (HEIGHT_PX - 24)
            picture[top : top + 24, left : left + 24] = sprite
        return picture

    return at


def moving_shapes(rng: np.random.Generator) -> Scene:
    ground = _gradient(rng) if rng.random() < 0.5 else plain(any_colour(rng))
    shapes = [(rng.uniform(60, 300, 2), rng.uniform(-90, 90, 2), int(rng.integers(14, 60)), any_colour(rng)) for _ in range(10)]

    def at(time_s: float) -> np.ndarray:
        picture = ground.copy()
        for place, speed, size, colour in shapes:
            x, y = (int(value) for value in place + speed * time_s)
            radius = int(size * (1 + 0.4 * np.sin(time_s)))
            cv2.circle(picture, (x % WIDTH_PX, y % HEIGHT_PX), radius, colour, -1, cv2.LINE_AA)
        return picture

    return at


def _gradient(rng: np.random.Generator) -> np.ndarray:
    ramp = np.linspace(0, 1, HEIGHT_PX)[:, None, None]
    row = (1 - ramp) * np.array(any_colour(rng)) + ramp * np.array(any_colour(rng))
    return np.broadcast_to(row, (HEIGHT_PX, WIDTH_PX, 3)).astype(np.uint8)


def bar_chart(rng: np.random.Generator) -> Scene:
    ends, colours = rng.uniform(40, 260, 14), [any_colour(rng) for _ in range(14)]

    def at(time_s: float) -> np.ndarray:
        picture = plain((255, 255, 255))
        for line in range(6):
            cv2.line(picture, (50, 320 - 50 * line), (620, 320 - 50 * line), (220, 220, 220), 1)
            write(picture, str(20 * line), 12, 324 - 50 * line, 0.4, (80, 80, 80))
        for bar, (end, colour) in enumerate(zip(ends, colours, strict=True)):
            top = int(320 - end * min(1.0, 0.3 + 0.2 * time_s + 0.1 * np.sin(bar + 2 * time_s)))
            cv2.rectangle(picture, (58 + 40 * bar, top), (88 + 40 * bar, 320), colour, -1)
        return picture

    return at


def scatter_and_lines(rng: np.random.Generator) -> Scene:
    points, phase = rng.uniform([60, 30], [610, 310], (120, 2)), rng.uniform(0, 6, 120)
    colours = [any_colour(rng) for _ in range(120)]

    def at(time_s: float) -> np.ndarray:
        picture = plain((18, 20, 28) if phase[0] < 3 else (255, 255, 255))
        for (x, y), start, colour in zip(points, phase, colours, strict=True):
            centre = (int(x + 25 * np.sin(time_s + start)), int(y + 25 * np.cos(time_s + start)))
            cv2.circle(picture, centre, int(3 + start * 1.5), colour, -1, cv2.LINE_AA)
        x = np.arange(60, 620, 4)
        for wave in range(3):
            y = 180 + 60 * np.sin(x / (30 + 12 * wave) + 2 * time_s + phase[wave])
            cv2.polylines(picture, [np.column_stack([x, y]).astype(np.int32)], False, colours[wave], 2, cv2.LINE_AA)
        return picture

    return at


def big_type(rng: np.random.Generator) -> Scene:
    grounds, inks, words = [any_colour(rng) for _ in range(8)], [any_colour(rng, 180, 255) for _ in range(8)], rng.choice(WORDS, 8)

    def at(time_s: float) -> np.ndarray:
        word = int(time_s * 2) % 8
        picture = plain(grounds[word])
        grown = 1.5 + 3 * (time_s * 2 % 1)
        write(picture, str(words[word]), int(200 - 30 * grown), 220, grown, inks[word])
        return picture

    return at


def confetti(rng: np.random.Generator) -> Scene:
    pieces = rng.uniform([0, -360, 30, 0], [WIDTH_PX, HEIGHT_PX, 150, 6], (160, 4))
    colours, ground = [any_colour(rng) for _ in pieces], any_colour(rng, 200, 255)

    def at(time_s: float) -> np.ndarray:
        picture = plain(ground)
        for (x, y, speed, turn), colour in zip(pieces, colours, strict=True):
            box = cv2.boxPoints(((x, (y + speed * time_s) % HEIGHT_PX), (14, 8), float(np.degrees(turn + 3 * time_s))))
            cv2.fillConvexPoly(picture, box.astype(np.int32), colour, cv2.LINE_AA)
        return picture

    return at


def spinner(rng: np.random.Generator) -> Scene:
    ground, ink = any_colour(rng), any_colour(rng, 200, 255)

    def at(time_s: float) -> np.ndarray:
        picture = plain(ground)
        cv2.ellipse(picture, (320, 180), (70, 70), 300 * time_s, 0, 270, ink, 14, cv2.LINE_AA)
        return picture

    return at


def street_map(rng: np.random.Generator) -> Scene:
    """A drawn map that is moved: areas, streets and names."""
    world = plain((238, 236, 226), 700, 1100)
    for _ in range(40):
        corner, size = rng.integers(0, [1000, 600]), rng.integers(30, 120, 2)
        far = tuple(int(value) for value in corner + size)
        cv2.rectangle(world, tuple(int(value) for value in corner), far, any_colour(rng, 190, 240), -1)
    for _ in range(30):
        start, end = rng.integers(0, [1100, 700]), rng.integers(0, [1100, 700])
        cv2.line(world, tuple(map(int, start)), tuple(map(int, end)), (255, 255, 255), 6, cv2.LINE_AA)
        write(world, str(rng.choice(WORDS)), int(start[0]), int(start[1]), 0.4, (90, 90, 90))
    speed = rng.uniform(-50, 50, 2)

    def at(time_s: float) -> np.ndarray:
        left, top = int(220 + speed[0] * time_s), int(160 + speed[1] * time_s * 0.7)
        return world[top : top + HEIGHT_PX, left : left + WIDTH_PX]

    return at


def _noisy(drawer: Drawer, levels: float) -> Drawer:
    """The same scene with noise of a standard deviation of so many grey levels."""

    def noisy(rng: np.random.Generator) -> Scene:
        scene = drawer(rng)

        def at(time_s: float) -> np.ndarray:
            picture = scene(time_s)
            return np.clip(picture + rng.normal(0, levels, picture.shape), 0, 255).astype(np.uint8)

        return at

    return noisy


DRAWERS: dict[str, Drawer] = {
    "scrolling_page": scrolling_page,
    "scrolling_page_with_thumbnails": scrolling_page_with_thumbnails,
    "typed_code": typed_code,
    "windows_over_photograph": windows_over_photograph,
    "scrolling_pixel_art": scrolling_pixel_art,
    "parallax_landscape": parallax_landscape,
    "illustrated_cards": illustrated_cards,
    "tile_map": tile_map,
    "sprites_on_stars": sprites_on_stars,
    "moving_shapes": moving_shapes,
    "bar_chart": bar_chart,
    "scatter_and_lines": scatter_and_lines,
    "big_type": big_type,
    "confetti": confetti,
    "spinner": spinner,
    "street_map": street_map,
    "noisy_chart": _noisy(bar_chart, 8.0),
    "noisy_page": _noisy(scrolling_page, 6.0),
}
