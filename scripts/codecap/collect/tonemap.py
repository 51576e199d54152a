"""High dynamic range (BT.2100: PQ and HLG) brought down to what a standard display shows (BT.709), pixel by pixel.

1. signal -> light, in units of diffuse white: PQ by SMPTE ST 2084; HLG by BT.2100's inverse OETF and the OOTF of a 1000 cd/m2
   display (gamma 1.2);
2. BT.2020 primaries -> BT.709 primaries (BT.2087); colours outside are clipped at 0;
3. the brightest channel is compressed by the Möbius curve, the other two in the same proportion, so that hues stay: light up to
   `KNEE` stays as it is, the peak becomes 1, the curve is smooth between;
4. light -> signal by the inverse of a BT.1886 display (gamma 2.4).

Powers are read from tables, and everything else is single additions, products, quotients and roots, which IEEE 754 defines to the
last bit: every processor gives the same picture.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

KNEE = 0.3
HLG_PEAK_NITS = 1000.0
HLG_GAMMA = 1.2
LUMINANCE_2020 = np.array([0.2627, 0.6780, 0.0593], np.float32)
STEPS = 65535  # of the tables
BT2020_TO_BT709 = np.array([[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32)
ROWS_AT_ONCE = 64  # floats of a whole picture of 2 million pixels would take 100 MB


def to_sdr(signal: np.ndarray, transfer: str, white_nits: float, peak_nits: float) -> np.ndarray:
    """Tone-map a picture.

    Args:
        signal: uint16 RGB `(height, width, 3)`, full range, BT.2020 primaries.
        transfer: "pq" or "hlg".
        white_nits: cd/m2 of diffuse white (203 in BT.2408).
        peak_nits: cd/m2 that becomes the brightest white; what is brighter is clipped. More than `white_nits`.

    Returns:
        uint8 RGB of the same size, BT.709.
    """
    picture = np.empty(signal.shape, np.uint8)
    table = _light_of_signal(transfer)
    for top in range(0, len(signal), ROWS_AT_ONCE):
        light = table[signal[top : top + ROWS_AT_ONCE]]
        if transfer == "hlg":
            root = np.sqrt(np.sqrt(_weighted(light, LUMINANCE_2020)))
            light = light * _hlg_gain()[np.rint(root * STEPS).astype(np.uint16)][..., None]
        light = np.stack([_weighted(light, row) for row in BT2020_TO_BT709], axis=-1)
        light = np.maximum(light, 0) / np.float32(white_nits)
        brightest = np.maximum(light.max(axis=-1, keepdims=True), np.float32(1e-6))
        light = light * (moebius(brightest, peak_nits / white_nits) / brightest)
        root = np.sqrt(np.minimum(light, 1))
        picture[top : top + ROWS_AT_ONCE] = _level_of_root()[np.rint(root * STEPS).astype(np.uint16)]
    return picture


def _weighted(channels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum of three weighted channels, always in the same order (a matrix product may add them in any)."""
    return channels[..., 0] * weights[0] + channels[..., 1] * weights[1] + channels[..., 2] * weights[2]


def moebius(light: np.ndarray, peak: float) -> np.ndarray:
    """The curve `s (x + a) / (x + b)` that leaves KNEE with slope 1 and takes `peak` to 1; below KNEE `x` itself.

    Derived from its three conditions; the same curve as FFmpeg's and mpv's `mobius`.
    """
    j = KNEE
    a = -(j * j) * (peak - 1) / (j * j - 2 * j + peak)
    b = (j * j - 2 * j * peak + peak) / (peak - 1)
    s = (j + b) ** 2 / (b - a)
    return np.where(light <= j, light, s * (light + a) / (light + b))


@lru_cache(maxsize=1)
def _hlg_gain() -> np.ndarray:
    """The OOTF's factor by the fourth root of scene luminance in steps of 1 / STEPS, in cd/m2. float32."""
    return (HLG_PEAK_NITS * (np.arange(STEPS + 1) / STEPS) ** (4 * (HLG_GAMMA - 1))).astype(np.float32)


@lru_cache(maxsize=1)
def _level_of_root() -> np.ndarray:
    """8-bit level by the square root of light in steps of 1 / STEPS: as fine in the dark as the eye is. uint8."""
    return np.rint(255 * (np.arange(STEPS + 1) / STEPS) ** (2 / 2.4)).astype(np.uint8)


@lru_cache(maxsize=2)
def _light_of_signal(transfer: str) -> np.ndarray:
    """Table over all 65536 signals: cd/m2 of a PQ signal, scene light in [0, 1] of an HLG signal. float32."""
    signal = np.linspace(0.0, 1.0, 65536)
    if transfer == "pq":  # SMPTE ST 2084
        m1, m2 = 2610 / 16384, 2523 / 4096 * 128
        c1, c2, c3 = 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
        root = signal ** (1 / m2)
        light = 10000.0 * (np.maximum(root - c1, 0) / (c2 - c3 * root)) ** (1 / m1)
    elif transfer == "hlg":  # BT.2100 table 5
        a = 0.17883277
        b, c = 1 - 4 * a, 0.5 - a * np.log(4 * a)
        light = np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - c) / a) + b) / 12)
    else:
        raise ValueError(f"{transfer!r} is no HDR transfer; known are pq and hlg")
    return light.astype(np.float32)
