"""How true a render is: the frames that an engine captures against plain screenshots, and a video against the frames captured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter

from codecap import registry
from codecap.bench.playwright_loop import screenshots
from codecap.render import RenderSettings
from codecap.score.kss import ssim
from codecap.video import to_rgb

UNSPECIFIED = 2  # of H.264's matrix coefficients
AFRESH = ("--disable-partial-raster",)  # without it a screenshot shows traces of the frames before it: some pixels at soft edges
UNTAGGED = (5, 1)  # BT.601 and BT.709: what a video may mean that does not name its colours


def decode_png(png: bytes) -> np.ndarray:
    """uint8 RGB `(height, width, 3)`."""
    rgb = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR_RGB)
    if rgb is None:
        raise ValueError("not a PNG")
    return rgb


def reference_frames(page: Path, frames: int, width_px: int, height_px: int, browser: Path) -> list[bytes]:
    """Playwright's screenshots (PNG) of each frame, drawn so that they do not depend on the frames before."""
    return list(screenshots(page, frames, width_px, height_px, browser, AFRESH))


def exact_screenshots(page: Path, reference: Sequence[bytes], browser: Path) -> int:
    """How many of the plain loop's screenshots have every pixel as in the reference (PNGs)."""
    height_px, width_px = decode_png(reference[0]).shape[:2]
    taken = screenshots(page, len(reference), width_px, height_px, browser)
    return sum(np.array_equal(decode_png(one), decode_png(other)) for one, other in zip(taken, reference, strict=True))


def exact_frames(page: Path, reference: Sequence[bytes], settings: Mapping[str, Any]) -> int:
    """How many frames the configured engine captures with every pixel as in the reference (PNGs)."""
    height_px, width_px = decode_png(reference[0]).shape[:2]
    chosen = RenderSettings.of(settings)
    with registry.load("render.engines", chosen.engine).load(chosen) as engine:
        stage = engine.open(page, width_px, height_px)
        try:
            stage.load()
            return sum(np.array_equal(stage.frame(index).rgb(), decode_png(png)) for index, png in enumerate(reference))
        finally:
            stage.close()


def video_ssim(mp4: Path, reference: Sequence[bytes], samples: int = 12, most_late: int = 0) -> float:
    """Mean SSIM (`codecap.score.kss`) of a video to the captured frames (PNGs), on frames spread over its length.

    Args:
        most_late: so many frames may the video be early or late as a whole; the shift that suits it best counts. For programs
            that keep the time themselves.

    Each video is decoded by the colours that it names. Where it names none, BT.601 and BT.709 are both tried and the better counts.

    Raises:
        ValueError: the video has not as many frames as were captured, or they are of another size.
    """
    count = len(reference)
    wanted = {round(position) for position in np.linspace(0, count - 1, min(samples, count))}
    with av.open(str(mp4)) as container:
        shown = 0
        decoded = {}
        for index, frame in enumerate(container.decode(video=0)):
            shown += 1
            if index in wanted:
                decoded[index] = frame
    if shown != count:
        raise ValueError(f"{mp4.name}: {shown} frames, {count} were asked for")
    tagged = decoded[0].colorspace
    spaces = UNTAGGED if tagged == UNSPECIFIED else (tagged,)
    reformatter = VideoReformatter()

    def alike(index: int, shift: int, space: int) -> float:
        decoded[index].colorspace = space
        return ssim(to_rgb(decoded[index], reformatter), decode_png(reference[index + shift]))

    middle = sorted(wanted)[len(wanted) // 2]
    shifts = [shift for shift in range(-most_late, most_late + 1) if 0 <= middle + shift < count]
    shift, space = max(((shift, space) for shift in shifts for space in spaces), key=lambda choice: alike(middle, *choice))
    values = [alike(index, shift, space) for index in sorted(wanted) if 0 <= index + shift < count]
    return sum(values) / len(values)
