"""From a published folder back to videos, whatever the site gives out by then."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codecap.clips_table import read_clips
from codecap.clock import FPS
from codecap.errors import UserError
from codecap.publish.folder import Published, read_published
from codecap.publish.rebuild import Rebuilt, rebuild, summary
from codecap.records import Annotation, Original, RecordError, read_record
from codecap.video import file_sha256

ONE = ("A_site-one_f000036", "A_site-one_f000168")


@pytest.fixture
def published(published_folder: Path) -> Published:
    return read_published(published_folder)


class Site:
    """Gives out one file, and counts how often it is asked."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.asked = path, 0

    def __call__(self, origin) -> Original:
        self.asked += 1
        if self.path is None:
            return Original(candidate=origin.candidate, status="failed", cause="gone", reason="404: no such video")
        return Original(candidate=origin.candidate, status="ok", path=self.path, sha256=file_sha256(self.path))


def by_id(rows: list[Rebuilt]) -> dict[str, Rebuilt]:
    return {row.clip_id: row for row in rows}


def test_the_same_file_gives_the_same_bytes_and_a_second_call_fetches_nothing(
    collected, published: Published, tmp_path: Path
) -> None:
    site = Site(collected.originals["A_site-one"])
    rows = rebuild(published, tmp_path, site)
    assert [row.state for row in rows] == ["bit-equal"] * 3
    assert site.asked == 1  # once for both clips; the free one lies in the folder
    assert rebuild(published, tmp_path, site) == rows and site.asked == 1
    for clip in read_clips(tmp_path / "clips.tsv"):
        assert file_sha256(clip.mp4) == clip.sha256
        assert read_record(tmp_path / "annotations" / f"{clip.clip_id}.json", Annotation) == published.annotation(clip.clip_id)
    (tmp_path / "clips" / f"{ONE[0]}.mp4").write_bytes(b"damaged")
    assert by_id(rebuild(published, tmp_path, site))[ONE[0]].state == "bit-equal" and site.asked == 2


@pytest.mark.parametrize(("rate", "seconds", "there"), [(24, 6, ONE[:1]), (30, 11, ONE), (60, 6, ONE[:1])])
def test_another_encoding_size_rate_and_beginning(
    published, film: Callable, tmp_path: Path, rate: int, seconds: int, there: tuple[str, ...]
) -> None:
    """Two seconds of something else stand before it now; each clip is found two seconds later, frame by frame."""
    before = [200] * (2 * rate)
    told = [frame * FPS // rate for frame in range(seconds * rate)]
    other = film(tmp_path / "other.mp4", before + told, rate=rate, size_px=(96, 54), crf=28)
    frozen = [clip.model_copy(update={"annotation_sha256": "a" * 64, "dataset_version": "1.0.0"}) for clip in published.clips]
    rows = by_id(rebuild(replace(published, clips=frozen), tmp_path / "out", Site(other)))
    for clip_id in there:
        row = rows[clip_id]
        assert row.state == "equivalent", row.reason
        assert (row.width_px, row.height_px) == (96, 54)
        assert row.offset_s == pytest.approx(2.0, abs=1.01 / FPS if rate == 30 else 1e-4)
        assert row.mean_levels < 3
        boxes = read_record(tmp_path / "out" / "annotations" / f"{clip_id}.json", Annotation).objects[0].boxes_xyxy
        assert boxes[0] == (5.0, 10.0, 25.0, 30.0)  # half of what it was
    made = {clip.clip_id: clip for clip in read_clips(tmp_path / "out" / "clips.tsv")}
    assert made[ONE[0]].source_start_s == rows[ONE[0]].start / FPS
    assert (made[ONE[0]].annotation_sha256, made[ONE[0]].dataset_version) == ("", "")  # scaled boxes are not what was frozen
    assert (made["F_own"].annotation_sha256, made["F_own"].dataset_version) == ("a" * 64, "1.0.0")


def test_what_is_cut_off_is_lost_and_what_is_left_is_not(published, film: Callable, tmp_path: Path) -> None:
    short = film(tmp_path / "short.mp4", range(150))
    rows = by_id(rebuild(published, tmp_path / "out", Site(short)))
    assert rows[ONE[0]].state != "lost" and rows[ONE[0]].offset_s == 0
    assert rows[ONE[1]].state == "lost" and "the likeliest part" in rows[ONE[1]].reason
    assert not (tmp_path / "out" / "clips" / f"{ONE[1]}.mp4").exists()
    assert [clip.clip_id for clip in read_clips(tmp_path / "out" / "clips.tsv")] == [ONE[0], "F_own"]


def with_mark(frame: int, paint: Callable) -> np.ndarray:
    rgb = paint(frame).copy()
    rgb[-20:, -50:] = 255
    return rgb


def with_bars(frame: int, paint: Callable) -> np.ndarray:
    rgb = paint(frame).copy()
    rgb[:14] = rgb[-14:] = 0
    return rgb


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda frame, paint: paint(frame, hue=60), id="other colours"),
        pytest.param(with_mark, id="a mark in a corner"),
        pytest.param(with_bars, id="bars"),
        pytest.param(lambda frame, paint: paint(frame)[:, ::-1], id="mirrored"),
        pytest.param(lambda frame, paint: paint(frame + 30 if frame > 90 else frame), id="another cut within"),
        pytest.param(lambda frame, paint: paint(int(frame * 1.04)), id="faster"),
    ],
)
def test_what_looks_otherwise_is_refused(published, film: Callable, paint: Callable, change: Callable, tmp_path: Path) -> None:
    other = film(tmp_path / "other.mp4", range(144), paint=lambda frame: np.ascontiguousarray(change(frame, paint)))
    rows = by_id(rebuild(published, tmp_path / "out", Site(other)))
    assert rows[ONE[0]].state == "lost", rows[ONE[0]]
    assert rows["F_own"].state == "bit-equal"


def test_what_is_gone_is_lost_with_the_sites_reason_and_is_tried_again(collected, published, tmp_path: Path) -> None:
    site = Site(None)
    rows = rebuild(published, tmp_path, site)
    assert summary(rows)["lost"] == 2 and by_id(rows)[ONE[0]].reason == "gone: 404: no such video"
    site.path = collected.originals["A_site-one"]
    assert summary(rebuild(published, tmp_path, site)) == {"clips": 3, "bit-equal": 3, "equivalent": 0, "lost": 0, "reasons": {}}


def test_other_encoders_make_the_same_clip_in_other_bytes(collected, published, tmp_path: Path) -> None:
    """As with packages of another version: the original is the very one, the clip's bytes are others."""
    clips = [clip.model_copy(update={"sha256": "0" * 64}) for clip in published.clips]
    rows = rebuild(replace(published, clips=clips), tmp_path / "out", Site(collected.originals["A_site-one"]))
    assert [(row.state, row.offset_s, row.mean_levels) for row in rows[:2]] == [("equivalent", 0, 0)] * 2
    bare = rebuild(replace(published, clips=clips, prints={}), tmp_path / "bare", Site(collected.originals["A_site-one"]))
    assert bare[0].state == "lost" and "no prints to compare it by" in bare[0].reason


def test_another_version_of_the_data_set_is_made_anew(collected, published, tmp_path: Path) -> None:
    """A clip of the same name, which was cut otherwise, and an annotation that was corrected."""
    site = Site(collected.originals["A_site-one"])
    others = [clip.model_copy(update={"sha256": "0" * 64}) for clip in published.clips]
    before = rebuild(replace(published, clips=others), tmp_path / "out", site)
    assert [row.state for row in before] == ["equivalent", "equivalent", "lost"]
    told = tmp_path / "out" / "annotations" / f"{ONE[0]}.json"
    told.write_text(Annotation(clip_id=ONE[0]).model_dump_json(), encoding="utf-8")
    rows = rebuild(published, tmp_path / "out", site)
    assert [row.state for row in rows] == ["bit-equal"] * 3 and site.asked == 3
    assert read_record(told, Annotation) == published.annotation(ONE[0])
    told.write_text(Annotation(clip_id=ONE[0]).model_dump_json(), encoding="utf-8")
    assert rebuild(published, tmp_path / "out", site) == rows and site.asked == 3
    assert read_record(told, Annotation) == published.annotation(ONE[0])  # without a video made anew


def test_a_folder_with_other_things_in_it_stays(published, tmp_path: Path) -> None:
    (tmp_path / "clips.tsv").write_text("mine\n", encoding="utf-8")
    with pytest.raises(UserError, match="holds other things already"):
        rebuild(published, tmp_path, Site(None))
    assert (tmp_path / "clips.tsv").read_text(encoding="utf-8") == "mine\n" and len(list(tmp_path.iterdir())) == 1


def test_two_originals_of_one_name(collected, published, tmp_path: Path) -> None:
    """Files of their owner, which have names alone: each clip is cut from its own."""
    ids = [ONE[0], "F_own"]
    origins = {}
    for clip_id in ids:
        candidate = published.origins[clip_id].candidate.model_copy(update={"locator": "video.mp4"})
        origins[clip_id] = published.origins[clip_id].model_copy(update={"plugin": "local", "candidate": candidate})
    paths = {file_sha256(path): path for path in collected.originals.values()}
    (tmp_path / "none").mkdir()
    clips = [clip.model_copy(update={"mp4": tmp_path / "none" / clip.mp4.name}) for clip in published.clips if clip.clip_id in ids]

    def fetch(origin) -> Original:
        return Original(candidate=origin.candidate, status="ok", path=paths[origin.sha256], sha256=origin.sha256)

    rows = rebuild(replace(published, clips=clips, origins=origins), tmp_path / "out", fetch)
    assert [row.state for row in rows] == ["bit-equal"] * 2


def test_files_that_are_at_hand_stay_though_they_lie_in_the_same_folder(collected, published, tmp_path: Path) -> None:
    """As those that an earlier call was asked to keep."""
    site = Site(None)
    rebuild(published, tmp_path / "out", site)
    (tmp_path / "out" / "originals").mkdir()
    site.path = Path(shutil.copyfile(collected.originals["A_site-one"], tmp_path / "out" / "originals" / "one.mp4"))
    assert summary(rebuild(published, tmp_path / "out", site))["bit-equal"] == 3 and site.path.exists()


def test_prints_that_cannot_be_read_lose_their_clip_alone(collected, published, tmp_path: Path) -> None:
    broken = published.prints[ONE[0]].model_copy(update={"packed": "AAAA"})
    damaged = replace(published, prints=published.prints | {ONE[0]: broken})
    rows = by_id(rebuild(damaged, tmp_path / "out", Site(collected.originals["A_site-one"])))
    assert "cannot be unpacked" in rows[ONE[0]].reason and rows[ONE[1]].state == "bit-equal"


def test_an_annotation_that_cannot_be_read_is_told_before_anything_is_fetched(published_folder: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(published_folder, tmp_path / "set"))
    (mine / "annotations" / f"{ONE[1]}.json").write_text("{", encoding="utf-8")
    site = Site(None)
    with pytest.raises(RecordError, match=f"{ONE[1]}.json: not a valid Annotation"):
        rebuild(read_published(mine), tmp_path / "out", site)
    assert site.asked == 0


def test_the_published_folder_stays_as_it_is(published) -> None:
    with pytest.raises(UserError, match="lies in the published folder"):
        rebuild(published, published.folder / "videos", Site(None))


def test_a_file_that_is_no_video_loses_its_clips_alone(published, tmp_path: Path) -> None:
    page = tmp_path / "page.mp4"
    page.write_text("<html>not here any more</html>", encoding="utf-8")
    rows = by_id(rebuild(published, tmp_path / "out", Site(page)))
    assert {row.state for row in rows.values()} == {"lost", "bit-equal"} and str(page) in rows[ONE[0]].reason
