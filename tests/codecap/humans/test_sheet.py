"""The folder that is handed out: what is in it, and what must not be."""

from __future__ import annotations

import json
import re
from pathlib import Path

import av
import numpy as np
import pytest

from codecap import video
from codecap.errors import UserError
from codecap.humans.media import copy_plain
from codecap.humans.sheet import SheetKey, make_sheet
from codecap.humans.shown import shown_digest
from codecap.records import read_record

from .conftest import FRAMES, SYSTEMS, write_video


@pytest.fixture(scope="module")
def sheet(material, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sheet") / "handed_out"
    make_sheet(material, list(SYSTEMS), folder, folder.with_name("key.json"), seed=4)
    return folder


def data_of(sheet: Path) -> dict:
    html = (sheet / "index.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="sheet-data">(.*?)</script>', html, flags=re.DOTALL)[1])


def test_nothing_in_the_folder_names_a_system_or_a_file_of_the_run(material, sheet):
    secrets = [*SYSTEMS, *material.clips, "still_band", "brighter_f2", "originals", str(sheet.parent.parent)]
    secrets += [render.certificate.mp4_sha256 for render in material.renders.values() if render.certificate]
    files = [path for path in sheet.rglob("*") if path.is_file()]
    assert len(files) == 1 + 4 + 3 + 8  # the page, its assets, references, renders (one task failed)
    for path in files:
        content = path.read_bytes().lower()
        for secret in secrets:
            assert secret.lower().encode() not in content, (path, secret)
            assert secret.lower() not in path.name.lower()
    assert all(re.fullmatch(r"[0-9a-f]{12}\.mp4", path.name) for path in (sheet / "media").iterdir())


def test_files_share_nothing_with_the_run_and_bear_one_time(sheet):
    stats = [path.stat() for path in [*sheet.rglob("*"), sheet]]
    assert len({stat.st_mtime for stat in stats}) == 1
    assert all(path.stat().st_nlink == 1 and not path.is_symlink() for path in sheet.rglob("*") if path.is_file())
    for mp4 in (sheet / "media").iterdir():
        with av.open(str(mp4)) as container:
            assert len(container.streams) == 1
            assert set(container.metadata) <= {"major_brand", "minor_version", "compatible_brands"}
            assert set(container.streams.video[0].metadata) <= {"language", "handler_name", "vendor_id"}


def test_names_do_not_come_in_the_order_of_systems_or_clips(material, tmp_path):
    """By the sorted names of their files, references and renders of systems are mixed."""
    make_sheet(material, list(SYSTEMS), tmp_path / "s", tmp_path / "k.json", seed=4)
    key = {item.item: item for item in read_record(tmp_path / "k.json", SheetKey).items}
    of_file = {item["render"]["file"]: key[item["id"]].system for item in data_of(tmp_path / "s")["items"]}
    order = [of_file[name] for name in sorted(of_file)]
    assert order != sorted(order) and order != sorted(order, reverse=True)


def test_the_key_maps_every_item_back(material, sheet):
    key = read_record(sheet.with_name("key.json"), SheetKey)
    data = data_of(sheet)
    assert data["sheet"] == key.sheet and len(key.criteria) == 6
    assert [item["id"] for item in data["items"]] == [item.item for item in key.items]
    assert len({(item.system, item.clip_id, item.focal_id) for item in key.items}) == len(key.items) == 8 * 2
    for shown, told in zip(data["items"], key.items, strict=True):
        point = material.points[told.clip_id][told.focal_id]
        assert (shown["kind"], shown["description"]) == (point.kind, point.description)
        assert told.shown == shown_digest(material.clips[told.clip_id], material.renders[told.system, told.clip_id], point)
        for name, original in (
            ("reference", material.clips[told.clip_id].mp4),
            ("render", material.renders[told.system, told.clip_id].mp4),
        ):
            copy = sheet / "media" / f"{shown[name]['file']}.mp4"
            ((_, frame),) = video.read_frames(copy, 30, 31)
            ((_, expected),) = video.read_frames(original, 30, 31)
            assert np.array_equal(frame, expected)


def test_a_segment_is_told_in_frames_end_excluded(sheet):
    spans = {item["kind"]: (item["from"], item["to"]) for item in data_of(sheet)["items"]}
    assert spans == {"static": (0, 48), "dynamic": (12, 24)}  # 0 to 2 s, and 0.5 to 1 s, at 24 a second


def test_text_of_annotations_is_text(sheet):
    html = (sheet / "index.html").read_text(encoding="utf-8")
    assert "<b>evenly" not in html
    assert "The band brightens <b>evenly</b>" in {item["description"] for item in data_of(sheet)["items"]}


def test_a_copy_has_the_same_frames_at_the_same_times(material, tmp_path):
    for original in (material.clips["A_one"].mp4, material.renders["nightjar", "A_one"].mp4):
        copied = tmp_path / f"{original.parent.name}.mp4"
        assert copy_plain(original, copied) == video.probe(copied) == video.probe(original)
        pairs = zip(video.read_frames(original), video.read_frames(copied), strict=True)
        assert all(i == j and np.array_equal(a, b) for (i, a), (j, b) in pairs)


def test_colours_that_no_browser_plays_are_encoded_again(tmp_path):
    write_video(tmp_path / "exact.mp4", 90, codec="lossless")
    info = copy_plain(tmp_path / "exact.mp4", tmp_path / "copy.mp4")
    assert info.frames == FRAMES
    with av.open(str(tmp_path / "copy.mp4")) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"
    for (_, exact), (_, shown) in zip(
        video.read_frames(tmp_path / "exact.mp4"), video.read_frames(tmp_path / "copy.mp4"), strict=True
    ):
        assert np.abs(exact.astype(int) - shown).mean() < 2


def test_nothing_is_overwritten_and_the_key_never_lies_in_the_folder(material, sheet, tmp_path):
    for out, key, words in (
        (sheet, tmp_path / "k.json", "is there already"),
        (tmp_path / "new", sheet.with_name("key.json"), "is there already"),
        (tmp_path / "new", tmp_path / "new" / "key.json", "must lie outside"),
        (tmp_path / "new", tmp_path / "new" / "deep" / ".." / "key.json", "must lie outside"),
    ):
        with pytest.raises(UserError, match=words):
            make_sheet(material, list(SYSTEMS), out, key, seed=0)
    assert not (tmp_path / "new").exists()


def test_a_video_that_cannot_be_read_leaves_nothing_behind(material, tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(material.clips["A_one"].mp4.read_bytes()[:900])
    clips = material.clips | {"A_one": material.clips["A_one"].model_copy(update={"mp4": broken})}
    bad = type(material)(material.systems, clips, material.points, material.renders)
    with pytest.raises(UserError, match="broken.mp4"):
        make_sheet(bad, list(SYSTEMS), tmp_path / "out", tmp_path / "key.json", seed=0)
    assert [path.name for path in tmp_path.iterdir()] == ["broken.mp4"]
