"""Which focal points of which renders people see, and in which order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from codecap.errors import UserError
from codecap.humans.material import Material
from codecap.records import CATEGORIES, FocalPoint


@dataclass(frozen=True)
class Drawn:
    """One item: a focal point of one render."""

    system: str
    clip_id: str
    point: FocalPoint


@dataclass(frozen=True)
class Draw:
    """The items in their order, the clips of each category, and the (system, clip) pairs without a video to look at."""

    items: list[Drawn]
    clips: dict[str, list[str]]
    without_video: list[tuple[str, str]]


def choose_systems(material: Material, names: Sequence[str] | None) -> list[str]:
    """The systems named; without names all that are neither floor nor ceiling.

    Raises:
        UserError: one is not in the configuration, or is named twice.
    """
    if not names:
        names = [name for name, entry in material.systems.items() if entry.get("role", "system") == "system"]
    known = ", ".join(material.systems) or "none"
    for name in names:
        if name not in material.systems:
            raise UserError(f"--systems: no system {name!r} takes part in this run; there are {known}")
    if len(set(names)) < len(names):
        raise UserError("--systems: a system is named twice")
    if not names:
        raise UserError(f"the run has no system but floors and ceilings; name some with --systems: {known}")
    return list(names)


def draw(material: Material, systems: Sequence[str], per_category: int, seed: int, together: bool = False) -> Draw:
    """Draw clips of each category, and shuffle what there is to see of them.

    Args:
        per_category: clips of a category, among those with focal points and at least one video; all, where there are fewer.
        together: keep the points of one render together; the renders, and the points of each, are still shuffled.

    Raises:
        UserError: there is nothing to see.
    """
    generator = random.Random(seed)
    fit: dict[str, list[str]] = defaultdict(list)
    for clip_id in sorted(material.points):
        if any(material.shows(system, clip_id) for system in systems):
            fit[material.clips[clip_id].category].append(clip_id)
    clips = {
        category: sorted(generator.sample(fit[category], min(per_category, len(fit[category]))))
        for category in CATEGORIES
        if fit.get(category)
    }
    pairs = [(system, clip_id) for held in clips.values() for clip_id in held for system in sorted(systems)]
    renders = [pair for pair in pairs if material.shows(*pair)]
    if not renders:
        raise UserError(f"no clip with focal points has a video of {', '.join(systems)}: nothing can be scored")
    generator.shuffle(renders)
    items = []
    for system, clip_id in renders:
        points = [material.points[clip_id][name] for name in sorted(material.points[clip_id])]
        generator.shuffle(points)
        items += [Drawn(system, clip_id, point) for point in points]
    if not together:
        generator.shuffle(items)
    return Draw(items, clips, [pair for pair in pairs if not material.shows(*pair)])
