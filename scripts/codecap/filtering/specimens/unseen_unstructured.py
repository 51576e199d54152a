"""Clips that code cannot draw, of families on which the shipped scorecard was not trained: it is tested on them."""

from __future__ import annotations

import cv2
import numpy as np

from codecap import clock
from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.photographs import COLOUR, photograph
from codecap.filtering.specimens.unstructured import COLUMNS, ROWS, sampled


def tilted_relief(rng: np.random.Generator) -> Scene:
    """The land of Matplotlib's sample data, lit from a side, on a plane that is tilted and turned in space."""
    from matplotlib import cbook, colormaps
    from matplotlib.colors import LightSource

    height = cbook.get_sample_data("jacksboro_fault_dem.npz")["elevation"]
    sun = LightSource(float(rng.uniform(200, 340)), 45)
    drawn = sun.shade(height, colormaps["gist_earth"], blend_mode="soft", vert_exag=0.05)
    land = cv2.resize((255 * drawn[..., :3]).astype(np.uint8), (512, 512))
    corners, pace = np.float32([(0, 0), (511, 0), (511, 511), (0, 511)]), float(rng.uniform(0.3, 0.8))

    def at(time_s: float) -> np.ndarray:
        turn = pace * time_s
        x, y = ((corners - 255.5) @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])).T / 255.5
        depth = 2.2 - y
        seen = np.column_stack([320 + 520 * x / depth, 60 + 420 / depth])
        way = cv2.getPerspectiveTransform(corners, seen.astype(np.float32))
        return cv2.warpPerspective(land, way, (WIDTH_PX, HEIGHT_PX), borderValue=(170, 200, 230))

    return at


def snowfall(rng: np.random.Generator) -> Scene:
    """A portrait of Matplotlib's sample data or a photograph behind dense flakes of three sizes, seen by a camera that sways."""
    from matplotlib import cbook, pyplot

    portrait = pyplot.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
    wide = cv2.resize(portrait[100:400], (WIDTH_PX + 40, HEIGHT_PX + 40)) if rng.random() < 0.5 else photograph("coffee", 680, 400)
    flakes, sizes = rng.uniform([0, 0], [WIDTH_PX, HEIGHT_PX], (900, 2)), rng.integers(1, 4, 900)

    def at(time_s: float) -> np.ndarray:
        left, top = int(20 + 15 * np.sin(1.3 * time_s)), int(20 + 10 * np.sin(1.9 * time_s))
        picture = wide[top : top + HEIGHT_PX, left : left + WIDTH_PX].copy()
        for (x, y), size in zip(flakes, sizes, strict=True):
            place = (int(x + 12 * np.sin(time_s + y)) % WIDTH_PX, int(y + 60 * size * time_s) % HEIGHT_PX)
            cv2.circle(picture, place, int(size), (240, 244, 250), -1, cv2.LINE_AA)
        return picture

    return at


def turning_column(rng: np.random.Generator) -> Scene:
    """An advertising column with photographs around it, large in the picture, that turns."""
    skin = np.hstack([photograph(str(name), 300, HEIGHT_PX) for name in rng.choice(COLOUR, 3, replace=False)])
    across = (COLUMNS - 320) / float(rng.uniform(180, 260))
    inside = np.abs(across) < 1
    angle = np.arcsin(np.clip(across, -1, 1))
    back, pace = rng.integers(0, 256, 3), float(rng.uniform(60, 160))

    def at(time_s: float) -> np.ndarray:
        seen = sampled(skin, (angle / (2 * np.pi) * 900 + pace * time_s) % 899, ROWS, wrap=True) * np.cos(angle)[..., None]
        return np.where(inside[..., None], seen, back).astype(np.uint8)

    return at


def rolling_fisheye(rng: np.random.Generator) -> Scene:
    """A photograph through a wide lens on a camera that rolls and moves forward."""
    wide, pace = photograph(str(rng.choice(COLOUR)), 1280, 720), float(rng.uniform(0.2, 0.5))
    x, y = (COLUMNS - 320) / 320, (ROWS - 180) / 320
    away = np.sqrt(x**2 + y**2) + 1e-6

    def at(time_s: float) -> np.ndarray:
        far, turn = np.tan(away * 0.9) / 0.9 / away * (380 - 30 * time_s), 0.3 * np.sin(pace * 4 * time_s)
        u = 640 + far * (np.cos(turn) * x - np.sin(turn) * y)
        return sampled(wide, u, 360 + far * (np.sin(turn) * x + np.cos(turn) * y))

    return at


def reaction_and_diffusion(rng: np.random.Generator) -> Scene:
    """Gray and Scott's two substances, at half the size, coloured by how much there is of one."""
    u, v = np.ones((HEIGHT_PX // 2, WIDTH_PX // 2), np.float32), np.zeros((HEIGHT_PX // 2, WIDTH_PX // 2), np.float32)
    for row, column in rng.integers([0, 0], [HEIGHT_PX // 2 - 8, WIDTH_PX // 2 - 8], (140, 2)):
        v[row : row + 8, column : column + 8] = 0.6
    feed, kill = [(0.037, 0.06), (0.03, 0.055), (0.026, 0.051)][int(rng.integers(3))]
    ends, steps = rng.integers(0, 256, (2, 3)), 0

    def spread(field: np.ndarray) -> np.ndarray:
        return cv2.blur(field, (3, 3), borderType=cv2.BORDER_REFLECT) - field

    def at(time_s: float) -> np.ndarray:
        nonlocal u, v, steps
        while steps < 600 + 25 * round(time_s * clock.FPS):
            turned = u * v * v
            u, v = u + 0.9 * spread(u) - turned + feed * (1 - u), v + 0.45 * spread(v) + turned - (feed + kill) * v
            steps += 1
        share = np.clip(3 * v, 0, 1)[..., None]
        return (ends[0] + (ends[1] - ends[0]) * share).astype(np.uint8).repeat(2, 0).repeat(2, 1)

    return at


def wall_of_films(rng: np.random.Generator) -> Scene:
    """Tiles on a wall, each a piece of a photograph that wanders and shakes in its own way."""
    shown = [photograph(str(rng.choice(COLOUR)), 320, 240) for _ in range(24)]
    phase, pace = rng.uniform(0, 6, (24, 2)), rng.uniform(1, 5, (24, 2))

    def at(time_s: float) -> np.ndarray:
        picture = np.zeros((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
        for tile, film in enumerate(shown):
            left, top = (90 + 80 * np.sin(phase[tile] + pace[tile] * time_s)).astype(int)
            row, column = divmod(tile, 6)
            cut = film[top * 120 // 180 : top * 120 // 180 + 86, left : left + 102]
            picture[90 * row + 2 : 90 * row + 88, 106 * column + 2 : 106 * column + 104] = cut
        return picture

    return at


def galaxy(rng: np.random.Generator) -> Scene:
    """Tens of thousands of stars in spirals on a disc that is seen from a side and turns, the inner ones faster."""
    away, arm = rng.exponential(0.35, 26000) + 0.02, rng.integers(0, 3, 26000)
    turn = arm * 2.1 + 3 * away + rng.normal(0, 0.3, 26000)
    inks = np.clip(rng.normal([200, 190, 230], 40, (26000, 3)), 60, 255).astype(np.uint8)
    tilt = float(rng.uniform(0.3, 0.7))

    def at(time_s: float) -> np.ndarray:
        now = turn + 0.5 * time_s / (away + 0.2)
        x, y = (320 + 300 * away * np.cos(now)).astype(int), (180 + 300 * tilt * away * np.sin(now)).astype(int)
        seen = (x >= 0) & (x < WIDTH_PX - 1) & (y >= 0) & (y < HEIGHT_PX)
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), 6, np.uint8)
        picture[y[seen], x[seen]] = picture[y[seen], x[seen] + 1] = inks[seen]
        return picture

    return at


def window_of_a_train(rng: np.random.Generator) -> Scene:
    """A landscape of a photograph that rushes by, the nearer part faster and smeared, with rows of posts."""
    strip = np.hstack([photograph(str(name), 640, HEIGHT_PX) for name in rng.permutation(COLOUR)[:3]])
    pace = float(rng.uniform(250, 500))
    speed = pace * (0.15 + 0.85 * (ROWS / HEIGHT_PX) ** 2)

    def at(time_s: float) -> np.ndarray:
        seen = sampled(strip, (COLUMNS + speed * time_s) % 1919, ROWS, wrap=True)
        seen[200:] = cv2.blur(seen[200:], (15, 1))
        for post in range(4):
            x = int((160 * post - 2 * pace * time_s) % 680)
            cv2.rectangle(seen, (x, 0), (x + 10, HEIGHT_PX), (40, 36, 34), -1)
        return seen

    return at


def whirlpool(rng: np.random.Generator) -> Scene:
    picture = photograph(str(rng.choice(COLOUR)), WIDTH_PX, HEIGHT_PX)
    across, down, size = COLUMNS - 320, ROWS - 180, float(rng.uniform(120, 220))
    away = np.hypot(across, down)

    def at(time_s: float) -> np.ndarray:
        turn = 1.5 * time_s * np.exp(-away / size)
        return sampled(
            picture, 320 + across * np.cos(turn) - down * np.sin(turn), 180 + across * np.sin(turn) + down * np.cos(turn)
        )

    return at


def mountains_of_wire_and_glass(rng: np.random.Generator) -> Scene:
    """A surface of waves drawn as shaded quadrangles with dark edges, around which a camera flies."""
    phase = rng.uniform(0, 6, 3)
    grid = np.linspace(-4, 4, 44)
    x, z = np.meshgrid(grid, grid)

    def at(time_s: float) -> np.ndarray:
        height = 0.7 * np.sin(1.4 * x + phase[0] + time_s) * np.cos(1.2 * z + phase[1]) + 0.2 * np.sin(5 * x + 3 * z + phase[2])
        turn = 0.5 * time_s
        across, deep = np.cos(turn) * x + np.sin(turn) * z, 7 - np.sin(turn) * x + np.cos(turn) * z
        u, v = 320 + 480 * across / deep, 130 + 480 * (1.6 - height) / deep
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), 20, np.uint8)
        order = np.argsort(-deep[:-1, :-1].ravel())
        for row, column in zip(*np.unravel_index(order, (43, 43)), strict=True):
            place = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            corners = np.array([(u[at], v[at]) for at in place]).astype(np.int32)
            shade = float(np.clip(0.5 + 0.5 * height[row, column], 0, 1))
            cv2.fillConvexPoly(picture, corners, (int(40 + 180 * shade), int(80 + 60 * shade), int(220 - 160 * shade)))
            cv2.polylines(picture, [corners], True, (15, 15, 25), 1, cv2.LINE_AA)
        return picture

    return at


DRAWERS: dict[str, Drawer] = {
    "tilted_relief": tilted_relief,
    "snowfall": snowfall,
    "turning_column": turning_column,
    "rolling_fisheye": rolling_fisheye,
    "reaction_and_diffusion": reaction_and_diffusion,
    "wall_of_films": wall_of_films,
    "galaxy": galaxy,
    "window_of_a_train": window_of_a_train,
    "whirlpool": whirlpool,
    "mountains_of_wire_and_glass": mountains_of_wire_and_glass,
}
