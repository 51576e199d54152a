"""Find the filter's coefficients from clips whose label is known.

    python -m codecap.filtering.fit FOLDER      FOLDER/keep/*.mp4 and FOLDER/drop/*.mp4, canonical clips
    python -m codecap.filtering.fit --drawn     the drawn specimens instead, which are how the shipped coefficients were found

It prints the settings `filter.intercept`, `.coefficients` and `.typical` as YAML, how well they do on clips of a family left out
(the specimens of one drawer; each clip of a folder is a family), and names the clips on the wrong side.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codecap.filtering.features import measure, measure_pictures
from codecap.filtering.specimens import FRAMES, drawers, pictures, seed_of
from codecap.filtering.verdict import INPUTS

PENALTY = 0.1  # ridge on the coefficients of standardised features, in units of one clip's likelihood
STEPS = 50  # of Newton's method; it converges in about ten


@dataclass(frozen=True)
class Labelled:
    name: str
    family: str
    keep: bool
    features: dict[str, float]


@dataclass(frozen=True)
class Fit:
    """log-odds of keep = intercept + sum of coefficient x feature."""

    intercept: float
    coefficients: dict[str, float]

    def log_odds(self, features: dict[str, float]) -> float:
        return self.intercept + sum(slope * features[name] for name, slope in self.coefficients.items())


def fit(clips: Sequence[Labelled], penalty: float = PENALTY) -> Fit:
    """Logistic regression with both labels weighing the same, by Newton's method on standardised features.

    Raises:
        ValueError: clips of only one label.
    """
    keep = np.array([clip.keep for clip in clips], float)
    if not 0 < keep.sum() < len(keep):
        raise ValueError("to fit the filter takes clips to keep and clips to drop, and one kind is missing")
    told = np.array([[clip.features[name] for name in INPUTS] for clip in clips])
    middle, spread = told.mean(axis=0), told.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(told)), (told - middle) / spread])
    weight = np.where(keep == 1, 0.5 / keep.mean(), 0.5 / (1 - keep.mean()))
    ridge = np.diag([0.0] + [penalty] * len(INPUTS))
    slopes = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ slopes))
        slope = design.T @ (weight * (keep - chance)) - ridge @ slopes
        curve = (design * (weight * chance * (1 - chance))[:, None]).T @ design + ridge
        slopes = slopes + np.linalg.solve(curve + 1e-9 * np.eye(len(slopes)), slope)
    plain = slopes[1:] / spread
    return Fit(float(slopes[0] - plain @ middle), {name: float(value) for name, value in zip(INPUTS, plain, strict=True)})


def left_out(clips: Sequence[Labelled], penalty: float = PENALTY) -> list[float]:
    """Log-odds of each clip by the fit on the clips of all other families."""
    fits = {family: fit([clip for clip in clips if clip.family != family], penalty) for family in {clip.family for clip in clips}}
    return [fits[clip.family].log_odds(clip.features) for clip in clips]


def read_folder(folder: Path) -> list[Labelled]:
    """Measure `folder/keep/*.mp4` and `folder/drop/*.mp4`."""
    files = [(label, mp4) for label in ("keep", "drop") for mp4 in sorted((folder / label).glob("*.mp4"))]
    return [Labelled(mp4.name, mp4.stem, label == "keep", measure(mp4)) for label, mp4 in files]


def draw_and_measure(variants: int) -> list[Labelled]:
    """Draw specimens, `variants` of each drawer, and measure them; a drawer is a family."""
    return [
        Labelled(f"{name}_{variant}", name, label == "keep", measure_pictures(pictures(drawer, seed_of(name, variant)), FRAMES))
        for label, named in drawers().items()
        for name, drawer in named.items()
        for variant in range(variants)
    ]


def in_words(clips: Sequence[Labelled]) -> str:
    """The settings as YAML, and what is known of how good they are."""
    found, odds = fit(clips), left_out(clips)
    lines = ["filter:", f"  intercept: {found.intercept:.3f}", "  coefficients:"]
    lines += [f"    {name}: {slope:.3f}" for name, slope in found.coefficients.items()]
    lines += ["  typical:", *(f"    {name}: {value:.3f}" for name, value in typical(clips).items())]
    right = [(value > 0) == clip.keep for clip, value in zip(clips, odds, strict=True)]
    for label, wanted in (("keep", True), ("drop", False)):
        ours = [hit for hit, clip in zip(right, clips, strict=True) if clip.keep == wanted]
        lines.append(f"# {label}: {sum(ours)} of {len(ours)} right by a fit on the other families")
    lines += [f"# wrong: {clip.name}" for hit, clip in zip(right, clips, strict=True) if not hit]
    return "\n".join(lines)


def typical(clips: Sequence[Labelled]) -> dict[str, float]:
    """Median features of the clips to keep."""
    return {name: float(np.median([clip.features[name] for clip in clips if clip.keep])) for name in INPUTS}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m codecap.filtering.fit", description="Find the content filter's coefficients.")
    parser.add_argument("folder", nargs="?", type=Path, help="has keep/*.mp4 and drop/*.mp4, canonical clips")
    parser.add_argument("--drawn", action="store_true", help="use the drawn specimens")
    parser.add_argument("--variants", type=int, default=3, help="specimens of each drawer")
    told = parser.parse_args(arguments)
    if (told.folder is None) != told.drawn:
        parser.error("give either a FOLDER or --drawn")
    print(in_words(draw_and_measure(told.variants) if told.drawn else read_folder(told.folder)))


if __name__ == "__main__":
    main()
