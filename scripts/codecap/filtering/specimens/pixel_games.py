"""Clips that code can draw: games of large pixels, whose tiles look like texture when they scroll."""

from __future__ import annotations

import cv2
import numpy as np

from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.structured import any_colour, write


def _tile(rng: np.random.Generator, side: int = 16) -> np.ndarray:
    """A tile of a ground colour, darker specks and a lighter rim."""
    base = rng.integers(60, 220, 3)
    tile = np.tile(base, (side, side, 1)).astype(int)
    tile[rng.random((side, side)) < 0.2] -= 35
    tile[:2] += 30
    return np.clip(tile, 0, 255).astype(np.uint8)


def _sprite(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A figure of 16 x 16 large pixels, the same on both sides, and where it is."""
    half = rng.random((16, 8)) < np.linspace(0.3, 0.9, 8)
    inside = np.hstack([half, half[:, ::-1]])
    palette = rng.integers(30, 256, (4, 3)).astype(np.uint8)
    inks = rng.integers(0, 4, (8, 4)).repeat(2, 0).repeat(2, 1)
    return palette[np.hstack([inks, inks[:, ::-1]])], inside


def platform_game(rng: np.random.Generator) -> Scene:
    """Hills that pass slowly, a ground of tiles that passes fast, figures that hop, coins and a score."""
    tiles, figures = [_tile(rng) for _ in range(4)], [_sprite(rng) for _ in range(5)]
    scale, pace, sky = int(rng.choice([2, 4])), float(rng.uniform(20, 70)), any_colour(rng, 90, 230)
    width, height = WIDTH_PX // scale, HEIGHT_PX // scale
    rows = height // 16 + 1
    ground = rng.integers(max(2, rows - 4), rows, 200)
    hills = [(any_colour(rng), rng.uniform(0.02, 0.08), rng.uniform(8, 25)) for _ in range(2)]

    def at(time_s: float) -> np.ndarray:
        picture = np.full((height, width, 3), sky, np.uint8)
        x, y = np.arange(width), np.arange(height)[:, None]
        for layer, (ink, bend, tall) in enumerate(hills):
            top = height * (0.45 + 0.15 * layer) + tall * np.sin(bend * (x + 0.3 * (layer + 1) * pace * time_s))
            picture[y > np.round(top)] = ink
        left = int(pace * time_s)
        for column in range(left // 16, (left + width) // 16 + 1):
            for row in range(ground[column], rows):
                _put(picture, tiles[(column * 7 + row) % 3 if row > ground[column] else 3], 16 * column - left, 16 * row)
        for number, (figure, inside) in enumerate(figures):
            hop = abs(np.sin(4 * time_s + number)) * 14
            _put(picture, figure, int((number * width / 5 + 9 * time_s * number) % width), int(height * 0.55 - hop), inside)
        shown = picture.repeat(scale, 0).repeat(scale, 1)
        write(shown, f"{int(30 * time_s):05d}", 20, 30, 0.8, (255, 255, 255))
        return shown

    return at


def dungeon(rng: np.random.Generator) -> Scene:
    """Rooms of tiles seen from above that scroll in steps, with figures that wander."""
    floor, wall, door = _tile(rng), _tile(rng), _tile(rng)
    plan = rng.choice(3, (60, 80), p=[0.72, 0.24, 0.04])
    world = np.vstack([np.hstack([(floor, wall, door)[kind] for kind in row]) for row in plan])
    figures, homes = [_sprite(rng) for _ in range(6)], rng.uniform(30, 150, (6, 2))
    speed = rng.uniform(-40, 40, 2)

    def at(time_s: float) -> np.ndarray:
        top, left = (300 + 2 * np.round(speed * time_s / 2)).astype(int)
        picture = world[top : top + HEIGHT_PX // 2, left : left + WIDTH_PX // 2].copy()
        for number, (figure, inside) in enumerate(figures):
            x = homes[number, 0] * 1.7 + 20 * np.sin(time_s + number)
            _put(picture, figure, int(x), int(homes[number, 1] + 15 * np.cos(1.3 * time_s + number)), inside)
        cv2.rectangle(picture, (0, 0), (WIDTH_PX // 2, 14), (10, 10, 14), -1)
        cv2.rectangle(picture, (4, 4), (4 + int(60 - 8 * time_s), 10), (220, 50, 50), -1)
        return picture.repeat(2, 0).repeat(2, 1)

    return at


def _put(picture: np.ndarray, tile: np.ndarray, x: int, y: int, inside: np.ndarray | None = None) -> None:
    """Lay a tile over a picture at (x, y), cut at the picture's edges."""
    top, left = max(0, y), max(0, x)
    bottom, right = min(picture.shape[0], y + tile.shape[0]), min(picture.shape[1], x + tile.shape[1])
    if bottom > top and right > left:
        cut = (slice(top - y, bottom - y), slice(left - x, right - x))
        shown = np.ones(tile.shape[:2], bool) if inside is None else inside
        picture[top:bottom, left:right][shown[cut]] = tile[cut][shown[cut]]


DRAWERS: dict[str, Drawer] = {"platform_game": platform_game, "dungeon": dungeon}
