"""The committed demo data agree with one another, and with what an eye sees in the clips; the builder measures what it says."""

from __future__ import annotations

import dataclasses
import json
import shutil
import statistics
from pathlib import Path

import cv2
import numpy as np
import pytest

from codecap import clips_table, demo, records, video
from codecap.records import Annotation
from codecap.render.browser import find_browser
from codecap.render.failures import BrowserMissing

FOLDER = Path(__file__).parents[2] / "resources" / "demo"
TABLE = FOLDER / "clips.tsv"
CLIPS = {clip.clip_id: clip for clip in clips_table.read_clips(TABLE)} if TABLE.exists() else {}
each_clip = pytest.mark.parametrize("name", sorted(CLIPS))


def annotation_of(name: str) -> Annotation:
    return records.read_record(FOLDER / "annotations" / f"{name}.json", Annotation)


def test_there_are_five_clips_one_a_category_and_two_negatives():
    assert sorted(clip.category for clip in CLIPS.values()) == ["A", "B", "C", "E", "F"]
    negatives = sorted(mp4.stem for mp4 in (FOLDER / "clips").glob("*.mp4") if mp4.stem not in CLIPS)
    assert negatives == ["N_001", "N_002"]
    assert all(demo.read_focus(FOLDER, name) is None for name in negatives)
    assert demo.page_names(FOLDER) == sorted([*CLIPS, *negatives])


def test_all_demo_data_stay_under_eight_megabytes():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 8e6


@each_clip
def test_table_truth_annotation_and_clip_agree(name: str):
    clip, truth, annotation = CLIPS[name], demo.read_truth(FOLDER, name), annotation_of(name)
    info = video.probe(clip.mp4)
    assert video.file_sha256(clip.mp4) == clip.sha256
    assert (info.frames, info.width_px, info.height_px) == (clip.frames, clip.width_px, clip.height_px)
    assert (info.frames, info.width_px, info.height_px) == (truth.frames, truth.width_px, truth.height_px)
    assert 4 <= info.duration_s <= 8
    assert sum(1 for _ in video.decode(clip.mp4)) == clip.frames
    assert truth.clip_id == annotation.clip_id == name
    assert [item.name for item in annotation.objects] == [item.name for item in truth.objects]
    for said, known in zip(annotation.objects, truth.objects, strict=True):
        assert said.boxes_xyxy == known.visible_xyxy
        assert said.amodal_xyxy == known.amodal_xyxy


@each_clip
def test_annotation_is_its_focus_file_joined_with_the_truth(name: str):
    focus, truth, annotation = demo.read_focus(FOLDER, name), demo.read_truth(FOLDER, name), annotation_of(name)
    assert annotation.focal_points == focus.focal_points
    assert [(item.name, item.description) for item in annotation.objects] == [
        (item.name, item.description) for item in focus.objects
    ]
    assert [(item.name, item.rigid, item.twins) for item in truth.objects] == [
        (item.name, item.rigid, item.twins) for item in focus.objects
    ]


@each_clip
def test_boxes_lie_in_the_picture_and_only_where_the_object_is_said_to_be_visible(name: str):
    clip = CLIPS[name]
    for item in annotation_of(name).objects:
        assert len(item.boxes_xyxy) == len(item.amodal_xyxy) == clip.frames
        for frame, (visible, amodal) in enumerate(zip(item.boxes_xyxy, item.amodal_xyxy, strict=True)):
            inside = any(start_s - 1e-9 <= frame / 24 < end_s - 1e-9 for start_s, end_s in item.visible_s)
            assert (visible is not None) == inside
            if visible is None:
                continue
            x0, y0, x1, y1 = visible
            assert 0 <= x0 < x1 <= clip.width_px and 0 <= y0 < y1 <= clip.height_px
            assert amodal[0] <= x0 and amodal[1] <= y0 and amodal[2] >= x1 and amodal[3] >= y1


@each_clip
def test_annotation_has_the_promised_objects_and_focal_points(name: str):
    clip, annotation = CLIPS[name], annotation_of(name)
    names = {item.name for item in annotation.objects}
    assert 3 <= len(names) <= 8
    assert 4 <= len(annotation.focal_points) <= 10
    assert {point.kind for point in annotation.focal_points} == {"static", "dynamic"}
    for point in annotation.focal_points:
        assert point.end_s <= clip.frames / 24
        assert set(point.objects) <= names
        for item in annotation.objects:
            if item.name in point.objects:  # what a point speaks of can be seen at some time while it lasts
                assert any(start_s < point.end_s and end_s > point.start_s for start_s, end_s in item.visible_s)


def test_half_of_the_focal_points_last_under_two_seconds():
    lengths = [point.end_s - point.start_s for name in CLIPS for point in annotation_of(name).focal_points]
    assert statistics.median(lengths) < 2


@each_clip
def test_rigid_objects_keep_their_size_and_twins_are_mutual(name: str):
    truth = demo.read_truth(FOLDER, name)
    twins = {item.name: set(item.twins) for item in truth.objects}
    for item in truth.objects:
        assert all(item.name in twins[other] and other != item.name for other in item.twins)
        if item.rigid:  # half a pixel of position moves either edge of a mask by one pixel
            sizes = np.array([(box[2] - box[0], box[3] - box[1]) for box in item.amodal_xyxy if box])
            assert np.ptp(sizes, axis=0).max() <= 2


@each_clip
def test_two_objects_or_more_are_fit_to_test_a_segmenter_on(name: str):
    """Rigid, of 24 px and more, overlapped by nothing in any frame, and without a look-alike."""
    truth = demo.read_truth(FOLDER, name)
    fit = []
    for item in truth.objects:
        boxes = [(seen, whole) for seen, whole in zip(item.visible_xyxy, item.amodal_xyxy, strict=True) if seen]
        in_picture = [
            (seen, (x0, y0, x1, y1))
            for seen, (x0, y0, x1, y1) in boxes
            if x0 >= 0 and y0 >= 0 and x1 <= truth.width_px and y1 <= truth.height_px
        ]
        free = len(in_picture) > 24 and all(seen == whole for seen, whole in in_picture)
        large = all(min(x1 - x0, y1 - y0) >= 24 for _, (x0, y0, x1, y1) in boxes)
        if item.rigid and not item.twins and free and large:
            fit.append(item.name)
    assert len(fit) >= 2, fit


@each_clip
def test_every_frame_differs_from_the_one_before(name: str):
    before = None
    for frame, picture in video.decode(CLIPS[name].mp4):
        luma = picture.to_ndarray()[: picture.height]  # the Y plane of yuv420p
        if before is not None:
            assert np.count_nonzero(cv2.absdiff(luma, before) > 16) > 50, f"frame {frame}"
        before = luma


# An object of one colour that nothing else in its clip has: where that colour is, there the box must be.
UNIQUE = [
    ("A_001", "boat", (123, 47, 242)),
    ("E_001", "cove", (106, 75, 216)),
    ("F_001", "spark", (215, 255, 74)),
]


@pytest.mark.parametrize(("name", "item", "colour"), UNIQUE)
def test_boxes_are_where_the_colour_is(name: str, item: str, colour: tuple[int, int, int]):
    truth = next(known for known in demo.read_truth(FOLDER, name).objects if known.name == item)
    for frame, rgb in video.read_frames(CLIPS[name].mp4):
        if frame % 12:
            continue
        ys, xs = np.nonzero(np.abs(rgb.astype(int) - colour).max(axis=2) < 30)
        seen = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
        said = np.array(truth.visible_xyxy[frame])
        # rims of another colour are 2 px wide, and subsampled colour blurs the last pixels
        assert np.abs(seen - said).max() <= 4, f"frame {frame}: {seen} against {said}"


def test_visible_intervals_end_when_the_first_frame_without_a_box_is_shown():
    box = (0.0, 0.0, 1.0, 1.0)
    assert demo.visible_intervals([None] * 12 + [box] * 12 + [None] * 24 + [box]) == [(0.5, 1.0), (2.0, 49 / 24)]
    assert demo.visible_intervals([None, None]) == []


def test_focus_that_names_an_unknown_object_is_refused(tmp_path: Path):
    (tmp_path / "pages").mkdir()
    focus = json.loads((FOLDER / "pages" / "A_001.focus.json").read_text(encoding="utf-8"))
    focus["objects"][0]["twins"] = ["nobody"]
    (tmp_path / "pages" / "A_001.focus.json").write_text(json.dumps(focus), encoding="utf-8")
    with pytest.raises(records.RecordError, match=r"A_001\.focus\.json.*nobody"):
        demo.read_focus(tmp_path, "A_001")


def test_unknown_page_is_named_with_those_there_are():
    with pytest.raises(demo.DemoError, match=r"no page for Z_001; there are A_001, B_001"):
        demo.build(FOLDER, ["Z_001"])


# ---- with a browser


@pytest.fixture(scope="module")
def browser() -> Path:
    try:
        return find_browser()
    except BrowserMissing as error:
        pytest.skip(str(error))


SQUARES = """<!doctype html><body style="margin:0"><canvas id=c width=100 height=60 style="display:block"></canvas><script>
window.SIZE = [100, 60]; window.DURATION_S = SECONDS;
const fill = (c, colour, ...box) => { c.fillStyle = colour; c.fillRect(...box); };
window.LAYERS = [
  { name: null, draw: c => fill(c, "white", 0, 0, 100, 60) },
  { name: "under", draw: c => fill(c, "red", 10, 10, 20, 20) },
  { name: "cut", clip: c => { c.beginPath(); c.rect(0, 40, 100, 10); c.clip(); }, draw: c => fill(c, "lime", 70, 30, 20, 40) },
  { name: "mover", draw: (c, t) => {
    fill(c, "rgba(0, 0, 0, .4)", 240 * t + 16, 10, 8, 20);
    fill(c, "blue", 240 * t - 6, 10, 22, 20);
  } },
  { name: "sliver", draw: c => fill(c, "black", 50, 0, 3, 5) },
];
const context = document.getElementById("c").getContext("2d");
window.seek = t => {
  for (const l of window.LAYERS) { context.save(); l.clip?.(context, t); l.draw(context, t); context.restore(); }
};
</script>"""


@pytest.fixture
def squares(tmp_path: Path) -> Path:
    pages = tmp_path / "pages"
    pages.mkdir()
    shutil.copy(FOLDER / "pages" / "boxes.js", pages)
    (pages / "F_009.html").write_text(SQUARES.replace("SECONDS", "3 / 24"), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_boxes_of_squares_are_those_worked_out_by_hand(squares: Path, browser: Path):
    with demo.open_browser(browser) as chromium:
        mp4 = squares / "squares.mp4"
        boxes = demo.render_page(chromium, squares / "pages" / "F_009.html", mp4)
        assert video.probe(mp4) == video.VideoInfo(frames=3, width_px=100, height_px=60)
        without = squares / "without.mp4"
        demo.render_page(chromium, squares / "pages" / "F_009.html", without, without=["mover"])
    # the mover comes in from the left at 10 px a frame; its shadow is less than half opaque and counts for nothing
    assert boxes["mover"]["visible_xyxy"] == [(0, 10, 16, 30), (4, 10, 26, 30), (14, 10, 36, 30)]
    assert boxes["mover"]["amodal_xyxy"] == [(-6, 10, 16, 30), (4, 10, 26, 30), (14, 10, 36, 30)]
    assert boxes["under"]["visible_xyxy"] == [(16, 10, 30, 30), (26, 10, 30, 30), (10, 10, 14, 30)]
    assert boxes["under"]["amodal_xyxy"] == [(10, 10, 30, 30)] * 3
    assert boxes["cut"]["visible_xyxy"] == [(70, 40, 90, 50)] * 3
    assert boxes["cut"]["amodal_xyxy"] == [(70, 30, 90, 70)] * 3
    assert boxes["sliver"]["visible_xyxy"] == [None] * 3  # 15 pixels, one too few
    with_it, without_it = (next(rgb for _, rgb in video.read_frames(path))[20, 5] for path in (mp4, without))
    assert np.abs(with_it.astype(int) - (0, 0, 255)).max() < 12
    assert np.abs(without_it.astype(int) - (255, 255, 255)).max() < 12


@pytest.mark.slow
def test_page_that_breaks_the_contract_is_named(squares: Path, browser: Path):
    page = squares / "pages" / "F_009.html"
    with demo.open_browser(browser) as chromium:
        page.write_text(SQUARES.replace("SECONDS", "0.11"), encoding="utf-8")
        with pytest.raises(demo.DemoError, match=r"F_009\.html: DURATION_S 0\.11 is no whole number of frames"):
            demo.render_page(chromium, page, squares / "a.mp4")
        page.write_text("<p>nothing here</p>", encoding="utf-8")
        with pytest.raises(demo.DemoError, match=r"F_009\.html: has no SIZE, DURATION_S or seek"):
            demo.render_page(chromium, page, squares / "a.mp4")
        page.write_text(SQUARES.replace("SECONDS", "1").replace("window.seek = t => {", "window.seek = t => { oops;"))
        with pytest.raises(demo.DemoError, match=r"F_009\.html: seek\(0\.000\) failed.*oops"):
            demo.render_page(chromium, page, squares / "a.mp4")
    assert not list(squares.glob("*.mp4*")) and not list(squares.glob(".*"))


@pytest.mark.slow
def test_build_writes_clip_truth_annotation_and_table(squares: Path, browser: Path):
    focus = demo.Focus(
        clip_id="F_009",
        objects=[demo.FocusObject(name="mover", description="Blue square", rigid=True)],
        focal_points=[records.FocalPoint(focal_id="p", kind="dynamic", description="It moves", start_s=0, end_s=0.1)],
        reviews=[records.Review(who="a test", when="today", changed="all")],
    )
    records.write_record(squares / "pages" / "F_009.focus.json", focus)
    assert demo.build(squares, browser=browser) == [squares / "clips" / "F_009.mp4"]
    [clip] = clips_table.read_clips(squares / "clips.tsv")
    assert (clip.clip_id, clip.category, clip.frames, clip.licence) == ("F_009", "F", 3, "MIT")
    assert demo.read_truth(squares, "F_009").objects[0].visible_xyxy[2] == (14, 10, 36, 30)
    annotation = records.read_record(squares / "annotations" / "F_009.json", Annotation)
    assert annotation.objects[0].visible_s == [(0.0, 0.125)]
    assert annotation.focal_points == focus.focal_points and annotation.reviews == focus.reviews
    late = focus.focal_points[0].model_copy(update={"end_s": 1.0})
    records.write_record(squares / "pages" / "F_009.focus.json", focus.model_copy(update={"focal_points": [late]}))
    with pytest.raises(demo.DemoError, match=r"F_009: focal point p ends after the clip \(0\.125 s\)"):
        demo.build(squares, browser=browser)


@pytest.mark.slow
def test_a_page_rendered_again_gives_the_same_frames_and_the_same_boxes(tmp_path: Path, browser: Path, monkeypatch):
    as_committed = dataclasses.replace(video.CODECS["h264_small"], rate=("crf", 16), params="")  # how the demo's clips were encoded
    monkeypatch.setitem(video.CODECS, "h264_small", as_committed)
    name, frames = "B_001", 30  # it draws no text, so the machine's fonts do not matter; a page knows nothing of its end
    page, whole = tmp_path / "page.html", (FOLDER / "pages" / f"{name}.html").read_text(encoding="utf-8")
    assert whole.count("window.DURATION_S = 6.5;") == 1
    page.write_text(whole.replace("window.DURATION_S = 6.5;", f"window.DURATION_S = {frames} / 24;"), encoding="utf-8")
    shutil.copy(FOLDER / "pages" / "boxes.js", tmp_path)
    with demo.open_browser(browser) as chromium:
        boxes = demo.render_page(chromium, page, tmp_path / "again.mp4")
    for item in demo.read_truth(FOLDER, name).objects:
        assert boxes[item.name] == {"visible_xyxy": item.visible_xyxy[:frames], "amodal_xyxy": item.amodal_xyxy[:frames]}
    again, committed = video.read_frames(tmp_path / "again.mp4"), video.read_frames(CLIPS[name].mp4, 0, frames)
    differences = [np.abs(new.astype(int) - old).mean() for (_, new), (_, old) in zip(again, committed, strict=True)]
    assert len(differences) == frames and max(differences) < 1
