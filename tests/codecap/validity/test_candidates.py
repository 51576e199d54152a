"""Openings and damaged videos: what they hold, and that none is made twice."""

from __future__ import annotations

import pytest

from codecap import store
from codecap.validity import candidates, wording
from codecap.validity.damages import DAMAGES
from codecap.video import probe, read_frames

from .conftest import number_of


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(candidates, "OPENING_S", 1.0)


def test_an_opening_has_what_it_shows(clip, annotation, tmp_path):
    opening, of_it = candidates.opening(clip, annotation, tmp_path)
    assert (opening.clip_id, opening.frames, probe(opening.mp4).frames) == ("T_001", 24, 24)
    assert opening.sha256 != clip.sha256
    assert [number_of(rgb) for _, rgb in read_frames(opening.mp4)] == list(range(24))
    assert [(item.name, len(item.boxes_xyxy)) for item in of_it.objects] == [("red", 24)]  # the blue one comes later
    assert [(point.focal_id, point.start_s, point.end_s) for point in of_it.focal_points] == [
        ("early", 0, 1)
    ]  # "short" has 0.2 s left


def test_the_same_again_is_taken_from_the_store(clip, annotation, tmp_path, monkeypatch):
    monkeypatch.setattr(candidates, "DAMAGES", {name: DAMAGES[name] for name in ("shift", "text", "frozen")})
    opening = candidates.opening(clip, annotation, tmp_path)
    first = list(candidates.damaged(*opening, tmp_path))
    assert [row.system for row in first] == [
        "unchanged",
        *(f"shift-{share}" for share in ("0.01", "0.02", "0.04", "0.08", "0.16")),
        *(f"frozen-{share}" for share in ("0.25", "0.5", "0.75", "1")),
    ]
    assert len(first) == candidates.count(*opening)
    assert first[-1].certificate.unique_frame_ratio == pytest.approx(1 / 24)
    made = len(list(store.made(tmp_path)))
    assert list(candidates.damaged(*candidates.opening(clip, annotation, tmp_path), tmp_path)) == first
    assert len(list(store.made(tmp_path))) == made == 11
    assert candidates.why_unfit(*opening, DAMAGES["text"]) == "it shows no words"


PAGE = """<!doctype html><style>body { margin: 0; background: #fff }</style><canvas id="c" width="64" height="32"></canvas><script>
const c = document.getElementById("c").getContext("2d");
window.drawn = [];
const draw = c.fillText;
window.seek = t => { c.clearRect(0, 0, 64, 32); c.font = "20px sans-serif"; c.fillText("Hill 42", 2, 24); };
window.seek(0);
</script>"""


def test_words_are_drawn_with_other_letters(clip, tmp_path):
    """A share of none leaves every word, a share of all none; the real demo pages are drawn in the study itself."""
    (tmp_path / "T_001.html").write_text(PAGE)
    assert wording.shows_words("T_001", tmp_path) and not wording.shows_words("T_002", tmp_path)
    small = clip.model_copy(update={"frames": 2, "width_px": 64, "height_px": 32})
    pictures = {}
    for share in (0.0, 1.0):
        made = wording.draw(small, share, tmp_path / f"{share:g}.mp4", tmp_path)
        assert made.frames == 2 and not made.console_errors
        [pictures[share], _] = [rgb.astype(int) for _, rgb in read_frames(tmp_path / f"{share:g}.mp4")]
    assert (pictures[0.0] < 128).any()
    changed = abs(pictures[0.0] - pictures[1.0]).max(axis=2) > 100
    assert changed.sum() > 20
    asked = wording.worded(PAGE, 1.0)
    assert asked.index("const WRONG_SHARE = 1.0;") < asked.index("window.seek")
