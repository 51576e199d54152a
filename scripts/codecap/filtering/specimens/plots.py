"""Scenes whose pictures Matplotlib draws, and those that FFmpeg's own sources make."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from codecap import clock
from codecap.filtering.specimens import HEIGHT_PX, WIDTH_PX, Scene


def drawn_by_matplotlib(draw: Callable[..., None]) -> Scene:
    """A scene each picture of which is drawn anew.

    Args:
        draw: takes an empty `matplotlib.figure.Figure` and the time in seconds.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    def at(time_s: float) -> np.ndarray:
        figure = Figure(figsize=(WIDTH_PX / 100, HEIGHT_PX / 100), dpi=100)
        canvas = FigureCanvasAgg(figure)
        draw(figure, time_s)
        canvas.draw()
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])

    return at


def made_by_ffmpeg(source: str, **options: object) -> Scene:
    """A scene that one of FFmpeg's video sources makes, at 24 frames a second; it is asked for times that do not go back.

    Args:
        source: the filter's name, "life".
        options: its options but the size and the rate.
    """
    import av

    graph = av.filter.Graph()
    told = {"size": f"{WIDTH_PX}x{HEIGHT_PX}", "rate": clock.FPS, **options}
    nodes = [graph.add(source, ":".join(f"{name}={value}" for name, value in told.items()))]
    nodes += [graph.add("format", "rgb24"), graph.add("buffersink")]
    graph.link_nodes(*nodes).configure()
    shown: list[np.ndarray] = []
    made = 0  # pictures; the nodes do not keep their graph alive, `at` does

    def at(time_s: float) -> np.ndarray:
        nonlocal made
        while made <= round(Fraction(time_s) * clock.FPS):
            shown[:] = [graph.pull().to_ndarray(format="rgb24")]
            made += 1
        return shown[0]

    return at
