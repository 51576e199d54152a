"""Measurements in plain English: colours, sizes, places, directions."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

HUES = (
    (15, "red"),
    (42, "orange"),
    (68, "yellow"),
    (165, "green"),
    (200, "cyan"),
    (255, "blue"),
    (290, "purple"),
    (335, "pink"),
    (361, "red"),
)


def colour_name(rgb: Sequence[float]) -> str:
    """A common name for a colour of 0-255 a channel.

    >>> colour_name((250, 20, 30)), colour_name((20, 20, 22)), colour_name((30, 60, 120))
    ('red', 'black', 'dark blue')
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*(min(max(value, 0.0), 255.0) / 255 for value in rgb))
    spread = (max(rgb) - min(rgb)) / 255
    if lightness > 0.93 or (lightness > 0.85 and spread < 0.1):
        return "white"
    if lightness < 0.12:
        return "black"
    if spread < 0.1 or saturation < 0.12:
        return "light grey" if lightness > 0.65 else "dark grey" if lightness < 0.35 else "grey"
    name = next(name for limit, name in HUES if hue * 360 < limit)
    if name == "orange" and lightness < 0.4:
        return "brown"
    return f"dark {name}" if lightness < 0.32 else f"light {name}" if lightness > 0.75 else name


def with_article(noun: str) -> str:
    """
    >>> with_article("orange shape"), with_article("red shape")
    ('an orange shape', 'a red shape')
    """
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def place_name(box_xyxy: Sequence[float], width_px: int, height_px: int) -> str:
    """Which ninth of the picture a box's centre is in.

    >>> place_name((0, 0, 10, 10), 90, 90), place_name((40, 40, 50, 50), 90, 90), place_name((40, 80, 50, 90), 90, 90)
    ('top left', 'centre', 'bottom')
    """
    x, y = (box_xyxy[0] + box_xyxy[2]) / 2 / width_px, (box_xyxy[1] + box_xyxy[3]) / 2 / height_px
    row = "top" if y < 1 / 3 else "bottom" if y > 2 / 3 else ""
    column = "left" if x < 1 / 3 else "right" if x > 2 / 3 else ""
    return " ".join(part for part in (row, column) if part) or "centre"


def direction_name(dx: float, dy: float) -> str:
    """The way of a displacement, y down.

    >>> direction_name(10, 1), direction_name(-5, -5), direction_name(0, 3)
    ('right', 'up and left', 'down')
    """
    across = "right" if dx > 0 else "left"
    along = "down" if dy > 0 else "up"
    if abs(dx) > 2.5 * abs(dy):
        return across
    return along if abs(dy) > 2.5 * abs(dx) else f"{along} and {across}"


def size_name(box_xyxy: Sequence[float]) -> str:
    """
    >>> size_name((0, 0, 12.4, 8))
    '12x8 px'
    """
    return f"{box_xyxy[2] - box_xyxy[0]:.0f}x{box_xyxy[3] - box_xyxy[1]:.0f} px"


def time_name(time_s: float) -> str:
    """
    >>> time_name(2.0), time_name(1.2917)
    ('2 s', '1.29 s')
    """
    return f"{time_s:.2f}".rstrip("0").rstrip(".") + " s"
