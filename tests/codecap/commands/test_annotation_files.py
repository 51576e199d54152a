"""`codecap annotations export` and `import` on the demo."""

from __future__ import annotations

import re

import pytest
import yaml
from typer.testing import CliRunner

from codecap.clips_table import read_clips
from codecap.commands.annotations import app
from codecap.config import PROJECT
from codecap.records import Annotation, read_record
from codecap.review.beginning import begin

DEMO = PROJECT / "resources" / "demo" / "annotations"


def call(*words, status=0):
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == status, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    out = tmp_path_factory.mktemp("cvat")
    assert "168 frames of 640x360 px at 24 a second" in call("export", "cvat", "--out", out, "--clip", "A_001").stdout
    return (out / "A_001.xml").read_text(encoding="utf-8")


@pytest.fixture
def xml(exported, tmp_path):
    (tmp_path / "cvat").mkdir()
    path = tmp_path / "cvat" / "A_001.xml"
    path.write_text(exported, encoding="utf-8")
    return path


def test_what_was_changed_in_the_tool_is_imported_and_the_rest_stays(xml, tmp_path):
    text = xml.read_text(encoding="utf-8")
    xml.write_text(re.sub(r'(<box frame="0" [^>]*xtl=")256\.0000', r"\g<1>250.0000", text, count=1), encoding="utf-8")
    told = call("import", "cvat", xml, "--onto", DEMO, "--out", tmp_path / "mine", "--who", "Kim").stdout
    assert told.startswith("A_001  1 object changed  ")
    before, after = (read_record(folder / "A_001.json", Annotation) for folder in (DEMO, tmp_path / "mine"))
    assert after.objects[0].boxes_xyxy[0] == (250.0, *before.objects[0].boxes_xyxy[0][1:])
    assert after.objects[1:] == before.objects[1:] and after.focal_points == before.focal_points
    assert [review.who for review in after.reviews] == ["codecap authors", "Kim"]


def test_an_annotation_with_errors_is_not_written(xml, tmp_path):
    text = xml.read_text(encoding="utf-8")
    xml.write_text(text.replace(">card_dunes<", ">card_pampas<"), encoding="utf-8")
    done = call("import", "cvat", xml, "--onto", DEMO, "--out", tmp_path / "mine", status=1)
    assert "card_dunes" in done.stderr and "[unknown_object]" in done.stderr
    assert "not written: it has errors" in done.stdout and not (tmp_path / "mine").exists()


def test_what_is_there_is_not_overwritten_unasked(xml, tmp_path):
    call("import", "cvat", xml, "--onto", DEMO, "--out", tmp_path)
    call("import", "cvat", xml, "--onto", DEMO, "--out", tmp_path)
    assert "add --replace" in call("import", "cvat", xml, "--out", tmp_path, status=1).stderr
    call("import", "cvat", xml, "--out", tmp_path, "--replace")
    assert read_record(tmp_path / "A_001.json", Annotation).focal_points == []


def test_a_file_under_another_name_needs_the_clip(xml, tmp_path):
    xml.write_text(xml.read_text(encoding="utf-8").replace("<name>A_001</name>", "<name>task 7</name>"), encoding="utf-8")
    done = call("import", "cvat", xml, "--out", tmp_path, status=1)
    assert "about no clip of the table; say which it is with --clip" in done.stderr
    call("import", "cvat", xml, "--out", tmp_path, "--clip", "A_001")


def test_a_clip_under_review_is_not_approved_from_aside(xml, tmp_path):
    """What is imported would be overwritten by what the review approves, which has never seen it."""
    settings = {"annotations_folder": str(tmp_path / "approved"), "review": {"folder": str(tmp_path / "reviews")}}
    config = tmp_path / "my.yaml"
    config.write_text(yaml.safe_dump({**yaml.safe_load((PROJECT / "config" / "demo.yaml").read_text()), **settings}))
    words = ("import", "cvat", xml, "--onto", DEMO, "--config", config, "--out", tmp_path / "approved")
    clip = next(clip for clip in read_clips(PROJECT / "resources" / "demo" / "clips.tsv") if clip.clip_id == "A_001")
    begin(tmp_path / "reviews" / "A_001", clip, Annotation(clip_id="A_001"), twice=False)
    told = call(*words, status=1).stderr
    assert "a review of A_001 has begun" in told and "or add --replace" in told
    assert not (tmp_path / "approved").exists()
    call(*words, "--replace")
    assert (tmp_path / "approved" / "A_001.json").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["export", "voc", "--out", "x"], "no formats called 'voc'; this version has: coco, cvat, label_studio, mot"),
        (["export", "mot", "--out", "x", "--clip", "Z_9"], "--clip Z_9: is not in the clips table"),
        (["export", "mot", "--out", "x", "--from", "empty"], "holds no annotation of a clip of the table"),
        (["import", "coco", "none.json", "--out", "x"], "none.json: no such file"),
        (["import", "mot", "none", "--out", "x", "--table", "none.tsv"], "none.tsv: no such clips table"),
        (["import", "coco", "none.json", "--out", "x", "--who", " "], "--who: a name has 1 to 80"),
    ],
)
def test_a_mistake_gets_one_clear_line(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*words, status=1)
    assert says in done.stderr and done.stderr.count("\n") == 1
