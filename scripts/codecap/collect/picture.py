"""Decoded pictures as a viewer sees them: upright, square pixels, standard dynamic range, on white where they are transparent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import av
import numpy as np
from av.sidedata.sidedata import Type as SideData
from av.video.reformatter import ColorRange, Colorspace, ColorTrc, Interpolation, VideoReformatter

from codecap.collect.tonemap import to_sdr
from codecap.video import EXACT, EXACT_TO_HALF

SD_HEIGHT_PX = 576  # untagged pictures up to this height are taken for BT.601, as players do
UNTAGGED = {0, 2, 3}  # AVColorSpace: RGB, unspecified, reserved
SCALING = EXACT | Interpolation.BITEXACT  # the same on every processor
SHRINKING = EXACT_TO_HALF | Interpolation.BITEXACT  # means over areas, at a tenth of the cost
HDR = {ColorTrc.SMPTE2084: "pq", ColorTrc.ARIB_STD_B67: "hlg"}


@dataclass(frozen=True)
class ToneCurve:
    """What high dynamic range is brought down to; both in cd/m2 of the mastering display."""

    white_nits: float = 203.0  # diffuse white, BT.2408
    peak_nits: float = 1000.0  # becomes the brightest white


class Viewer:
    """Turns the frames of one video into pictures of one size.

    Args:
        first: the first frame; its display matrix says how the picture is turned.
        pixel_aspect: width of a pixel through its height, from the stream; None for square ones. A pixel that is not square is
            made so by stretching the shorter side of the picture's pixels: no line or column is lost.
    """

    def __init__(self, first: av.VideoFrame, pixel_aspect: Fraction | None, tone: ToneCurve) -> None:
        self._tone = tone
        self._matrix = display_matrix(first)
        self._stored_px = square_size(first.width, first.height, pixel_aspect)
        self._reformatters: dict[tuple[int, int], VideoReformatter] = {}  # each keeps what it needs for one size
        turned = self._matrix is not None and _turns(self._matrix)
        self.width_px, self.height_px = self._stored_px[::-1] if turned else self._stored_px

    def rgb(self, frame: av.VideoFrame, width_px: int | None = None) -> np.ndarray:
        """The picture, uint8 RGB `(height_px, width_px, 3)`, BT.709 primaries.

        Args:
            width_px: of a smaller copy, for whoever looks at many; by default, and where it is no smaller, that of the clip.
        """
        scale = 1.0 if width_px is None else min(1.0, width_px / self.width_px)
        rgb = self._stored_rgb(frame, (max(1, round(scale * self._stored_px[0])), max(1, round(scale * self._stored_px[1]))))
        return rgb if self._matrix is None else upright(rgb, self._matrix)

    def _stored_rgb(self, frame: av.VideoFrame, size_px: tuple[int, int]) -> np.ndarray:
        if frame.color_trc in HDR and not _is_rgb(frame):
            signal = self._convert(frame, "rgb48le", size_px)
            return to_sdr(signal, HDR[frame.color_trc], self._tone.white_nits, self._tone.peak_nits)
        if _has_alpha(frame):
            return on_white(self._convert(frame, "rgba", size_px))
        return self._convert(frame, "rgb24", size_px)

    def _convert(self, frame: av.VideoFrame, form: str, size_px: tuple[int, int]) -> np.ndarray:
        reformatter = self._reformatters.setdefault(size_px, VideoReformatter())
        colours = {} if _is_rgb(frame) else {"src_colorspace": colour_space(frame), "src_color_range": colour_range(frame)}
        converted = reformatter.reformat(
            frame,
            width=size_px[0],
            height=size_px[1],
            format=form,
            dst_colorspace=Colorspace.DEFAULT,
            dst_color_range=ColorRange.JPEG,
            interpolation=SCALING if size_px == self._stored_px else SHRINKING,
            threads=1,
            **colours,
        )
        return converted.to_ndarray()


def colour_space(frame: av.VideoFrame) -> int:
    """The matrix between YUV and RGB: the one that the frame names; else BT.601 up to 576 lines and BT.709 above."""
    if frame.colorspace not in UNTAGGED:
        return frame.colorspace
    return Colorspace.ITU601 if frame.height <= SD_HEIGHT_PX else Colorspace.ITU709


def colour_range(frame: av.VideoFrame) -> ColorRange:
    """Full range (0-255) where the frame or its pixel format says so, else limited (16-235)."""
    full = frame.color_range == ColorRange.JPEG or frame.format.name.startswith("yuvj")
    return ColorRange.JPEG if full else ColorRange.MPEG


def square_size(width_px: int, height_px: int, pixel_aspect: Fraction | None) -> tuple[int, int]:
    """Width and height of a picture with its pixels made square by stretching.

    >>> square_size(720, 576, Fraction(16, 15)), square_size(720, 480, Fraction(8, 9)), square_size(640, 480, None)
    ((768, 576), (720, 540), (640, 480))
    """
    if not pixel_aspect or pixel_aspect == 1:
        return width_px, height_px
    if pixel_aspect > 1:
        return round(width_px * pixel_aspect), height_px
    return width_px, round(height_px / pixel_aspect)


def display_matrix(frame: av.VideoFrame) -> np.ndarray | None:
    """The linear part `[[a, b], [c, d]]` of a frame's display matrix: a pixel at `(x, y)` is shown at `(ax + cy, bx + dy)`.

    None when the file has none, or when it is the identity.
    """
    try:
        data = frame.side_data.get(SideData.DISPLAYMATRIX)
    except ValueError:  # PyAV cannot list a frame's side data if FFmpeg gives a kind that it has no name for, as a photo's EXIF
        turn = np.deg2rad(-frame.rotation)  # its angle is counter-clockwise, y points down
        matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    else:
        if data is None:
            return None
        matrix = np.frombuffer(bytes(data), np.int32).reshape(3, 3)[:2, :2].astype(np.float64)  # 16.16 fixed point
    plain = not _turns(matrix) and matrix[0, 0] >= 0 and matrix[1, 1] >= 0
    return None if plain else matrix


def upright(picture: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Turn and mirror a picture `(height, width, ...)` by a display matrix, to the nearest quarter turn."""
    (a, b), (c, d) = matrix
    if _turns(matrix):
        picture, right, down = picture.swapaxes(0, 1), c, b
    else:
        right, down = a, d
    if right < 0:
        picture = picture[:, ::-1]
    if down < 0:
        picture = picture[::-1]
    return np.ascontiguousarray(picture)


def on_white(rgba: np.ndarray) -> np.ndarray:
    """A picture with straight alpha, uint8 `(height, width, 4)`, laid on white: uint8 RGB.

    >>> on_white(np.array([[[0, 100, 200, 255], [0, 100, 200, 0], [0, 100, 200, 51]]], np.uint8)).tolist()
    [[[0, 100, 200], [255, 255, 255], [204, 224, 244]]]
    """
    alpha = rgba[..., 3:]
    if alpha.min() == 255:
        return np.ascontiguousarray(rgba[..., :3])
    alpha = alpha.astype(np.uint32)
    return ((rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def _turns(matrix: np.ndarray) -> bool:
    """Whether width and height change places."""
    return abs(matrix[0, 1]) > abs(matrix[0, 0])


def _is_rgb(frame: av.VideoFrame) -> bool:
    return frame.format.is_rgb or frame.format.has_palette


def _has_alpha(frame: av.VideoFrame) -> bool:
    return frame.format.has_palette or any(part.is_alpha for part in frame.format.components)
