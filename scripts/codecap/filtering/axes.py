"""The features that the scorecard weighs: to which axis each belongs, which way it may speak, and how it is said in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Axis = Literal["scene geometry", "appearance", "motion structure"]
AXES: tuple[Axis, ...] = ("scene geometry", "appearance", "motion structure")


@dataclass(frozen=True)
class Feature:
    """
    Attributes:
        sign: 1 when more of it may only speak for structured 2D content, -1 when it may only speak against it.
        words: what is said of it; `{}` is the number.
        unit: how its number is said: a share, the square of which one takes, a power of two, or a plain number.
    """

    name: str
    axis: Axis
    sign: Literal[-1, 1]
    words: str
    unit: Literal["share", "root", "log2", "plain"] = "share"

    def number(self, value: float) -> str:
        """
        >>> INPUTS["root_sheared"].number(0.5), INPUTS["log2_colours"].number(5.0), INPUTS["noise_levels"].number(1.26)
        ('25 %', '32', '1.3')
        """
        if self.unit == "log2":
            return f"{2**value:.0f}"
        if self.unit == "plain":
            return f"{value:.1f}"
        return f"{100 * (value**2 if self.unit == 'root' else value):.0f} %"

    def said(self, value: float) -> str:
        return self.words.format(self.number(value))


INPUTS: dict[str, Feature] = {
    feature.name: feature
    for feature in (
        Feature("root_sheared", "scene geometry", -1, "{} of it is sheared, as by depth or by turning, while it moves", "root"),
        Feature("flat_share", "appearance", 1, "{} of it is flat"),
        Feature("edge_share", "appearance", 1, "{} of its gradient is on the steepest 5 % of it"),
        Feature("log2_colours", "appearance", -1, "{} colours cover 95 % of it", "log2"),
        Feature("texture_share", "appearance", -1, "{} of it is texture"),
        Feature("noise_levels", "appearance", -1, "its noise is {} grey levels", "plain"),
        Feature("changing_soft", "motion structure", -1, "{} of it is soft texture that changes"),
        Feature("textured_change", "motion structure", -1, "{} of what changes is texture"),
        Feature("lost_share", "motion structure", -1, "in {} of it points cannot be followed"),
        Feature("rigid_share", "motion structure", 1, "three rigid motions explain {} of what moves"),
        Feature("log2_vectors", "motion structure", -1, "{} different movements at once", "log2"),
    )
}
