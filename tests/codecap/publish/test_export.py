"""The folder to publish: what is in it, what must not be, and that Croissant's own library reads it."""

from __future__ import annotations

import json
import logging
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codecap.clips_table import read_clips
from codecap.errors import UserError
from codecap.publish.about import About
from codecap.publish.export import export
from codecap.publish.folder import read_digests, read_published
from codecap.publish.prints import prints_of, unpacked
from codecap.records import Annotation, LedgerEntry, read_rows


def test_only_the_free_video_is_in_it(collected, published_folder: Path) -> None:
    assert sorted(path.name for path in (published_folder / "clips").iterdir()) == ["F_own.mp4"]
    lines = (published_folder / "attribution.tsv").read_text(encoding="utf-8").splitlines()
    cells = dict(zip(lines[0].split("\t"), lines[3].split("\t"), strict=True))
    assert (cells["licence"], cells["video_here"], cells["uploader"]) == ("CC-BY-4.0", "yes", "Ada")
    assert cells["title"] == "A title with a tab" and cells["locator"] == "F_own.mp4"
    assert [line.split("\t")[3] for line in lines[1:]] == ["no", "no", "yes"]


def test_nothing_of_this_machine_and_no_secret_is_in_it(published_folder: Path) -> None:
    for path in published_folder.rglob("*"):
        if path.is_file() and path.suffix != ".mp4":
            text = path.read_text(encoding="utf-8")
            for secret in ("/home/ada", "SECRET_PROXY", "me.txt", "/tmp/", "collected0"):
                assert secret not in text, (path, secret)


def test_what_it_says_of_clips_is_what_was_cut(collected, published_folder: Path) -> None:
    published = read_published(published_folder)
    clips = {clip.clip_id: clip for clip in collected.material.clips}
    for clip in published.clips:
        original = clips[clip.clip_id]
        assert clip.mp4 == published_folder / "clips" / f"{clip.clip_id}.mp4"
        assert clip.model_copy(update={"mp4": original.mp4}) == original
        assert (unpacked(published.prints[clip.clip_id]) == prints_of(original.mp4)).all()
        assert published.annotation(clip.clip_id) == collected.material.annotations[clip.clip_id]
    one = published.origins["A_site-one_f000168"]
    assert (one.plugin, one.start, one.stop, one.candidate.locator) == ("http", 168, 264, "http://127.0.0.1:9/one.mp4")
    assert published.origins["F_own"].stop is None and not published.origins["F_own"].has_address
    assert [row.candidate.locator for row in read_rows(published_folder / "ledger.jsonl", LedgerEntry)][1] == "F_own.mp4"


def test_sha256sum_finds_every_file_whole(published_folder: Path) -> None:
    told = subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=published_folder, capture_output=True)
    assert told.returncode == 0, told.stderr
    there = {path.relative_to(published_folder).as_posix() for path in published_folder.rglob("*") if path.is_file()}
    assert there - {"SHA256SUMS"} == set(read_digests(published_folder))


def test_croissant_validates_without_a_warning_and_its_records_are_those_of_the_tables(collected, published_folder: Path) -> None:
    logging.getLogger("absl").setLevel(logging.ERROR)
    import mlcroissant  # slow to import

    dataset = mlcroissant.Dataset(jsonld=published_folder / "croissant.json")
    issues = dataset.metadata.ctx.issues
    assert not issues.errors and not issues.warnings
    assert dataset.metadata.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.0"
    rows = list(dataset.records("clips"))
    assert [(row["clips/clip_id"].decode(), row["clips/frames"]) for row in rows] == [
        (clip.clip_id, clip.frames) for clip in read_clips(published_folder / "clips.tsv")
    ]
    points = list(dataset.records("focal_points"))
    annotations = sorted(collected.material.annotations.items())
    wanted = [(clip_id, point.focal_id) for clip_id, told in annotations for point in told.focal_points]
    assert [tuple(row[f"focal_points/{name}"].decode() for name in ("clip_id", "focal_id")) for row in points] == wanted
    assert len(list(dataset.records("objects"))) == 2  # in one clip nothing is annotated


def test_the_card_says_name_licence_and_digests(published_folder: Path) -> None:
    card = json.loads((published_folder / "croissant.json").read_text(encoding="utf-8"))
    assert (card["name"], card["license"], card["datePublished"]) == (
        "Three clips",
        "https://spdx.org/licenses/CC-BY-4.0",
        "2026-11-30",
    )
    listed = {one["contentUrl"]: one["sha256"] for one in card["distribution"] if one["@type"] == "cr:FileObject"}
    told = read_digests(published_folder)
    assert listed == {name: told[name] for name in listed} and {"clips.tsv", "ledger.jsonl", "prints.jsonl"} <= set(listed)


def test_readme_tells_what_can_be_had(published_folder: Path) -> None:
    text = (published_folder / "README.md").read_text(encoding="utf-8")
    assert "1 of the 3 clips have their video here" in text and "cannot be had" not in text
    assert "| CC-BY-4.0 | 1 |" in text and "| not stated | 2 |" in text and "    @misc{three}" in text


def test_clips_that_nobody_can_ever_have_are_named(collected, tmp_path: Path) -> None:
    made = export(collected.material, About(media_licences=("MIT",)), tmp_path / "set")
    assert (made.clips, made.videos, made.lost) == (3, 0, {"F_own": "its original, F_own.mp4, has no address"})


def test_a_folder_that_is_there_stays(collected, published_folder: Path) -> None:
    with pytest.raises(UserError, match="is not written over"):
        export(collected.material, About(), published_folder)


def test_nothing_is_written_when_a_clip_or_an_annotation_is_wrong(collected, tmp_path: Path) -> None:
    material = collected.material
    clips = [material.clips[0].model_copy(update={"sha256": "0" * 64}), *material.clips[1:]]
    annotations = dict(material.annotations) | {"F_own": Annotation(clip_id="A_other")}
    with pytest.raises(UserError, match=r"(?s)is not the file of the clips table.*A_other"):
        export(replace(material, clips=clips, annotations=annotations), About(), tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_in_which_one_stands(collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert export(replace(collected.material, annotations={}), About(), Path()).clips == 3
    assert (tmp_path / "here" / "SHA256SUMS").is_file() and [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"version": "1"}, "dataset: version"),
        ({"nam": "x"}, "dataset: nam"),
        ({"url": "ftp://x"}, "dataset: url"),
        ({"published": "May"}, "published"),
        ({"media_licences": ["CC-BY-4.0", "CC BY"]}, "media_licences: .*'CC BY' is no licence"),
        ({"media_licences": ["CC-BY-ND-4.0"]}, "is no licence that can allow it"),
    ],
)
def test_what_a_publisher_says_is_checked(told: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        About.of(told)
