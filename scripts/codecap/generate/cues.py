"""Visual cues for a coding model: what simple detectors measure in single frames, said in words. Off by default.

Source: VCoder (arXiv 2511.02778), "acting with visual tools": boxes, shapes and text of the picture as context of the code.
**Ours**: boxes and colours come from the embedded detector of regions (`codecap.annotate.regions`); text comes from an OCR
package that carries its weights, which is yours to install.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from codecap import video
from codecap.clock import midpoints
from codecap.records import Clip, Row
from codecap.registry import Unavailable
from codecap.showing.showing import seconds

OCR = "pip install onnxruntime pyclipper shapely && pip install --no-deps rapidocr-onnxruntime==1.4.4"  # or a second OpenCV comes
LEAST_SURE = 0.5  # of a line of text: what is less sure is left out
LONGEST_TEXT = 200  # characters of a line


class Cues(Row):
    """Which cues a model gets.

    Attributes:
        objects: boxes and colours of the regions of a picture.
        text: lines of text with their boxes.
        frames: in so many frames, spread over the clip.
        most: so many of each kind in a frame, the largest first.
    """

    objects: bool = False
    text: bool = False
    frames: int = Field(default=4, ge=1)
    most: int = Field(default=40, ge=1)

    @property
    def wanted(self) -> bool:
        return self.objects or self.text


def check(cues: Cues) -> None:
    """Raises Unavailable where text is asked for and the package is not installed."""
    if cues.text:
        _reader()


def measured(clip: Clip, cues: Cues) -> str:
    """The cues of a clip in words; times and coordinates are the clip's own."""
    frames = dict.fromkeys(midpoints(min(cues.frames, clip.frames), clip.frames))
    lines: list[str] = []
    for index, frame in video.decode(clip.mp4, stop=max(frames) + 1):
        if index in frames:
            rgb = video.to_rgb(frame)
            found = [*(_objects(rgb, cues.most) if cues.objects else ()), *(_texts(rgb, cues.most) if cues.text else ())]
            lines += [f"At {seconds(index)} s:", *(found or ["nothing was found"]), ""]
    return "\n".join(lines).strip()


def _objects(rgb: np.ndarray, most: int) -> Iterator[str]:
    from codecap.annotate.regions import regions_of

    largest = sorted(regions_of(rgb), key=lambda region: -region.area_px)[:most]
    for region in largest:
        colour = "#" + "".join(f"{round(level):02x}" for level in region.rgb)
        yield f"- {region.family}, x y x y {_box(region.box_xyxy)}, mean colour {colour}"


def _texts(rgb: np.ndarray, most: int) -> Iterator[str]:
    lines = sorted(_reader()(np.ascontiguousarray(rgb[:, :, ::-1])), key=lambda line: -_area(line[0]))[:most]
    for box, text in lines:
        yield f"- text {text[:LONGEST_TEXT]!r}, x y x y {_box(box)}"


def _box(box_xyxy: Sequence[float]) -> str:
    return " ".join(f"{value:.0f}" for value in box_xyxy)


def _area(box_xyxy: Sequence[float]) -> float:
    return (box_xyxy[2] - box_xyxy[0]) * (box_xyxy[3] - box_xyxy[1])


@functools.cache
def _reader() -> Callable[[np.ndarray], list[tuple[tuple[float, ...], str]]]:
    """Reads the lines of text of a picture, uint8 BGR: their boxes and what they say.

    Raises:
        Unavailable: the package is not installed.
    """
    try:
        from rapidocr_onnxruntime import RapidOCR
    except ImportError as error:
        raise Unavailable(f"cues.text needs an OCR package that carries its weights: {OCR}") from error
    engine: Any = RapidOCR()
    alone = threading.Lock()

    def read(bgr: np.ndarray) -> list[tuple[tuple[float, ...], str]]:
        with alone:
            lines = engine(bgr)[0] or []
        return [(_around(corners), str(text)) for corners, text, sure in lines if float(sure) >= LEAST_SURE]

    return read


def _around(corners: Sequence[Sequence[float]]) -> tuple[float, ...]:
    xs, ys = [point[0] for point in corners], [point[1] for point in corners]
    return (min(xs), min(ys), max(xs), max(ys))
