"""Clips that code cannot draw: more scenes in space, photographs, simulations, and what FFmpeg's own sources make."""

from __future__ import annotations

import cv2
import numpy as np

from codecap import clock
from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Drawer, Scene
from codecap.filtering.specimens.photographs import DIM, photograph
from codecap.filtering.specimens.plots import drawn_by_matplotlib, made_by_ffmpeg
from codecap.filtering.specimens.unstructured import COLUMNS, ROWS, sampled


def zoom_into_the_mandelbrot_set(rng: np.random.Generator) -> Scene:
    return made_by_ffmpeg("mandelbrot", start_scale=float(rng.uniform(0.5, 3)), end_pts=int(rng.integers(60, 200)))


def game_of_life(rng: np.random.Generator) -> Scene:
    return made_by_ffmpeg("life", seed=int(rng.integers(1, 10**6)), ratio=0.3, mold=10, death_color="#C83232", life_color="#00FF00")


def one_dimensional_automaton(rng: np.random.Generator) -> Scene:
    return made_by_ffmpeg("cellauto", rule=int(rng.choice([30, 45, 110, 73])), random_seed=int(rng.integers(1, 10**6)), scroll=1)


def surface_plot(rng: np.random.Generator) -> Scene:
    """A wavy, lit surface that is turned: a chart, but of three dimensions."""
    x, y = np.meshgrid(np.linspace(-3, 3, 50), np.linspace(-3, 3, 50))
    phase, palette = rng.uniform(0, 6, 2), str(rng.choice(["terrain", "viridis", "coolwarm"]))

    def draw(figure, time_s: float) -> None:
        axes = figure.add_axes((0, 0, 1, 1), projection="3d")
        height = np.sin(2 * x + phase[0]) * np.cos(2 * y + phase[1] + time_s)
        axes.plot_surface(x, y, height, cmap=palette, rcount=50, ccount=50)
        axes.view_init(30, 50 * time_s)

    return drawn_by_matplotlib(draw)


def fire(rng: np.random.Generator) -> Scene:
    """Heat that rises from the bottom row and cools by chance, at half the size."""
    heat = np.zeros((HEIGHT_PX // 2, WIDTH_PX // 2), np.float32)
    step = 0

    def at(time_s: float) -> np.ndarray:
        nonlocal heat, step
        while step <= round(time_s * clock.FPS) + 120:
            heat[-1] = 255 * (rng.random(heat.shape[1]) < 0.6)
            risen = np.roll(heat, -2, axis=0)
            mixed = (risen + np.roll(risen, 1, 1) + np.roll(risen, -1, 1) + heat) / 4
            heat = np.maximum(mixed - rng.uniform(0, 4, heat.shape), 0).astype(np.float32)
            heat[-1] = 255
            step += 1
        level = heat.repeat(2, 0).repeat(2, 1)
        return np.clip(np.stack([level * 3, level * 2 - 80, level * 3 - 500], axis=2), 0, 255).astype(np.uint8)

    return at


def rippled_photograph(rng: np.random.Generator) -> Scene:
    picture = photograph(str(rng.choice(DIM)), WIDTH_PX, HEIGHT_PX)
    centre, pace = rng.uniform([150, 80], [490, 280]), float(rng.uniform(4, 9))

    def at(time_s: float) -> np.ndarray:
        across, down = COLUMNS - centre[0], ROWS - centre[1]
        away = np.hypot(across, down) + 1
        push = 7 * np.sin(away / 12 - pace * time_s) * np.exp(-away / 300)
        return sampled(picture, COLUMNS + push * across / away, ROWS + push * down / away)

    return at


def walk_through_corridors(rng: np.random.Generator) -> Scene:
    """What a game of 1992 shows: textured walls by casting a ray for each column, from a place that moves and turns."""
    world = np.ones((24, 24), bool)
    world[1:-1, 1:-1] = rng.random((22, 22)) < 0.25
    world[10:14, 2:22] = False
    skins = [photograph(name, 128, 128) for name in ("cell", "coins", "retina")]
    kind = rng.integers(0, 3, world.shape)
    floor, ceiling = rng.integers(30, 120, 3), rng.integers(60, 200, 3)

    def at(time_s: float) -> np.ndarray:
        place, turn = np.array([4 + 2.0 * time_s, 12.0]), 0.5 * np.sin(0.9 * time_s)
        rays = turn + np.arctan(np.linspace(-0.7, 0.7, WIDTH_PX))
        way = np.stack([np.cos(rays), np.sin(rays)])
        far = np.full(WIDTH_PX, 20.0)
        for distance in np.arange(0.05, 20, 0.02):
            x, y = place[:, None] + distance * way
            hit = world[np.clip(y, 0, 23).astype(int), np.clip(x, 0, 23).astype(int)] & (far == 20.0)
            far[hit] = distance
        x, y = place[:, None] + far * way
        along = np.where(np.abs(x - np.round(x)) < np.abs(y - np.round(y)), y, x) % 1
        tall = HEIGHT_PX * 0.8 / (far * np.cos(rays - turn))
        v = (ROWS - HEIGHT_PX / 2) / tall + 0.5
        picture = np.where((ROWS < HEIGHT_PX / 2)[..., None], ceiling, floor).astype(np.uint8)
        which = kind[np.clip(y, 0, 23).astype(int), np.clip(x, 0, 23).astype(int)]
        for number, skin in enumerate(skins):
            wall = (v >= 0) & (v < 1) & (which == number)
            seen = sampled(skin, np.broadcast_to(along * 127, v.shape), np.clip(v, 0, 1) * 127)
            picture[wall] = seen[wall]
        return picture

    return at


def photographs_that_fade(rng: np.random.Generator) -> Scene:
    """A show of photographs: each is slowly zoomed, and fades into the next."""
    shown = [photograph(str(name), WIDTH_PX * 2, HEIGHT_PX * 2) for name in rng.permutation(DIM)[:4]]

    def zoomed(number: int, time_s: float) -> np.ndarray:
        scale = 1.6 - 0.12 * time_s
        x, y = WIDTH_PX + (COLUMNS - WIDTH_PX / 2) * scale, HEIGHT_PX + (ROWS - HEIGHT_PX / 2) * scale
        return sampled(shown[number % 4], x, y)

    def at(time_s: float) -> np.ndarray:
        number, gone = int(time_s / 1.5), time_s % 1.5
        share = float(np.clip(gone - 0.5, 0, 1))
        return cv2.addWeighted(zoomed(number, gone + 1.5), 1 - share, zoomed(number + 1, gone), share, 0)

    return at


def _clouds(rng: np.random.Generator, side: int = 512) -> np.ndarray:
    """Noise of all sizes in [0, 1], `(side, side)`, that joins at its edges."""
    total, size = np.zeros((side, side), np.float32), 4
    while size <= side // 2:
        coarse = np.pad(rng.random((size, size)).astype(np.float32), 1, mode="wrap")
        fine = cv2.resize(coarse, None, fx=side / size, fy=side / size, interpolation=cv2.INTER_CUBIC)
        edge = side // size
        total += fine[edge : edge + side, edge : edge + side] / size
        size *= 2
    return (total - total.min()) / np.ptp(total)


def flight_over_land(rng: np.random.Generator) -> Scene:
    """Land of heights, coloured by height and slope, seen in perspective column by column from a plane."""
    height = _clouds(rng)
    slope = np.gradient(height)[0] * 40
    paint = np.stack([60 + 150 * height, 90 + 90 * height, 60 + 60 * (1 - height)], 2) * (0.8 + slope[..., None])
    paint = np.clip(paint + rng.normal(0, 9, (512, 512, 1)), 0, 255).astype(np.uint8)
    pace = float(rng.uniform(20, 50))

    def at(time_s: float) -> np.ndarray:
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), (150, 190, 230), np.uint8)
        lowest = np.full(WIDTH_PX, HEIGHT_PX)
        for depth in np.geomspace(4, 260, 220):
            x = (256 + (np.arange(WIDTH_PX) - 320) / 320 * depth).astype(int) % 512
            y = int(pace * time_s + depth) % 512
            top = np.clip(140 + (0.9 - height[y, x]) * 90 * 60 / depth, 0, HEIGHT_PX).astype(int)
            shown = (top <= ROWS) & (lowest > ROWS)
            picture[shown] = np.broadcast_to(paint[y, x], picture.shape)[shown]
            lowest = np.minimum(lowest, top)
        return picture

    return at


def smoke(rng: np.random.Generator) -> Scene:
    """Clouds of two sizes that drift against one another and fold."""
    near, far = _clouds(rng), _clouds(rng)

    def at(time_s: float) -> np.ndarray:
        fold = sampled(far, (COLUMNS + 30 * time_s) % 512, (ROWS - 50 * time_s) % 512, wrap=True)
        level = sampled(near, (COLUMNS + 120 * fold) % 512, (ROWS + 160 * fold - 60 * time_s) % 512, wrap=True)
        level = np.clip(1.6 * level * fold * 2 - 0.2, 0, 1)[..., None]
        return (np.array([20, 24, 40]) + level * np.array([210, 200, 190])).astype(np.uint8)

    return at


def textured_cube(rng: np.random.Generator) -> Scene:
    """A cube with photographs on its sides that turns before a plain ground."""
    sides = [photograph(str(name), 256, 256) for name in rng.choice(DIM, 3)]
    back, paces = rng.integers(0, 255, 3).astype(np.uint8), rng.uniform(0.5, 1.4, 2)
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)

    def at(time_s: float) -> np.ndarray:
        picture = np.full((HEIGHT_PX, WIDTH_PX, 3), back, np.uint8)
        (s, c), (u, v) = [(np.sin(pace * time_s), np.cos(pace * time_s)) for pace in paces]
        turned = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ np.array([[1, 0, 0], [0, v, -u], [0, u, v]])
        for number in range(6):
            axis, sign = number % 3, 1 if number < 3 else -1
            face = np.insert(corners, axis, sign, axis=1) @ turned.T
            normal = turned[:, axis] * sign
            if normal @ (face.mean(axis=0) + np.array([0, 0, 4.5])) >= 0:
                continue  # it looks away
            seen = face[:, :2] / (face[:, 2:] + 4.5) * 430 + [320, 180]
            way = cv2.getPerspectiveTransform(np.float32([(0, 0), (256, 0), (256, 256), (0, 256)]), seen.astype(np.float32))
            drawn = cv2.warpPerspective(sides[axis], way, (WIDTH_PX, HEIGHT_PX))
            inside = cv2.warpPerspective(np.full((256, 256), 255, np.uint8), way, (WIDTH_PX, HEIGHT_PX)) > 127
            picture[inside] = drawn[inside]
        return picture

    return at


def kaleidoscope(rng: np.random.Generator) -> Scene:
    skin, parts = photograph(str(rng.choice(DIM)), 512, 512), int(rng.integers(5, 9))
    across, down = COLUMNS - WIDTH_PX / 2, ROWS - HEIGHT_PX / 2
    radius, angle = np.hypot(across, down), np.arctan2(down, across)
    folded = np.abs(angle % (2 * np.pi / parts) - np.pi / parts)

    def at(time_s: float) -> np.ndarray:
        turn = folded + 0.7 * time_s
        return sampled(skin, (256 + radius * np.cos(turn)) % 511, (256 + radius * np.sin(turn)) % 511, wrap=True)

    return at


def depth_of_a_street(rng: np.random.Generator) -> Scene:
    """A photograph with the depth that scikit-image ships for it: each pixel moves by its own depth while the camera sways."""
    from skimage import data

    left, _, disparity = data.stereo_motorcycle()
    size = (WIDTH_PX, HEIGHT_PX)
    picture = cv2.resize(left, size, interpolation=cv2.INTER_AREA)
    deep = cv2.resize(np.nan_to_num(disparity, posinf=0.0).astype(np.float32), size, interpolation=cv2.INTER_AREA)
    deep, pace = deep / max(float(deep.max()), 1e-6), float(rng.uniform(1.5, 3.0))

    def at(time_s: float) -> np.ndarray:
        return sampled(picture, COLUMNS + 30 * deep * np.sin(pace * time_s), ROWS + 6 * deep * np.cos(pace * time_s))

    return at


def detuned_television(rng: np.random.Generator) -> Scene:
    def at(time_s: float) -> np.ndarray:
        level = np.random.default_rng(round(1000 * time_s)).integers(0, 256, (HEIGHT_PX // 2, WIDTH_PX // 2, 1), np.uint8)
        bar = int(200 * time_s) % (HEIGHT_PX // 2)
        level[bar : bar + 20] //= 2
        return np.ascontiguousarray(level.repeat(2, 0).repeat(2, 1).repeat(3, 2))

    rng.random()
    return at


DRAWERS: dict[str, Drawer] = {
    "zoom_into_the_mandelbrot_set": zoom_into_the_mandelbrot_set,
    "game_of_life": game_of_life,
    "one_dimensional_automaton": one_dimensional_automaton,
    "surface_plot": surface_plot,
    "fire": fire,
    "rippled_photograph": rippled_photograph,
    "walk_through_corridors": walk_through_corridors,
    "photographs_that_fade": photographs_that_fade,
    "flight_over_land": flight_over_land,
    "smoke": smoke,
    "textured_cube": textured_cube,
    "kaleidoscope": kaleidoscope,
    "depth_of_a_street": depth_of_a_street,
    "detuned_television": detuned_television,
}
