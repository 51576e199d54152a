"""Drawn videos for tests of collecting: flat figures that move, each seed's in its own way, and what copies of them look like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from codecap.clock import FPS

WIDTH_PX, HEIGHT_PX = 192, 108
Scene = Callable[[float], np.ndarray]  # seconds -> uint8 RGB (HEIGHT_PX, WIDTH_PX, 3)


def figures(seed: int, ground: tuple[int, int, int] | None = None, count: int = 8) -> Scene:
    """Rectangles of plain colours that swing."""
    chance = np.random.default_rng(seed)
    under = chance.integers(0, 256, 3) if ground is None else np.array(ground)
    ranges = ((0, 1), (0.03, 0.15), (0.05, 0.35), (0.2, 2.4), (0, 6))  # place, half size, swing, pace, phase
    drawn = [(chance.integers(0, 256, 3).tolist(), *(chance.uniform(*ends, 2) for ends in ranges)) for _ in range(count)]

    def at(time_s: float) -> np.ndarray:
        picture = np.empty((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
        picture[:] = under
        for colour, place, half, swing, pace, phase in drawn:
            x, y = place + swing * np.sin(pace * time_s + phase)
            corners = [(int((x + way * half[0]) * WIDTH_PX), int((y + way * half[1]) * HEIGHT_PX)) for way in (-1, 1)]
            cv2.rectangle(picture, *corners, colour, -1)
        return picture

    return at


def still(seed: int) -> Scene:
    """Figures that do not move."""
    picture = figures(seed)(0.0)
    return lambda _: picture


def filmed(seed: int) -> Scene:
    """Soft texture all over the picture that a camera comes nearer to, as in filmed material, with grain."""
    chance = np.random.default_rng(seed)
    size = (2 * HEIGHT_PX, 2 * WIDTH_PX)
    layers = [cv2.resize(chance.normal(0, 45, (*(side // step for side in size), 3)), size[::-1]) for step in (3, 9, 40)]
    texture = 128 + np.sum(layers, axis=0)

    def at(time_s: float) -> np.ndarray:
        zoom = 1 + 0.08 * time_s
        centre = (WIDTH_PX * (1 + 0.1 * np.sin(time_s)), HEIGHT_PX * (1 + 0.1 * np.cos(time_s)))
        seen = cv2.getRectSubPix(texture.astype(np.float32), (round(WIDTH_PX * 1.5 / zoom), round(HEIGHT_PX * 1.5 / zoom)), centre)
        grain = np.random.default_rng([seed, round(time_s * 1000)]).normal(0, 4, (HEIGHT_PX, WIDTH_PX, 1))
        return np.clip(cv2.resize(seen, (WIDTH_PX, HEIGHT_PX)) + grain, 0, 255).astype(np.uint8)

    return at


def pictures(scene: Scene, seconds: float, start_s: float = 0.0, rate: float = FPS) -> Iterator[np.ndarray]:
    """The frames of `seconds` from `start_s` on, 24 a second, of which only `rate` a second are new."""
    for frame in range(round(seconds * FPS)):
        yield scene(start_s + int(frame * rate / FPS) / rate)


def letterboxed(picture: np.ndarray, share: float = 0.2) -> np.ndarray:
    """With black bars above and below that make up this share of the height."""
    bar = round(len(picture) * share / (1 - share) / 2)
    return cv2.copyMakeBorder(picture, bar, bar, 0, 0, cv2.BORDER_CONSTANT, value=(16, 16, 16))


def pillarboxed(picture: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(letterboxed(np.ascontiguousarray(picture.swapaxes(0, 1))).swapaxes(0, 1))


def resized(picture: np.ndarray, width_px: int, height_px: int) -> np.ndarray:
    return cv2.resize(picture, (width_px, height_px), interpolation=cv2.INTER_AREA)


def squeezed(picture: np.ndarray) -> np.ndarray:
    """As a codec leaves it that has far too few bits."""
    return cv2.imdecode(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 20])[1], cv2.IMREAD_COLOR)


def with_logo(picture: np.ndarray) -> np.ndarray:
    marked = picture.copy()
    marked[4:14, -32:-4] = 200
    return marked


def faded(picture: np.ndarray) -> np.ndarray:
    """With less contrast, as after a wrong range of levels."""
    return cv2.convertScaleAbs(picture, alpha=0.92, beta=8)


def write(path: Path, frames: Iterable[np.ndarray], crf: int = 18, rate: int = FPS) -> Path:
    """An H.264 file, which is no canonical clip: it says nothing of its colours."""
    with av.open(str(path), "w") as container:
        stream = None
        for number, picture in enumerate(frames):
            if stream is None:
                stream = container.add_stream("libx264", rate=rate, options={"crf": str(crf), "preset": "ultrafast"})
                stream.height, stream.width = picture.shape[0] // 2 * 2, picture.shape[1] // 2 * 2
                stream.pix_fmt = "yuv420p"
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[: stream.height, : stream.width]), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
