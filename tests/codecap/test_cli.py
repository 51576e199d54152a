"""The command line, as typed: exit status, what is printed, what is written."""

import json
import os
import subprocess
import sys

import pytest

from codecap.clips_table import read_clips
from codecap.config import PROJECT
from codecap.records import Certificate, read_record

DEMO = PROJECT / "resources" / "demo"
DEMO_CONFIG = PROJECT / "config" / "demo.yaml"
CLIPS = read_clips(DEMO / "clips.tsv")
PAGE = "<!doctype html><body style='margin:0;background:#204080'><script>window.seek = t => {}</script>"


def codecap(*arguments, cwd=None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "codecap", *map(str, arguments)], capture_output=True, text=True, cwd=cwd)


def test_help_names_every_command():
    told = codecap("--help").stdout
    own = ("ingest", "filter", "render", "score", "selftest", "doctor", "show", "bench", "store", "demo")
    for command in (*own, "cost", "exchange", "humans", "weights"):
        assert command in told


def test_ingest_goes_on_after_bad_files_and_names_them(tmp_path):
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("this is not a video")
    good = CLIPS[0].mp4
    ran = codecap("ingest", tmp_path / "empty.mp4", good, tmp_path / "text.mp4", "--out", tmp_path / "out")
    assert ran.returncode == 0
    assert "empty.mp4" in ran.stderr and "text.mp4" in ran.stderr and "Traceback" not in ran.stderr
    (clip,) = read_clips(tmp_path / "out" / "clips.tsv")
    assert clip.clip_id == good.stem and clip.frames == CLIPS[0].frames
    alone = codecap("ingest", tmp_path / "empty.mp4", "--out", tmp_path / "none")
    assert alone.returncode == 1


def test_filter_speaks_json(tmp_path):
    codecap("ingest", CLIPS[1].mp4, "--out", tmp_path)
    (told,) = json.loads(codecap("filter", "check", tmp_path, "--json").stdout)
    assert told["clip"] == CLIPS[1].clip_id and told["decision"] == "keep"
    assert told["features"] and "reasons" in told


@pytest.mark.parametrize(
    ("page", "outcome"), [(PAGE, "ok"), ("<p>no seek", "missing_seek"), ("<script>boom()</script>", "runtime_error")]
)
def test_render_ends_with_0_only_for_ok_and_the_certificate_says_why(tmp_path, page, outcome):
    (tmp_path / "page.html").write_text(page)
    ran = codecap(
        "render", "page.html", "--seconds", 0.25, "--size", "64x48", "-o", "out/page.mp4", "--certificate", "c.json", cwd=tmp_path
    )
    assert (ran.returncode == 0) == (outcome == "ok"), ran.stderr
    assert read_record(tmp_path / "c.json", Certificate).outcome == outcome
    assert (tmp_path / "out" / "page.mp4").is_file() == (outcome == "ok")


@pytest.mark.parametrize("size", ["640", "axb", "0x10"])
def test_a_wrong_size_is_told(tmp_path, size):
    (tmp_path / "page.html").write_text(PAGE)
    ran = codecap("render", tmp_path / "page.html", "--seconds", 1, "--size", size, "-o", tmp_path / "page.mp4")
    assert ran.returncode == 1 and f"--size {size}" in ran.stderr and "Traceback" not in ran.stderr


@pytest.mark.slow
def test_score_of_a_clip_against_itself_is_the_maximum():
    clip = min(CLIPS, key=lambda clip: clip.frames * clip.width_px * clip.height_px)
    annotation = DEMO / "annotations" / f"{clip.clip_id}.json"
    ran = codecap("score", clip.mp4, clip.mp4, "--annotation", annotation, "--json")
    rows = json.loads(ran.stdout)
    for metric in ("visual_similarity", "appearance", "kss"):
        (row,) = [row for row in rows if row["metric"] == metric]
        assert row["value"] == pytest.approx(1, abs=1e-3)
    assert {row["value"] for row in rows if row["metric"] == "retention"} == {100}
    assert {row["metric"] for row in rows} >= {"object_iou", "mps", "lag"}


@pytest.mark.parametrize("which", ["reference", "candidate", "annotation"])
def test_score_names_the_file_that_is_wrong(tmp_path, which):
    good, other = CLIPS[0], next(clip for clip in CLIPS if clip.frames != CLIPS[0].frames)
    (tmp_path / "bad.mp4").write_text("no")
    reference = tmp_path / "bad.mp4" if which == "reference" else good.mp4
    candidate = tmp_path / "bad.mp4" if which == "candidate" else good.mp4
    annotation = DEMO / "annotations" / f"{(other if which == 'annotation' else good).clip_id}.json"
    ran = codecap("score", reference, candidate, "--annotation", annotation)
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    assert ("bad.mp4" if which != "annotation" else annotation.name) in ran.stderr


def test_show_names_the_clips_there_are(tmp_path):
    assert CLIPS[0].clip_id in codecap("show", CLIPS[0].clip_id, cwd=tmp_path).stdout
    ran = codecap("show", "Z_999", cwd=tmp_path)
    assert ran.returncode == 1 and CLIPS[0].clip_id in ran.stderr


def test_doctor_finds_what_the_paper_needs_missing(tmp_path):
    ran = codecap("doctor", "--config", PROJECT / "config" / "config.yaml", cwd=tmp_path)
    assert ran.returncode == 1
    assert "vjepa2_1" in ran.stdout and "MISSING" in ran.stdout
    told = json.loads(codecap("doctor", "--json", cwd=tmp_path).stdout)
    assert any(finding["what"] == "browser" and finding["there"] for finding in told)


def test_filter_judges_the_others_when_one_clip_is_broken(tmp_path):
    codecap("ingest", CLIPS[1].mp4, CLIPS[2].mp4, "--out", tmp_path)
    broken = tmp_path / f"{CLIPS[1].clip_id}.mp4"
    broken.write_bytes(broken.read_bytes()[:5000])
    ran = codecap("filter", "check", tmp_path, "--json")
    assert CLIPS[2].clip_id in ran.stdout and "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("ingest", DEMO / "clips.tsv", "--out", "out"),
        ("ingest", CLIPS[0].mp4, "--out", "out", "--category", "Q"),
        ("filter", "check", "."),
        ("render", "page.html", "--seconds", "inf", "--size", "64x48", "-o", "page.mp4"),
        ("render", "page.html", "--seconds", "1", "--size", "99999x9", "-o", "page.mp4"),
        ("render", "nowhere.html", "--seconds", "1", "--size", "64x48", "-o", "page.mp4"),
        ("score", CLIPS[0].mp4, CLIPS[0].mp4, "--annotation", "."),
        ("doctor", "--config", "."),
        ("selftest", "--only", "magic"),
    ],
)
def test_bad_arguments_give_one_message_and_no_traceback(tmp_path, arguments):
    (tmp_path / "page.html").write_text(PAGE)
    ran = codecap(*arguments, cwd=tmp_path)
    assert ran.returncode != 0
    assert ran.stderr.strip() and "Traceback" not in ran.stderr


def test_nothing_but_a_file_is_ever_replaced(tmp_path):
    """A device as the output must stay a device, whoever types it."""
    page, pipe = tmp_path / "page.html", tmp_path / "pipe"
    page.write_text(PAGE)
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    asked = ["render", page, "--seconds", 0.1, "--size", "64x64"]
    for out in (pipe, tmp_path / "link"):
        before = out.lstat()
        ran = codecap(*asked, "--out", out)
        assert ran.returncode == 1
        assert f"{out}: is no ordinary file" in ran.stderr
        assert (out.lstat().st_ino, out.lstat().st_mode) == (before.st_ino, before.st_mode)
    ran = codecap(*asked, "--out", tmp_path / "ok.mp4", "--certificate", pipe)
    assert ran.returncode == 1 and "is no ordinary file" in ran.stderr
    assert f"{tmp_path}: is a folder" in codecap(*asked, "--out", tmp_path).stderr


def test_the_page_is_never_overwritten_and_an_older_video_goes_only_when_the_page_fails(tmp_path):
    page, out = tmp_path / "page.html", tmp_path / "out.mp4"
    page.write_text(PAGE)
    asked = ["render", page, "--seconds", 0.1, "--size", "64x64"]
    for wrong in (["--out", page], ["--out", out, "--certificate", page], ["--out", out, "--certificate", out]):
        ran = codecap(*asked, *wrong)
        assert ran.returncode == 1 and "need three names" in ran.stderr
    assert page.read_text() == PAGE
    out.write_text("older")
    (tmp_path / "wrong.yaml").write_text("render: {engine: none}")
    assert codecap(*asked, "--out", out, "--config", DEMO_CONFIG, "--config", tmp_path / "wrong.yaml").returncode == 1
    assert out.read_text() == "older"
    page.write_text("<p>no seek")
    assert codecap(*asked, "--out", out).returncode == 1
    assert not out.exists()
