"""A published folder that is whole, and each way in which it is not; and one that somebody made to do harm."""

from __future__ import annotations

import base64
import json
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from codecap.annotate.approved import content_digest
from codecap.clips_table import write_clips
from codecap.publish.folder import digests, read_published, write_digests
from codecap.publish.verifying import verify
from codecap.records import RecordError

ONE = "A_site-one_f000036"


@pytest.fixture
def folder(published_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published_folder, tmp_path / "set"))


def edited(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")


def first_row(path: Path, **told: object) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | told)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_nothing_is_wrong_with_what_was_exported(folder: Path) -> None:
    assert verify(folder) == []


def test_an_annotation_that_the_table_was_not_frozen_with(folder: Path) -> None:
    published = read_published(folder)
    said = {clip.clip_id: content_digest(published.annotation(clip.clip_id)) for clip in published.clips}
    frozen = [clip.model_copy(update={"annotation_sha256": said[clip.clip_id]}) for clip in published.clips]
    write_clips(folder / "clips.tsv", frozen)
    assert not [told for told in verify(folder) if "frozen" in told]
    edited(folder / "annotations" / f"{ONE}.json", lambda text: text.replace("A yellow card", "A golden card"))
    assert [told for told in verify(folder) if "frozen" in told] == [
        f"{folder / 'annotations' / ONE}.json: is not the annotation that clips.tsv was frozen with"
    ]


def test_a_changed_a_missing_and_a_strange_file(folder: Path) -> None:
    edited(folder / "README.md", lambda text: text + "more\n")
    (folder / "statistics.svg").unlink()
    (folder / "extra.txt").write_text("x", encoding="utf-8")
    found = "\n".join(verify(folder))
    assert "README.md: is not the published file" in found and "extra.txt: is not in SHA256SUMS" in found
    assert "statistics.svg: is missing" in found and "croissant.json: README.md is not the file that it describes" in found


def test_tables_that_contradict_one_another_though_their_digests_are_right(folder: Path) -> None:
    edited(folder / "annotations" / f"{ONE}.json", lambda text: text.replace('"end_s": 1.5', '"end_s": 99'))
    first_row(folder / "origins.jsonl", stop=100)
    shutil.copyfile(folder / "clips" / "F_own.mp4", folder / "clips" / f"{ONE}.mp4")
    shutil.copyfile(folder / "annotations" / f"{ONE}.json", folder / "annotations" / "B_other.json")
    write_digests(folder, digests(folder))
    found = "\n".join(verify(folder))
    assert f"clip {ONE}: 64 frames, the table says 96" in found
    assert f"{ONE}.mp4: is here, though its licence (none stated)" in found
    assert f"{ONE}.mp4: is not the file of the clips table" in found
    assert "B_other.json: is the annotation of no clip" in found and "99" in found


def test_prints_of_another_clip(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "prints.jsonl").read_text(encoding="utf-8").splitlines()]
    own = next(line for line in lines if line["clip_id"] == "F_own")
    black = base64.b64encode(zlib.compress(bytes(own["frames"] * 288))).decode()
    edited(folder / "prints.jsonl", lambda text: text.replace(own["packed"], black))
    assert any("F_own.mp4: does not look as prints.jsonl says" in line for line in verify(folder))


HOSTILE = [
    ("origins.jsonl", {"candidate": {"candidate_id": "../../x", "source": "s", "locator": "http://a/b"}}, "no plain name"),
    ("origins.jsonl", {"candidate": {"candidate_id": "x", "source": "..", "locator": "http://a/b"}}, "no plain name"),
    ("origins.jsonl", {"candidate": {"candidate_id": "x", "source": "s", "locator": "/etc/passwd"}}, "neither an http"),
    ("origins.jsonl", {"candidate": {"candidate_id": "x", "source": "s", "locator": "file:///etc/passwd"}}, "neither an http"),
    ("origins.jsonl", {"clip_id": "../x"}, "clip_id"),
    ("origins.jsonl", {"plugin": "../os"}, "plugin"),
    ("origins.jsonl", {"start": 9, "stop": 3}, "are none"),
    ("prints.jsonl", {"frames": 10**9}, "frames"),
]


@pytest.mark.parametrize(("name", "told", "message"), HOSTILE)
def test_rows_that_would_do_harm_are_refused(folder: Path, name: str, told: dict, message: str) -> None:
    first_row(folder / name, **told)
    with pytest.raises(RecordError, match=rf"{name}:1: .*{message}"):
        read_published(folder)


def test_a_table_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    edited(folder / "clips.tsv", lambda text: text.replace("clips/F_own.mp4", "/etc/passwd"))
    with pytest.raises(RecordError, match="clip F_own: mp4 must be clips/F_own.mp4"):
        read_published(folder)


def test_prints_that_swell_are_refused(folder: Path) -> None:
    bomb = base64.b64encode(zlib.compress(bytes(30_000_000), 1)).decode()
    first_row(folder / "prints.jsonl", packed=bomb)
    assert any("not those of 96 frames" in line for line in verify(folder))


def test_another_layout_and_what_is_no_such_folder(folder: Path, tmp_path: Path) -> None:
    edited(folder / "recipe.json", lambda text: text.replace('"layout": 1', '"layout": 2'))
    with pytest.raises(RecordError, match="layout 2"):
        verify(folder)
    with pytest.raises(RecordError, match="recipe.json"):
        verify(tmp_path)


def test_what_is_no_ordinary_file_is_named_and_not_read(folder: Path) -> None:
    (folder / "endless").symlink_to("/dev/zero")
    (folder / "elsewhere").symlink_to("/", target_is_directory=True)
    (folder / "clips.tsv").rename(folder / "table")
    (folder / "clips.tsv").symlink_to("table")
    found = "\n".join(verify(folder))
    assert "endless: is not in SHA256SUMS" in found and "elsewhere: is not in SHA256SUMS" in found
    assert "clips.tsv: is not the published file" in found


@pytest.mark.parametrize("name", ["clips/F_own.mp4", "croissant.json", "ledger.jsonl", "SHA256SUMS", f"annotations/{ONE}.json"])
def test_what_has_no_end_is_not_read(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    try:
        assert any(name in line for line in verify(folder))
    except RecordError as error:
        assert f"{name}: is no file" in str(error)


def test_names_and_bytes_that_no_terminal_should_get(folder: Path) -> None:
    (folder / "\x1b]0;owned\x07").write_text("x", encoding="utf-8")
    Path(os.fsdecode(bytes(folder) + b"/\xff")).write_text("x", encoding="utf-8")
    with (folder / "SHA256SUMS").open("ab") as file:
        file.write(b"0" * 64 + b"  \xfe\x85\n")
    with (folder / "ledger.jsonl").open("ab") as file:
        file.write(b"\xff\n")
    found = verify(folder)
    assert all(line.isprintable() and line.encode() for line in found)
    assert any("owned" in line for line in found) and any("ledger.jsonl:3: not a valid LedgerEntry" in line for line in found)


def test_a_table_with_an_endless_cell(folder: Path) -> None:
    edited(folder / "clips.tsv", lambda text: text + "x" * 200_000)
    with pytest.raises(RecordError, match=r"clips.tsv: cannot be read as tab-separated text"):
        verify(folder)


def test_metadata_that_is_none(folder: Path) -> None:
    (folder / "croissant.json").write_text("[" * 100_000, encoding="utf-8")
    write_digests(folder, digests(folder))
    assert any("is no metadata of a data set" in line for line in verify(folder))
