"""The scorecard that ships: `codecap filter train --specimens`; docs/filtering.md says how well it does."""

from codecap.filtering.scorecard import Scorecard

SHIPPED = Scorecard(
    intercept=5.614,
    coefficients={
        "root_sheared": -4.602,
        "flat_share": 1.199,
        "edge_share": 0.22,
        "log2_colours": 0.0,
        "texture_share": -2.27,
        "noise_levels": -0.024,
        "changing_soft": -2.903,
        "textured_change": -4.785,
        "lost_share": 0.0,
        "rigid_share": 0.0,
        "log2_vectors": -0.711,
    },
    kept={
        "root_sheared": 0.062,
        "flat_share": 0.808,
        "edge_share": 0.571,
        "log2_colours": 5.218,
        "texture_share": 0.07,
        "noise_levels": 0.0,
        "changing_soft": 0.031,
        "textured_change": 0.353,
        "lost_share": 0.097,
        "rigid_share": 0.93,
        "log2_vectors": 1.359,
    },
    dropped={
        "root_sheared": 0.161,
        "flat_share": 0.388,
        "edge_share": 0.296,
        "log2_colours": 7.593,
        "texture_share": 0.544,
        "noise_levels": 0.272,
        "changing_soft": 0.322,
        "textured_change": 0.857,
        "lost_share": 0.195,
        "rigid_share": 0.774,
        "log2_vectors": 3.093,
    },
)
