"""What a question about focal points shows: worked out by hand from the grid and the interval."""

import re

import pytest

from codecap.exchange import Endpoint, Picture, Text
from codecap.records import Clip, FocalPoint
from codecap.score.asking.focal import Material, lay_out, question
from codecap.score.asking.segments import blank_video
from codecap.showing import prompts
from codecap.showing.album import BlankAlbum
from codecap.showing.showing import Showing


def clip(frames: int = 96) -> Clip:
    return Clip(clip_id="T_001", category="F", mp4="none.mp4", sha256="0", frames=frames, width_px=640, height_px=360)


def point(start_s: float, end_s: float, focal_id: str = "p") -> FocalPoint:
    return FocalPoint(focal_id=focal_id, kind="dynamic", description="it moves", start_s=start_s, end_s=end_s)


def showing(**told) -> Showing:
    return Showing(endpoint=Endpoint(api="openai", model="m", **told))


def frames_of(sheets) -> list[int]:
    return [frame for sheet in sheets for frame in sheet.frames]


def test_the_grid_and_both_ends():
    """Four seconds at 2 fps: 0, 12, ... 84. The interval from 1.2 s to 2.3 s is on screen in frames 28 to 55."""
    laid = lay_out([point(1.2, 2.3)], clip(), showing())
    assert frames_of(laid.render) == [0, 12, 24, 36, 48, 60, 72, 84]
    assert frames_of(laid.reference) == [28, 36, 48, 55]
    assert frames_of(laid.render_ends) == [28, 55]
    assert laid.spans == (range(28, 56),)


def test_ends_on_the_grid_are_shown_once():
    laid = lay_out([point(1.0, 2.0 + 1 / 24)], clip(), showing())
    assert frames_of(laid.reference) == [24, 36, 48]
    assert frames_of(laid.render_ends) == []


def test_an_interval_between_two_frames_of_the_grid():
    laid = lay_out([point(1.05, 1.10)], clip(), showing())
    assert frames_of(laid.reference) == frames_of(laid.render_ends) == [25, 26]


def test_an_interval_beyond_the_end_is_kept_inside():
    laid = lay_out([point(3.9, 9.0)], clip(), showing())
    assert frames_of(laid.reference) == [93, 95]
    assert frames_of(lay_out([point(30.0, 31.0)], clip(), showing()).reference) == [95]


def test_several_points_share_what_they_show():
    laid = lay_out([point(0.0, 1.0), point(0.5, 1.5), point(3.0, 3.5)], clip(), showing())
    assert frames_of(laid.reference) == [0, 12, 23, 24, 35, 72, 83]
    assert frames_of(laid.render_ends) == [23, 35, 83]


def test_above_the_limit_grids_keep_every_frame_and_tell_its_time():
    """Eight, four and two frames in six pictures: two tiles would need seven, three need three, two and one."""
    settings = showing(images=6)
    laid = lay_out([point(1.2, 2.3)], clip(), settings)
    assert [len(sheet.frames) for sheet in laid.render] == [3, 3, 2]
    assert [len(sheet.frames) for sheet in laid.reference] == [2, 2]
    assert [len(sheet.frames) for sheet in laid.render_ends] == [2]
    asked = question(laid, clip(), settings, Material(BlankAlbum(), BlankAlbum()))
    assert len(asked.media) == 6
    told = [part.text for part, after in zip(asked.parts, asked.parts[1:], strict=False) if isinstance(after, Picture)]
    assert told[0] == ("Render, grid, 1 across and 3 down, from left to right, then from top to bottom: 0.000 s, 0.500 s, 1.000 s")
    times = [float(time) for text in told for time in re.findall(r"([\d.]+) s", text)]
    assert times == pytest.approx([frame / 24 for frame in [0, 12, 24, 36, 48, 60, 72, 84, 28, 36, 48, 55, 28, 55]], abs=5e-4)


def test_what_all_questions_of_a_clip_share_comes_first():
    settings = showing()
    material = Material(BlankAlbum(), BlankAlbum())
    first, second = (
        question(lay_out([told], clip(), settings), clip(), settings, material) for told in (point(0, 1), point(1.2, 2.3))
    )
    assert first.system == second.system
    assert first.parts[:17] == second.parts[:17]  # the render's words, and eight frames with theirs


def test_videos_come_with_single_frames_of_both_ends():
    settings = showing(video=True)
    laid = lay_out([point(1.2, 2.3)], clip(), settings)
    material = Material(BlankAlbum(), BlankAlbum(), lambda span: blank_video(span, 2), blank_video(range(96), 2))
    asked = question(laid, clip(), settings, material)
    assert [type(part).__name__ for part in asked.parts if not isinstance(part, Text)] == ["Video"] * 2 + ["Picture"] * 4
    assert [part.seconds for part in asked.media[:2]] == [4.0, pytest.approx(28 / 24)]
    assert [sheet.frames for sheet in (*laid.reference_ends, *laid.render_ends)] == [(28,), (55,)] * 2


def test_the_criteria_are_in_the_system_prompt_and_every_name_is_filled_in():
    settings = showing()
    asked = question(
        lay_out([point(1.2, 2.3)], clip(), settings),
        clip(),
        settings,
        Material(BlankAlbum(), BlankAlbum()),
    )
    texts = [asked.system, *(part.text for part in asked.parts if isinstance(part, Text))]
    assert not any("$" in text for text in texts)
    assert prompts.load("retention_judge.md").sections["criteria"] in asked.system
    assert all(f"\n{score}: " in asked.system for score in range(6))


def test_another_word_is_another_digest(tmp_path):
    (tmp_path / "a.md").write_text("Notes.\n\n## system\nSay $what.\n\n## task\nDo it.\n")
    first = prompts.load("a.md", tmp_path)
    assert first.say("system", what="$task") == "Say $task."
    assert first.sections["task"] == "Do it."
    (tmp_path / "b.md").write_text("Notes.\n\n## system\nSay $what!\n\n## task\nDo it.\n")
    assert prompts.load("b.md", tmp_path).digest != first.digest
