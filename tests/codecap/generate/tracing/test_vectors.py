"""Traces of pictures that are polygons themselves."""

import re

import numpy as np

from codecap.generate.tracing.vectors import Detail, shortened, traced


def test_rectangle_is_its_four_corners():
    rgba = np.full((100, 100, 4), (250, 250, 250, 255), np.uint8)
    rgba[20:70, 30:90, :3] = (200, 0, 0)
    shapes = dict(re.findall(r'<path fill="#([0-9a-f]+)" d="([^"]+)"', traced(rgba, Detail(fine_scale=1))))
    assert shapes["c80000"] == "M30 20h60v50h-60z"


def test_open_pixels_are_left_open():
    rgba = np.zeros((100, 100, 4), np.uint8)
    rgba[20:70, 30:90] = (200, 0, 0, 255)
    assert re.findall(r'fill="#([0-9a-f]+)" d="([^"]+)"', traced(rgba, Detail(fine_scale=1))) == [("c80000", "M30 20h60v50h-60z")]
    assert traced(np.zeros((30, 30, 4), np.uint8), Detail()) == ""


def test_relative_path_ends_where_the_absolute_one_did():
    assert shortened("M0,0 L4,0 L4,3 L0,3 Z M1,1 L1,2 L3,2 Z ", 10, 20) == "M10 20h4v3h-4zM11 21v1h2z"
