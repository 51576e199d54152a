"""The steps of the tone curve against the standards' own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from codecap.collect.tonemap import BT2020_TO_BT709, KNEE, moebius, to_sdr


def grey(signal: float) -> np.ndarray:
    return np.full((1, 1, 3), round(65535 * signal), np.uint16)


@pytest.mark.parametrize("transfer", ["pq", "hlg"])
def test_black_is_black_brighter_is_brighter_and_the_peak_is_white(transfer):
    levels = [int(to_sdr(grey(signal), transfer, 203, 1000)[0, 0, 0]) for signal in np.linspace(0, 1, 21)]
    assert levels[0] == 0 and levels == sorted(levels) and levels[-1] == 255


def test_dark_pq_keeps_its_light():
    """PQ signal 0.15 is 1.0 cd/m2 (ST 2084: 0.1499 for 1 cd/m2); under the knee nothing is compressed."""
    assert to_sdr(grey(0.1499), "pq", 203, 1000)[0, 0, 0] == pytest.approx(255 * (1 / 203) ** (1 / 2.4), abs=1)


def test_curve_meets_its_three_conditions():
    peak = 5.0
    assert moebius(np.array([KNEE, peak]), peak) == pytest.approx([KNEE, 1.0])
    step = 1e-6
    slope = (moebius(np.array([KNEE + step]), peak) - KNEE) / step
    assert slope == pytest.approx(1, abs=1e-4)


def test_white_stays_white_between_the_primaries():
    assert BT2020_TO_BT709.sum(axis=1) == pytest.approx([1, 1, 1], abs=2e-4)


def test_strips_do_not_show():
    signal = np.random.default_rng(0).integers(0, 65536, (150, 7, 3), np.uint16)
    whole = to_sdr(signal, "pq", 203, 1000)
    assert (whole == np.concatenate([to_sdr(row[None], "pq", 203, 1000) for row in signal])).all()


def test_unknown_transfer():
    with pytest.raises(ValueError, match="'log' is no HDR transfer"):
        to_sdr(grey(0), "log", 203, 1000)
