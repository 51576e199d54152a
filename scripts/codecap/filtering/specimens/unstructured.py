"""Clips that code cannot draw in a page of reasonable size: photographs in motion, textured 3D, dense pixel motion."""

from __future__ import annotations

import cv2
import numpy as np

from codecap import clock
from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.photographs import COLOUR, TEXTURE, photograph

COLUMNS, ROWS = np.meshgrid(np.arange(WIDTH_PX, dtype=np.float32), np.arange(HEIGHT_PX, dtype=np.float32))


def sampled(picture: np.ndarray, x: np.ndarray, y: np.ndarray, wrap: bool = False, way: int = cv2.INTER_LINEAR) -> np.ndarray:
    """The picture at places (x, y); beyond its edges it is repeated (`wrap`) or mirrored."""
    border = cv2.BORDER_WRAP if wrap else cv2.BORDER_REFLECT
    return cv2.remap(picture, x.astype(np.float32), y.astype(np.float32), way, borderMode=border)


def photograph_pan(rng: np.random.Generator) -> Scene:
    wide = photograph(str(rng.choice(COLOUR)), WIDTH_PX * 2, HEIGHT_PX * 2)
    speed = rng.uniform(8, 60, 2)

    def at(time_s: float) -> np.ndarray:
        left, top = speed[0] * time_s, speed[1] * time_s
        return sampled(wide, COLUMNS + left, ROWS + top)

    return at


def photograph_zoom(rng: np.random.Generator) -> Scene:
    wide = photograph(str(rng.choice(COLOUR)), WIDTH_PX * 2, HEIGHT_PX * 2)
    rate = float(rng.uniform(0.03, 0.2)) * float(rng.choice([-1, 1]))

    def at(time_s: float) -> np.ndarray:
        scale = 1.5 * np.exp(-rate * (time_s - 2))
        x, y = WIDTH_PX + (COLUMNS - WIDTH_PX / 2) * scale, HEIGHT_PX + (ROWS - HEIGHT_PX / 2) * scale
        return sampled(wide, x, y)

    return at


def handheld_camera(rng: np.random.Generator) -> Scene:
    """A photograph that shakes, turns and carries sensor noise."""
    wide = photograph(str(rng.choice(COLOUR)), WIDTH_PX * 2, HEIGHT_PX * 2)
    phase = rng.uniform(0, 6, 3)

    def at(time_s: float) -> np.ndarray:
        turn = 3 * np.sin(2 * time_s + phase[0])
        move = cv2.getRotationMatrix2D((WIDTH_PX, HEIGHT_PX), turn, 0.9)
        move[:, 2] += [-WIDTH_PX / 2 + 14 * np.sin(5 * time_s + phase[1]), -HEIGHT_PX / 2 + 14 * np.sin(4 * time_s + phase[2])]
        picture = cv2.warpAffine(wide, move, (WIDTH_PX, HEIGHT_PX), flags=cv2.INTER_LINEAR)
        return np.clip(picture + rng.normal(0, 5, picture.shape), 0, 255).astype(np.uint8)

    return at


def wavering_photograph(rng: np.random.Generator) -> Scene:
    picture = photograph(str(rng.choice(COLOUR)), WIDTH_PX, HEIGHT_PX)
    size, pace = float(rng.uniform(4, 10)), float(rng.uniform(2, 5))

    def at(time_s: float) -> np.ndarray:
        x = COLUMNS + size * np.sin(ROWS / 25 + pace * time_s)
        y = ROWS + size * np.cos(COLUMNS / 30 + pace * time_s)
        return sampled(picture, x, y)

    return at


def _floor(texture: np.ndarray, sky: np.ndarray, horizon: int, pace: np.ndarray, way: int) -> Scene:
    """Flight over an endless plane: a point at row `v` under the horizon lies at depth 1 / v."""
    depth = 120.0 / np.maximum(ROWS - horizon, 0.5)
    across = (COLUMNS - WIDTH_PX / 2) / 120.0 * depth
    below = horizon < ROWS

    def at(time_s: float) -> np.ndarray:
        turn = 0.3 * np.sin(time_s)
        u = np.cos(turn) * across + np.sin(turn) * depth + pace[0] * time_s
        v = -np.sin(turn) * across + np.cos(turn) * depth + pace[1] * time_s
        size = texture.shape[0]
        seen = sampled(texture, (u * 60) % size, (v * 60) % size, wrap=True, way=way)
        return np.where(below[..., None], seen, sky)

    return at


def textured_flight(rng: np.random.Generator) -> Scene:
    name = str(rng.choice([*TEXTURE, *COLOUR]))
    ground = photograph(name, 512, 512)
    ramp = np.linspace(90, 230, HEIGHT_PX)[:, None, None]
    sky = np.broadcast_to(ramp * np.array([0.7, 0.85, 1.0]), (HEIGHT_PX, WIDTH_PX, 3)).astype(np.uint8)
    return _floor(ground, sky, int(rng.integers(60, 170)), rng.uniform(0.5, 2, 2), cv2.INTER_LINEAR)


def pixel_art_flight(rng: np.random.Generator) -> Scene:
    """A perspective floor of large pixels under a flat sky, as games of the 1990s have it."""
    palette = rng.integers(20, 236, (12, 3)).astype(np.uint8)
    ground = palette[rng.integers(0, 12, (64, 64))].repeat(8, 0).repeat(8, 1)
    holes = rng.random((64, 64)) < rng.uniform(0.1, 0.6)
    ground[holes.repeat(8, 0).repeat(8, 1)] = palette[1]  # of the sky's colour: the floor has holes
    sky = np.full((HEIGHT_PX, WIDTH_PX, 3), palette[1], np.uint8)
    return _floor(ground, sky, int(rng.integers(80, 230)), rng.uniform(0.5, 2, 2), cv2.INTER_NEAREST)


def textured_globe(rng: np.random.Generator) -> Scene:
    skin, ground = photograph(str(rng.choice(COLOUR)), 720, 360), tuple(int(value) for value in rng.integers(0, 255, 3))
    radius = float(rng.uniform(110, 170))
    x, y = (COLUMNS - WIDTH_PX / 2) / radius, (ROWS - HEIGHT_PX / 2) / radius
    inside = x**2 + y**2 < 1
    z = np.sqrt(np.maximum(1 - x**2 - y**2, 0))
    longitude, latitude = np.arctan2(x, z), np.arcsin(np.clip(y, -1, 1))

    def at(time_s: float) -> np.ndarray:
        u = (longitude / (2 * np.pi) * 720 + 90 * time_s) % 720
        v = (latitude / np.pi + 0.5) * 359
        seen = sampled(skin, u, v, wrap=True)
        return np.where(inside[..., None], (seen * (0.4 + 0.6 * z[..., None])).astype(np.uint8), np.array(ground, np.uint8))

    return at


def tunnel(rng: np.random.Generator) -> Scene:
    skin = photograph(str(rng.choice([*TEXTURE, *COLOUR])), 512, 512)
    x, y = COLUMNS - WIDTH_PX / 2, ROWS - HEIGHT_PX / 2
    radius = np.hypot(x, y) + 6
    angle = np.arctan2(y, x) / np.pi * 256 + 256
    pace = float(rng.uniform(60, 160))

    def at(time_s: float) -> np.ndarray:
        u, v = (angle + 20 * time_s) % 511, (30000 / radius + pace * time_s) % 511
        seen = sampled(skin, u, v, wrap=True)
        return (seen * np.minimum(1, radius / 120)[..., None]).astype(np.uint8)

    return at


def fractal_zoom(rng: np.random.Generator) -> Scene:
    """The Julia set of a point near the Mandelbrot set's edge, zoomed into."""
    seed = complex(rng.choice([-0.8 + 0.156j, -0.7269 + 0.1889j, 0.285 + 0.01j, -0.4 + 0.6j]))
    wheel = (127 + 127 * np.sin(np.arange(256)[:, None] / 8 + rng.uniform(0, 6, 3))).astype(np.uint8)

    def at(time_s: float) -> np.ndarray:
        scale = 3.0 * np.exp(-0.5 * time_s) / WIDTH_PX
        z = ((COLUMNS[::2, ::2] - WIDTH_PX / 2) + 1j * (ROWS[::2, ::2] - HEIGHT_PX / 2)) * scale
        count = np.zeros(z.shape, np.int32)
        for _ in range(60):
            inside = np.abs(z) < 4
            z = np.where(inside, z * z + seed, z)
            count += inside
        return wheel[(count * 4) % 256].repeat(2, 0).repeat(2, 1)

    return at


def plasma(rng: np.random.Generator) -> Scene:
    waves = rng.uniform([-0.09, -0.09, -4, 0], [0.09, 0.09, 4, 6], (9, 4))

    ring = np.hypot(COLUMNS - 300, ROWS - 150)

    def at(time_s: float) -> np.ndarray:
        channels = []
        for channel in range(3):
            total = np.sin(ring / 9 - 5 * time_s + channel)
            for across, down, pace, start in waves[channel::3]:
                total += np.sin(across * COLUMNS + down * ROWS + pace * time_s + start)
            channels.append(127 + 40 * total)
        return np.clip(np.stack(channels, axis=2), 0, 255).astype(np.uint8)

    return at


def cellular_automaton(rng: np.random.Generator) -> Scene:
    """Conway's game of life at two pixels a cell, 24 steps a second, with sparks that keep it dense."""
    boards = [rng.random((HEIGHT_PX // 2, WIDTH_PX // 2)) < 0.35]
    live, dead = rng.integers(120, 256, 3), rng.integers(0, 60, 3)

    def at(time_s: float) -> np.ndarray:
        step = round(time_s * clock.FPS)
        while len(boards) <= step:
            board = boards[-1].astype(np.uint8)
            near = sum(np.roll(board, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)
            boards.append((near == 3) | ((near == 2) & (board == 1)) | (rng.random(board.shape) < 0.02))
        return np.where(boards[step].repeat(2, 0).repeat(2, 1)[..., None], live, dead).astype(np.uint8)

    return at


def point_cloud(rng: np.random.Generator) -> Scene:
    points = rng.normal(0, 1, (14000, 3)) * [1, 0.6, 1]
    points[:, 1] += 0.4 * np.sin(4 * points[:, 0])
    colours = np.clip(128 + 70 * points + rng.normal(0, 25, points.shape), 0, 255).astype(np.uint8)

    def at(time_s: float) -> np.ndarray:
        turn = 0.6 * time_s
        x = np.cos(turn) * points[:, 0] + np.sin(turn) * points[:, 2]
        z = 4 - np.sin(turn) * points[:, 0] + np.cos(turn) * points[:, 2]
        u, v = (320 + 420 * x / z).astype(int), (180 + 420 * points[:, 1] / z).astype(int)
        seen = (u >= 0) & (u < WIDTH_PX - 1) & (v >= 0) & (v < HEIGHT_PX - 1)
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), 12, np.uint8)
        for right in (0, 1):
            picture[v[seen], u[seen] + right] = colours[seen]
        return picture

    return at


def parallax_photographs(rng: np.random.Generator) -> Scene:
    layers = [photograph(str(name), WIDTH_PX * 2, HEIGHT_PX) for name in rng.choice(COLOUR, 3, replace=False)]
    paces = np.sort(rng.uniform(10, 100, 3))

    def at(time_s: float) -> np.ndarray:
        parts = [layer[:, int(pace * time_s) : int(pace * time_s) + WIDTH_PX] for layer, pace in zip(layers, paces, strict=True)]
        return np.vstack([part[120 * row : 120 * row + 120] for row, part in enumerate(parts)])

    return at


DRAWERS: dict[str, Drawer] = {
    "photograph_pan": photograph_pan,
    "photograph_zoom": photograph_zoom,
    "handheld_camera": handheld_camera,
    "wavering_photograph": wavering_photograph,
    "textured_flight": textured_flight,
    "pixel_art_flight": pixel_art_flight,
    "textured_globe": textured_globe,
    "tunnel": tunnel,
    "fractal_zoom": fractal_zoom,
    "plasma": plasma,
    "cellular_automaton": cellular_automaton,
    "point_cloud": point_cloud,
    "parallax_photographs": parallax_photographs,
}
