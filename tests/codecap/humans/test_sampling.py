"""Which items are drawn, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.errors import UserError
from codecap.humans.material import Material
from codecap.humans.sampling import choose_systems, draw
from codecap.records import Clip, FocalPoint, Outcome, Render


def big_run(systems: tuple[str, ...] = ("a", "b"), per_category: int = 30, points: int = 4) -> Material:
    """Clips of three categories, without files: drawing reads none."""
    names = [f"{category}_{number:03d}" for category in "ABE" for number in range(per_category)]
    clips = {
        name: Clip(clip_id=name, category=name[0], mp4=Path("x"), sha256="0", frames=48, width_px=64, height_px=48)
        for name in names
    }
    told = {
        name: {
            f"f{i}": FocalPoint(focal_id=f"f{i}", kind="static", description="it", start_s=0, end_s=1) for i in range(points)
        }
        for name in names
    }  # fmt: skip
    renders = {
        (system, name): Render(system=system, clip_id=name, key="k", outcome=Outcome.OK, mp4=Path("y"))
        for system in systems
        for name in names
    }
    return Material({system: {} for system in systems}, clips, told, renders)


def places(drawn) -> list[tuple[str, str, str]]:
    return [(item.system, item.clip_id, item.point.focal_id) for item in drawn.items]


def test_ten_clips_of_each_category_with_all_points_of_all_systems():
    drawn = draw(big_run(), ["a", "b"], 10, seed=1)
    assert {category: len(clips) for category, clips in drawn.clips.items()} == {"A": 10, "B": 10, "E": 10}
    assert len(places(drawn)) == len(set(places(drawn))) == 3 * 10 * 2 * 4
    assert {clip_id for _, clip_id, _ in places(drawn)} == {clip for clips in drawn.clips.values() for clip in clips}


def test_the_order_says_nothing_of_the_system():
    """Both systems are spread over the whole sheet: in each quarter of 480 items, about half are of either."""
    for together in (False, True):
        systems = [system for system, _, _ in places(draw(big_run(), ["a", "b"], 20, seed=3, together=together))]
        for quarter in range(4):
            part = systems[quarter * 120 : (quarter + 1) * 120]
            assert 0.3 < part.count("a") / len(part) < 0.7


def test_a_seed_gives_one_sheet_and_another_seed_another():
    run = big_run()
    assert places(draw(run, ["a", "b"], 10, seed=1)) == places(draw(run, ["b", "a"], 10, seed=1))
    assert places(draw(run, ["a", "b"], 10, seed=1)) != places(draw(run, ["a", "b"], 10, seed=2))


def test_points_of_a_render_stay_together_when_asked_for():
    kept = [place[:2] for place in places(draw(big_run(), ["a", "b"], 10, seed=1, together=True))]
    assert all(len(set(kept[i : i + 4])) == 1 for i in range(0, len(kept), 4))
    apart = [place[:2] for place in places(draw(big_run(), ["a", "b"], 10, seed=1))]
    assert not all(len(set(apart[i : i + 4])) == 1 for i in range(0, len(apart), 4))


def test_what_has_no_video_is_left_out_and_told(material):
    drawn = draw(material, ["zebrafinch", "nightjar"], 10, seed=0)
    assert drawn.without_video == [("nightjar", "B_one")]
    assert len(drawn.items) == (3 + 2) * 2
    with pytest.raises(UserError, match="no clip with focal points has a video of b"):
        run = big_run()
        draw(Material(run.systems, run.clips, run.points, {}), ["b"], 10, seed=0)


def test_a_salvaged_page_is_a_failure_not_a_render_to_score():
    run = big_run(systems=("a",), per_category=1)
    late = {place: render.model_copy(update={"salvaged": True}) for place, render in run.renders.items()}
    assert not Material(run.systems, run.clips, run.points, late).shows("a", "A_000")


def test_systems_are_those_named_or_all_but_floors_and_ceilings(material):
    assert choose_systems(material, None) == ["zebrafinch", "nightjar"]
    assert choose_systems(material, ["floorless"]) == ["floorless"]
    with pytest.raises(UserError, match="no system 'zebra' takes part in this run; there are zebrafinch, nightjar, floorless"):
        choose_systems(material, ["zebra"])
    with pytest.raises(UserError, match="named twice"):
        choose_systems(material, ["nightjar", "nightjar"])
