"""Films of high dynamic range, from the file to the frame: patches against the curve of docs/ingest.md, worked out here from
the standards with no code of the package."""

from __future__ import annotations

import math

import av
import numpy as np
import pytest

from codecap.collect.onscreen import on_screen

WHITE_NITS, PEAK_NITS, KNEE = 203, 1000, 0.3
PATCH_PX = 32
PATCHES = [  # R'G'B' signals in [0, 1]
    (0.0, 0.0, 0.0),
    (0.2, 0.2, 0.2),
    (0.4, 0.4, 0.4),
    (0.58, 0.58, 0.58),
    (0.75, 0.75, 0.75),
    (0.9, 0.9, 0.9),
    (0.6, 0.3, 0.3),
    (0.3, 0.6, 0.3),
    (0.35, 0.35, 0.65),
    (0.7, 0.68, 0.5),
]


def pq_nits(signal: float) -> float:
    """SMPTE ST 2084, equation 4.1."""
    power = signal ** (1 / 78.84375)
    return 10_000 * (max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)) ** (1 / 0.1593017578125)


def hlg_nits(rgb: tuple[float, ...]) -> list[float]:
    """BT.2100, table 5: inverse OETF, then the OOTF of a display of 1000 cd/m2."""
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    scene = [signal**2 / 3 if signal <= 0.5 else (math.exp((signal - c) / a) + b) / 12 for signal in rgb]
    luminance = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2]
    return [1000 * luminance**0.2 * light if luminance else 0.0 for light in scene]


def to_xyz(primaries: list[tuple[float, float]]) -> np.ndarray:
    """Matrix from linear RGB to XYZ by the primaries' chromaticities and a white of D65 (SMPTE RP 177)."""
    columns = np.array([(x / y, 1, (1 - x - y) / y) for x, y in primaries]).T
    x, y = 0.3127, 0.3290
    return columns * np.linalg.solve(columns, [x / y, 1, (1 - x - y) / y])


BT709 = [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060)]
BT2020 = [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]


def curve(light: float) -> float:
    """Identity up to the knee k; above it (l x + m) / (x + n), equal to k with slope 1 at k, equal to 1 at the peak p."""
    if light <= KNEE:
        return light
    peak = PEAK_NITS / WHITE_NITS

    def line(n: float) -> tuple[float, float]:
        """l and m for a given n, by the values at the knee and at the peak."""
        slope = (peak + n - KNEE * (KNEE + n)) / (peak - KNEE)
        return slope, KNEE * (KNEE + n) - slope * KNEE

    def too_steep(n: float) -> bool:
        """Whether the slope at the knee, (l n - m) / (k + n)^2, is above 1."""
        slope, foot = line(n)
        return slope * n - foot > (KNEE + n) ** 2

    low, high = 0.0, 100.0
    assert too_steep(low) != too_steep(high)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if too_steep(middle) == too_steep(low) else (low, middle)
    slope, foot = line(low)
    return (slope * light + foot) / (light + low)


def wanted(patch: tuple[float, ...], transfer: str) -> np.ndarray:
    """8-bit R'G'B' of a patch."""
    nits = [pq_nits(signal) for signal in patch] if transfer == "pq" else hlg_nits(patch)
    light = np.linalg.solve(to_xyz(BT709), to_xyz(BT2020) @ nits).clip(0) / WHITE_NITS
    brightest = max(light)
    if brightest > 0:
        light = light * curve(brightest) / brightest
    return 255 * light.clip(0, 1) ** (1 / 2.4)


def ycbcr_10bit(rgb: tuple[float, ...]) -> list[int]:
    """BT.2100, table 6 and 9: non-constant luminance, narrow range."""
    luma = 0.2627 * rgb[0] + 0.6780 * rgb[1] + 0.0593 * rgb[2]
    cb, cr = (rgb[2] - luma) / 1.8814, (rgb[0] - luma) / 1.4746
    return [round(876 * luma + 64), round(896 * cb + 512), round(896 * cr + 512)]


@pytest.mark.parametrize(("transfer", "number"), [("pq", 16), ("hlg", 18)])
@pytest.mark.parametrize("codec", ["hevc.mp4", "av1.webm", "ffv1.mkv"])
def test_patches(tmp_path, transfer, number, codec):
    kind, _, ending = codec.partition(".")
    encoder, options = {
        "hevc": ("libx265", {"x265-params": "log-level=none:qp=4"}),
        "av1": ("libsvtav1", {"preset": "12", "crf": "4"}),
        "ffv1": ("ffv1", {}),
    }[kind]
    path = tmp_path / f"hdr.{ending}"
    with av.open(str(path), "w") as film:
        stream = film.add_stream(encoder, rate=24, options=options)
        stream.width, stream.height, stream.pix_fmt = PATCH_PX * len(PATCHES), 64, "yuv420p10le"
        context = stream.codec_context
        context.color_range, context.colorspace, context.color_primaries, context.color_trc = 1, 9, 9, number
        for pts in range(3):
            frame = av.VideoFrame(stream.width, stream.height, "yuv420p10le")
            for place, plane in enumerate(frame.planes):
                row = np.repeat([ycbcr_10bit(patch)[place] for patch in PATCHES], PATCH_PX // (1 if place == 0 else 2))
                lines = np.zeros((plane.height, plane.line_size // 2), np.uint16)
                lines[:, : row.size] = row
                plane.update(lines.tobytes())
            frame.pts = pts
            frame.colorspace, frame.color_range, frame.color_primaries, frame.color_trc = 9, 1, 9, number
            film.mux(stream.encode(frame))
        film.mux(stream.encode(None))
    picture = next(on_screen(path)).rgb()
    for place, patch in enumerate(PATCHES):
        found = picture[32, place * PATCH_PX + PATCH_PX // 2].astype(float)
        assert found == pytest.approx(wanted(patch, transfer), abs=3), patch


def test_the_curve_is_where_the_documentation_says():
    """Diffuse white, 203 cd/m2, is 217 of 255; 1000 cd/m2 is 255; below 61 cd/m2 nothing is compressed."""
    assert curve(1.0) == pytest.approx(0.6786, abs=1e-4)
    assert round(255 * curve(1.0) ** (1 / 2.4)) == 217
    assert curve(PEAK_NITS / WHITE_NITS) == pytest.approx(1)
    assert curve(60.9 / WHITE_NITS) == pytest.approx(60.9 / WHITE_NITS)
