"""Clips that code cannot draw in a page of reasonable size: bodies of three dimensions on plain ground, waves, swarms."""

from __future__ import annotations

import cv2
import numpy as np

from codecap import clock
from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.photographs import COLOUR, TEXTURE, photograph
from codecap.filtering.specimens.unstructured import COLUMNS, ROWS, sampled


def rolling_balls(rng: np.random.Generator) -> Scene:
    """Some balls with photographs on them that roll before a plain ground."""
    skins = [photograph(str(rng.choice([*COLOUR, *TEXTURE])), 512, 256) for _ in range(4)]
    homes, sizes = rng.uniform([80, 80], [560, 280], (4, 2)), rng.uniform(45, 85, 4)
    speeds, back = rng.uniform(-60, 60, 4), rng.integers(0, 256, 3).astype(np.uint8)

    def at(time_s: float) -> np.ndarray:
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), back, np.uint8)
        for skin, home, size, speed in zip(skins, homes, sizes, speeds, strict=True):
            x, y = (COLUMNS - home[0] - speed * time_s) / size, (ROWS - home[1]) / size
            inside = x**2 + y**2 < 1
            z = np.sqrt(np.maximum(1 - x**2 - y**2, 0))
            u = (np.arctan2(x, z) / (2 * np.pi) * 512 - speed * time_s / size * 82) % 512
            seen = sampled(skin, u, (np.arcsin(np.clip(y, -1, 1)) / np.pi + 0.5) * 255, wrap=True)
            picture[inside] = (seen * (0.5 + 0.5 * z[..., None]))[inside].astype(np.uint8)
        return picture

    return at


def landscape_of_triangles(rng: np.random.Generator) -> Scene:
    """A land of flat triangles, lit by their slope, that is flown over in perspective."""
    height = cv2.GaussianBlur(rng.normal(0, 1, (60, 40)).astype(np.float32), (0, 0), 1.5) * 5
    paint, light = np.array(rng.integers(60, 230, 3), float), rng.normal(0, 1, 3)
    light, back, pace = light / np.linalg.norm(light), rng.integers(120, 250, 3), float(rng.uniform(2, 6))

    def at(time_s: float) -> np.ndarray:
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), back, np.uint8)
        gone = pace * time_s
        for row in range(int(gone) + 26, int(gone), -1):
            for column in range(39):
                for corners in (((0, 0), (1, 0), (0, 1)), ((1, 0), (1, 1), (0, 1))):
                    world = np.array(
                        [(column + a - 20, height[(row + b) % 60, column + a] - 2.5, row + b - gone + 0.2) for a, b in corners]
                    )
                    normal = np.cross(world[1] - world[0], world[2] - world[0])
                    shade = 0.35 + 0.65 * abs(normal @ light) / (np.linalg.norm(normal) + 1e-9)
                    seen = np.column_stack([320 + 330 * world[:, 0] / world[:, 2], 150 - 330 * world[:, 1] / world[:, 2]])
                    colour = tuple(int(value) for value in np.clip(paint * shade * (1 + 0.2 * world[0, 1]), 0, 255))
                    cv2.fillConvexPoly(picture, np.clip(seen, -2000, 2000).astype(np.int32), colour)
        return picture

    return at


def water(rng: np.random.Generator) -> Scene:
    """Waves in perspective with a glitter of light, as sums of sines."""
    horizon = int(rng.integers(60, 160))
    depth = 200 / np.maximum(ROWS - horizon, 1)
    across, waves = (COLUMNS - 320) / 200 * depth, rng.uniform([-6, 1, 1, 0], [6, 9, 4, 6], (9, 4))
    tint = rng.uniform(0.3, 1, 3)

    def at(time_s: float) -> np.ndarray:
        slope = sum(np.sin(a * across + b * depth + pace * time_s + start) for a, b, pace, start in waves) / 3
        level = 90 + 50 * slope + 90 * np.maximum(slope - 0.6, 0) ** 2
        sea = np.clip(level[..., None] * tint, 0, 255)
        sky = np.broadcast_to((120 + 0.6 * ROWS)[..., None] * np.array([0.9, 1, 1.1]), sea.shape)
        return np.where((horizon < ROWS)[..., None], sea, np.clip(sky, 0, 255)).astype(np.uint8)

    return at


def swarm(rng: np.random.Generator) -> Scene:
    """Thousands of small particles, each driven by a turning field."""
    count = int(rng.integers(4000, 9000))
    places, inks = rng.uniform([0, 0], [WIDTH_PX, HEIGHT_PX], (count, 2)), rng.integers(90, 256, (count, 3)).astype(np.uint8)
    seen, waves = [places], rng.uniform(0.01, 0.03, 4)

    def at(time_s: float) -> np.ndarray:
        while len(seen) <= round(time_s * clock.FPS):
            x, y = seen[-1].T
            now = len(seen) / clock.FPS
            across = np.sin(waves[0] * y + now) + np.cos(waves[1] * x)
            down = np.cos(waves[2] * x - now) - np.sin(waves[3] * y)
            seen.append((seen[-1] + 2.5 * np.column_stack([across, down])) % [WIDTH_PX, HEIGHT_PX])
        x, y = seen[round(time_s * clock.FPS)].astype(int).T
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), 10, np.uint8)
        for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
            picture[(y + down) % HEIGHT_PX, (x + right) % WIDTH_PX] = inks
        return picture

    return at


def leaves(rng: np.random.Generator) -> Scene:
    """Small pieces of photographs that fall, turn and hide one another, in front of a photograph out of focus."""
    wall = cv2.GaussianBlur(photograph(str(rng.choice(COLOUR)), WIDTH_PX, HEIGHT_PX), (0, 0), 6)
    pieces = [photograph(str(rng.choice([*COLOUR, *TEXTURE])), 48, 48) for _ in range(60)]
    starts = rng.uniform([0, -400], [WIDTH_PX, HEIGHT_PX], (60, 2))
    paces, turns = rng.uniform(40, 160, 60), rng.uniform(-200, 200, 60)
    shape = np.zeros((48, 48), np.uint8)
    cv2.ellipse(shape, (24, 24), (22, 12), 0, 0, 360, 255, -1)

    def at(time_s: float) -> np.ndarray:
        picture = wall.copy()
        for piece, (x, y), pace, turn in zip(pieces, starts, paces, turns, strict=True):
            move = cv2.getRotationMatrix2D((24, 24), float(turn * time_s), 1.0)
            move[:, 2] += [x - 24 + 20 * np.sin(2 * time_s + x), (y + pace * time_s + 400) % 760 - 400]
            inside = cv2.warpAffine(shape, move, (WIDTH_PX, HEIGHT_PX)) > 127
            picture[inside] = cv2.warpAffine(piece, move, (WIDTH_PX, HEIGHT_PX))[inside]
        return picture

    return at


DRAWERS: dict[str, Drawer] = {
    "rolling_balls": rolling_balls,
    "landscape_of_triangles": landscape_of_triangles,
    "water": water,
    "swarm": swarm,
    "leaves": leaves,
}
