from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from codecap.collect.naming import LONGEST_ID, category_of, clip_id_of, find_videos
from codecap.records import Clip


@pytest.mark.parametrize(
    ("name", "clip_id"),
    [
        ("A_gradio_ui_vfr.gif", "A_gradio_ui_vfr"),
        ("my clip (2).final.mp4", "my-clip-2-final"),
        ("--x--.mp4", "x"),
        ("_hidden_.webm", "hidden_"),
        ("Überblick.webm", "Uberblick"),
    ],
)
def test_the_stem_stays_in_the_id(name, clip_id):
    assert clip_id_of(Path("some/folder") / name) == clip_id


@pytest.mark.parametrize("names", [("动画一.mp4", "动画二.mp4"), ("a" * 90 + "1.mp4", "a" * 90 + "2.mp4"), ("Ж_a.mp4", "Ш_a.mp4")])
def test_names_that_an_id_cannot_hold_stay_apart(names):
    first, second = (clip_id_of(Path(name)) for name in names)
    assert first != second
    for clip_id in (first, second):
        assert len(clip_id) <= LONGEST_ID
        Clip(clip_id=clip_id, category="U", mp4=Path("x.mp4"), sha256="", frames=1, width_px=2, height_px=2)


def test_categories_are_letters_before_an_underscore():
    names = ["A_x.mp4", "F_.gif", "D_x.mp4", "a_x.mp4", "AB_x.mp4", "A.mp4", "_x.mp4"]
    assert [category_of(Path(name)) for name in names] == list("AFUUUUU")


def test_folders_are_walked_one_level(tmp_path):
    for name in ("b.mp4", "a.GIF", "notes.txt", ".draft.mp4", "deeper/c.mp4"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    videos, others = find_videos([tmp_path, tmp_path / "b.mp4", tmp_path / "notes.txt", tmp_path / "gone"])
    assert [path.name for path in videos] == ["a.GIF", "b.mp4", "gone"]
    assert [path.name for path in others] == ["notes.txt"]


def test_webp_and_avif_are_videos_where_they_are_animated(tmp_path):
    pictures = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue")]
    for ending in ("webp", "avif", "WEBP"):
        pictures[0].save(tmp_path / f"still.{ending}")
        pictures[0].save(tmp_path / f"film.{ending}", save_all=True, append_images=pictures[1:], duration=100)
    videos, others = find_videos([tmp_path, tmp_path / "still.webp"])
    assert [path.name for path in videos] == ["film.WEBP", "film.avif", "film.webp"]
    assert [path.name for path in others] == ["still.webp"]
