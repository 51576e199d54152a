"""Pixels to SVG paths: the vtracer package, and its paths written short."""

from __future__ import annotations

import re
from dataclasses import dataclass

import cv2
import numpy as np
import vtracer

PATH = re.compile(r'<path d="([^"]*)" fill="#([0-9A-Fa-f]{6})" transform="translate\((-?\d+),(-?\d+)\)"/>')
SMALL_PX = 64  # pictures up to this on both sides are traced enlarged as a whole
SPECKLES_ACROSS = 10  # a shape that is more than this part of a small picture's side is no speckle
STROKE_PX = 5  # narrower than this is fine detail: letters, thin lines
STROKE_CONTRAST = 40
FINE_SHARE = 0.06  # of a block's pixels on such strokes
FINE_BLOCK_PX = 8


@dataclass(frozen=True)
class Detail:
    """How finely pictures are traced.

    Attributes:
        colour_bits: significant bits of a colour channel, 1-8.
        layer_step: colour difference between two stacked shapes, 0-255.
        speckle_px: shapes up to this on a side are left out.
        fine_scale: fine detail is traced enlarged by this; 1 for never.
    """

    colour_bits: int = 6
    layer_step: int = 16
    speckle_px: int = 4
    fine_scale: int = 2


def traced(rgba: np.ndarray, detail: Detail, left: int = 0, top: int = 0) -> str:
    """Trace a picture; fine detail in it (letters, thin lines) is traced enlarged and laid over the rest.

    Args:
        rgba: uint8 `(height, width, 4)`; pixels of alpha 0 are left open.
        left, top: where the picture's corner lies in the drawing.

    Returns:
        SVG markup, empty if there is nothing to draw.
    """
    height, width = rgba.shape[:2]
    if detail.fine_scale > 1 and max(height, width) <= SMALL_PX:
        return enlarged(rgba, detail, left, top)
    if detail.fine_scale == 1:
        return _placed(paths(rgba, detail), left, top, 1)
    coarse = rgba.copy()
    over = []
    for x, y, right, bottom in fine_areas(rgba):
        piece = rgba[y:bottom, x:right]
        if not piece[..., 3].any():
            continue
        over.append(enlarged(piece, detail, left + x, top + y))
        opaque = piece[..., 3] > 0
        coarse[y:bottom, x:right][opaque] = commonest(piece[opaque])
    return _placed(paths(coarse, detail), left, top, 1) + "".join(over)


def enlarged(rgba: np.ndarray, detail: Detail, left: int, top: int) -> str:
    """Trace a picture enlarged, so that what is a pixel or two wide keeps its shape."""
    scale = detail.fine_scale
    size = (rgba.shape[1] * scale, rgba.shape[0] * scale)
    colours = cv2.resize(rgba[..., :3], size, interpolation=cv2.INTER_CUBIC)
    alpha = cv2.resize(rgba[..., 3], size, interpolation=cv2.INTER_LINEAR)
    large = np.dstack([colours, np.where(alpha > 127, 255, 0).astype(np.uint8)])
    return _placed(paths(large, detail), left, top, scale)


def fine_areas(rgba: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Rectangles `x0, y0, x1, y1` in which there are strokes only a few pixels wide."""
    grey = cv2.cvtColor(np.ascontiguousarray(rgba[..., :3]), cv2.COLOR_RGB2GRAY)
    kernel = np.ones((STROKE_PX, STROKE_PX), np.uint8)
    narrow = cv2.max(cv2.morphologyEx(grey, cv2.MORPH_TOPHAT, kernel), cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, kernel))
    height, width = grey.shape
    rows, columns = max(height // FINE_BLOCK_PX, 1), max(width // FINE_BLOCK_PX, 1)
    strokes = ((narrow > STROKE_CONTRAST) & (rgba[..., 3] > 0)).astype(np.float32)
    share = cv2.resize(strokes, (columns, rows), interpolation=cv2.INTER_AREA)
    fine = cv2.dilate((share > FINE_SHARE).astype(np.uint8), np.ones((1, 3), np.uint8))
    _, _, boxes, _ = cv2.connectedComponentsWithStats(fine, connectivity=4)
    areas = []
    for x, y, across, down, blocks in boxes[1:].tolist():
        if blocks < 2:
            continue
        right = width if x + across == columns else (x + across) * FINE_BLOCK_PX
        bottom = height if y + down == rows else (y + down) * FINE_BLOCK_PX
        areas.append((x * FINE_BLOCK_PX, y * FINE_BLOCK_PX, right, bottom))
    return areas


def commonest(colours: np.ndarray) -> np.ndarray:
    """The colour of most pixels, to 4 bits a channel, as the mean of those that have it: uint8 `(4,)`, opaque."""
    codes = (colours[:, :3] >> 4).astype(np.int32) @ np.array([256, 16, 1])
    values, counts = np.unique(codes, return_counts=True)
    mean = colours[codes == values[counts.argmax()], :3].mean(axis=0)
    return np.append(np.round(mean), 255).astype(np.uint8)


def paths(rgba: np.ndarray, detail: Detail) -> list[tuple[str, str]]:
    """Trace a picture as stacked polygons: (colour as `rrggbb`, path data) from the lowest up."""
    if not (rgba[..., 3] > 0).any():
        return []
    framed = cv2.copyMakeBorder(rgba, 1, 1, 0, 0, cv2.BORDER_CONSTANT, value=(0, 0, 0, 0))
    if (rgba[..., 3] > 0).all():  # a row of open pixels makes vtracer heed alpha; without any it must see none
        framed = rgba
    file = cv2.imencode(".png", cv2.cvtColor(framed, cv2.COLOR_RGBA2BGRA), [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
    svg = vtracer.convert_raw_image_to_svg(
        file.tobytes(),
        img_format="png",
        mode="polygon",
        hierarchical="stacked",
        filter_speckle=min(detail.speckle_px, max(min(rgba.shape[:2]) // SPECKLES_ACROSS, 1)),
        color_precision=detail.colour_bits,
        layer_difference=detail.layer_step,
        corner_threshold=60,
        length_threshold=4.0,
        max_iterations=10,
        splice_threshold=45,
        path_precision=0,
    )
    lift = 0 if framed is rgba else -1
    return [(colour.lower(), shortened(data, int(x), int(y) + lift)) for data, colour, x, y in PATH.findall(svg)]


def shortened(data: str, x: int, y: int) -> str:
    """Absolute polygons of whole numbers as relative path data.

    >>> shortened("M0,0 L50,0 L50,30 L0,30 Z ", 5, 5)
    'M5 5h50v30h-50z'
    """
    written = []
    for polygon in data.split("Z"):
        points = [tuple(map(int, pair.split(","))) for pair in polygon.replace("M", " ").replace("L", " ").split()]
        if len(points) < 3:
            continue
        if points[-1] == points[0]:
            points.pop()
        (px, py), rest = points[0], points[1:]
        written.append(f"M{px + x} {py + y}")
        for nx, ny in rest:
            dx, dy = nx - px, ny - py
            px, py = nx, ny
            if dy == 0:
                written.append(f"h{dx}")
            elif dx == 0:
                written.append(f"v{dy}")
            else:
                written.append(f"l{dx} {dy}" if dy >= 0 else f"l{dx}{dy}")
        written.append("z")
    return "".join(written)


def _placed(shapes: list[tuple[str, str]], left: int, top: int, scale: int) -> str:
    """Shapes as markup; neighbours of one colour share a path."""
    if not shapes:
        return ""
    merged: list[list[str]] = []
    for colour, data in shapes:
        if merged and merged[-1][0] == colour:
            merged[-1][1] += data
        else:
            merged.append([colour, data])
    drawn = "".join(f'<path fill="#{_short(colour)}" d="{data}"/>' for colour, data in merged)
    moves = ([f"translate({left} {top})"] if left or top else []) + ([f"scale({1 / scale:g})"] if scale != 1 else [])
    return f'<g transform="{"".join(moves)}">{drawn}</g>' if moves else drawn


def _short(colour: str) -> str:
    return colour[::2] if colour[::2] == colour[1::2] else colour
