"""Pages of one's own as a source: rendered once, with the boxes that they know."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codecap.collect import collect_candidates, fetch_shard
from codecap.collect.known_boxes import SUFFIX, annotation_of, keep
from codecap.config import PROJECT
from codecap.records import Clip
from codecap.video import file_sha256

PAGE = """<!doctype html><canvas id="c" width="64" height="48"></canvas><style>body{margin:0}</style><script>
window.SIZE = [64, 48]; window.DURATION_S = 0.25;
window.LAYERS = [
  { name: null, draw: (context) => { context.fillStyle = "white"; context.fillRect(0, 0, 64, 48); } },
  { name: "square", draw: (context, t) => { context.fillStyle = "red"; context.fillRect(8 + 24 * t, 8, 16, 16); } },
];
const context = document.getElementById("c").getContext("2d");
window.seek = (t) => LAYERS.forEach((layer) => layer.draw(context, t));
</script>"""


def clip(name: str, frames: int, sha256: str) -> Clip:
    source = f"{name}.mp4 sha256:{sha256}"
    return Clip(clip_id=name, category="F", mp4=Path("x.mp4"), sha256="0", frames=frames, width_px=64, height_px=48, source=source)


def test_boxes_belong_to_their_video_alone(tmp_path):
    mp4 = tmp_path / "originals" / "mine" / "F_a.mp4"
    mp4.parent.mkdir(parents=True)
    mp4.write_bytes(b"a video")
    box, unseen = (1, 2, 3, 4), [None, None]
    keep(mp4, {"a": {"visible_xyxy": [box, None], "amodal_xyxy": [box, box]}, "b": {"visible_xyxy": unseen, "amodal_xyxy": unseen}})
    (known,) = annotation_of(clip("F_a", 2, file_sha256(mp4)), tmp_path).objects
    assert (known.name, known.boxes_xyxy, known.visible_s) == ("a", [box, None], [(0.0, 1 / 24)])
    assert annotation_of(clip("F_a", 2, "1" * 64), tmp_path) is None
    assert annotation_of(clip("F_a", 3, file_sha256(mp4)), tmp_path) is None
    assert annotation_of(clip("F_b", 2, file_sha256(mp4)), tmp_path) is None


def test_a_page_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.html is not there"):
        collect_candidates({"mine": {"plugin": "page", "pages": [str(tmp_path / "none.html")]}})


@pytest.mark.slow
def test_a_page_is_rendered_once_with_its_boxes(tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "F_square.html").write_text(PAGE)
    (pages / "F_wrong.html").write_text("<!doctype html>")
    sources = {"mine": {"plugin": "page", "pages": [str(pages)], "licence": "MIT"}}
    found = collect_candidates(sources).candidates
    assert [(one.candidate_id, one.category, one.whole) for one in found] == [("F_square", "F", True), ("F_wrong", "F", True)]
    places = tmp_path / "bulk", tmp_path / "durable"
    (lone, _) = fetch_shard(found, sources, *places)
    assert lone.status == "failed" and "`boxes.js` is not beside it" in lone.reason
    shutil.copy(PROJECT / "resources/demo/pages/boxes.js", pages)
    good, wrong = fetch_shard(found, sources, *places)
    assert (good.status, good.path) == ("ok", tmp_path / "bulk/originals/mine/F_square.mp4")
    assert wrong.status == "failed" and "has no SIZE" in wrong.reason
    (square,) = annotation_of(clip("F_square", 6, good.sha256), places[0]).objects
    assert square.boxes_xyxy[0] == pytest.approx((8, 8, 24, 24), abs=1) and good.path.with_suffix(SUFFIX).is_file()
    before = good.path.stat().st_mtime_ns
    assert next(iter(fetch_shard(found, sources, *places))) == good and good.path.stat().st_mtime_ns == before
