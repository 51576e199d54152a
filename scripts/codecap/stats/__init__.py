"""Uncertainty of what is published: means, differences, ranks, correlations, repeated judgements, and what a data set can tell."""

from codecap.stats.bootstrap import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Difference,
    Interval,
    bootstrap_mean,
    clustered_mean,
    paired_difference,
    paired_differences,
    resampled_means,
)
from codecap.stats.correlation import Agreement, Correlated, agreement, agreement_intervals, correlations
from codecap.stats.ranking import Ranked, rank_intervals
from codecap.stats.repeats import Repeats, repeats
from codecap.stats.testing import POWER, SIGNIFICANCE, detectable_difference, holm

__all__ = [
    "CONFIDENCE",
    "POWER",
    "RESAMPLES",
    "SEED",
    "SIGNIFICANCE",
    "Agreement",
    "Correlated",
    "Difference",
    "Interval",
    "Ranked",
    "Repeats",
    "agreement",
    "agreement_intervals",
    "bootstrap_mean",
    "clustered_mean",
    "correlations",
    "detectable_difference",
    "holm",
    "paired_difference",
    "paired_differences",
    "rank_intervals",
    "repeats",
    "resampled_means",
]
