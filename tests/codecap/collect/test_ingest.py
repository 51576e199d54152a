"""Ingest from end to end: which picture stands in which frame, what is refused and how, what is left behind."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from codecap.clips_table import read_clips, write_clips
from codecap.collect.canonical import why_not_canonical
from codecap.collect.ingest import IngestSettings, ingest_file, ingest_files
from codecap.config import ConfigError
from codecap.errors import UserError
from codecap.video import VideoError, file_sha256, probe, read_frames

MS = Fraction(1, 1000)
NO_B_FRAMES = {"bf": "0"}


def on_screen(pts: list[int], time_base: Fraction, end_s: Fraction) -> list[int]:
    """METRICS, by hand: for each i with i / 24 before the end, the number of the last picture with pts <= i / 24."""
    starts = [(stamp - pts[0]) * time_base for stamp in pts]
    return [max(k for k, start in enumerate(starts) if start <= Fraction(i, 24)) for i in range(math.ceil(end_s * 24))]


@pytest.mark.parametrize(
    ("name", "pts", "time_base", "rate", "end_s"),
    [
        ("5fps.mp4", list(range(6)), Fraction(1, 5), 5, Fraction(6, 5)),
        ("60fps.mp4", list(range(90)), Fraction(1, 60), 60, Fraction(3, 2)),
        ("ntsc.mp4", list(range(45)), Fraction(1001, 30000), Fraction(30000, 1001), Fraction(45045, 30000)),
        ("late.mp4", list(range(50, 80)), Fraction(1, 25), 25, Fraction(30, 25)),
        ("24.mkv", list(range(40)), Fraction(1, 24), 24, Fraction(40, 24)),
        ("24.webm", list(range(40)), Fraction(1, 24), 24, Fraction(40, 24)),
        ("50.mkv", list(range(70)), Fraction(1, 50), 50, Fraction(70, 50)),
        ("one.mp4", [0], Fraction(1, 2), 2, Fraction(1, 2)),
        ("ts.ts", list(range(30)), Fraction(1, 30), 30, Fraction(1)),
    ],
)
def test_frame_i_is_what_is_on_screen_at_its_time(film, tmp_path, read_number, name, pts, time_base, rate, end_s):
    codec = "libvpx-vp9" if name.endswith("webm") else "libx264"
    source = film(name, pts, time_base, rate=rate, codec=codec)
    facts = ingest_file(source, tmp_path / "out.mp4")
    shown = [read_number(rgb) for _, rgb in read_frames(tmp_path / "out.mp4")]
    assert shown == on_screen(pts, time_base, end_s)
    assert facts.frames == probe(tmp_path / "out.mp4").frames == len(shown)


def test_variable_frame_rate(film, tmp_path, read_number):
    pts = [0, 100, 150, 400, 420, 700, 710, 1500, 1510, 1600]
    ingest_file(film("vfr.mp4", pts, MS, options=NO_B_FRAMES), tmp_path / "out.mp4")
    shown = [read_number(rgb) for _, rgb in read_frames(tmp_path / "out.mp4")]
    assert shown[:39] == on_screen(pts, MS, Fraction(39, 24))
    assert set(shown[39:]) == {9}


def test_gif_last_frame_lasts_its_delay(tmp_path, draw_number, read_number):
    delays_ms = [70, 560, 40, 1000]
    pictures = [Image.fromarray(draw_number(number)) for number in range(4)]
    pictures[0].save(tmp_path / "x.gif", save_all=True, append_images=pictures[1:], duration=delays_ms)
    ingest_file(tmp_path / "x.gif", tmp_path / "out.mp4")
    shown = [read_number(rgb) for _, rgb in read_frames(tmp_path / "out.mp4")]
    assert shown == on_screen([0, 70, 630, 670], MS, Fraction(1670, 1000))


def test_odd_size_repeats_the_last_column_and_row(film, tmp_path, draw_number):
    pictures = [draw_number(number, 65, 49) for number in range(4)]
    source = film("odd.mp4", range(4), pictures=pictures, pix_fmt="yuv444p", options={"crf": "2"})
    facts = ingest_file(source, tmp_path / "out.mp4")
    assert (facts.width_px, facts.height_px) == (66, 50)
    for number, (_, rgb) in enumerate(read_frames(tmp_path / "out.mp4")):
        wanted = np.pad(pictures[number], ((0, 1), (0, 1), (0, 0)), mode="edge").astype(int)
        assert np.abs(rgb - wanted).mean() < 4


@pytest.mark.parametrize("sound_s", [0, 0.5])
@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv444p", "yuvj420p", "yuv420p10le", "gbrp"])
def test_every_pixel_format_gives_the_same_picture(film, tmp_path, pix_fmt, sound_s):
    codec = "libx264rgb" if pix_fmt == "gbrp" else "libx264"
    colours = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [250, 250, 250]]], np.uint8).repeat(32, 0).repeat(32, 1)
    source = film(
        "x.mp4",
        range(5),
        pictures=[colours] * 5,
        codec=codec,
        pix_fmt="rgb24" if pix_fmt == "gbrp" else pix_fmt,
        sound_s=sound_s,
        options={"crf": "4"},
    )
    ingest_file(source, tmp_path / "out.mp4")
    _, rgb = next(read_frames(tmp_path / "out.mp4"))
    inside = np.s_[8::32, 8::32]
    assert np.abs(rgb[inside].astype(int) - colours[inside]).max() <= 6


def test_turned_film_is_upright(film, tmp_path, draw_number, read_number):
    pictures = [np.rot90(draw_number(number), -1) for number in range(6)]  # lying on its side
    source = film("turned.mp4", range(6), pictures=pictures, set_up=lambda stream: stream.set_display_rotation(90))
    facts = ingest_file(source, tmp_path / "out.mp4")
    assert (facts.width_px, facts.height_px) == (64, 48)
    assert [read_number(rgb) for _, rgb in read_frames(tmp_path / "out.mp4")] == list(range(6))


def test_wide_pixels_are_stretched(film, tmp_path, read_number):
    def wide(stream) -> None:
        stream.codec_context.sample_aspect_ratio = Fraction(4, 3)

    facts = ingest_file(film("wide.mp4", range(6), set_up=wide), tmp_path / "out.mp4")
    assert (facts.width_px, facts.height_px) == (86, 48)  # 85.33 -> 85, padded
    assert [read_number(rgb) for _, rgb in read_frames(tmp_path / "out.mp4")] == list(range(6))


def test_ingest_of_its_own_result_changes_no_byte(film, tmp_path):
    first = ingest_file(film("x.mkv", range(30)), tmp_path / "first.mp4")
    second = ingest_file(tmp_path / "first.mp4", tmp_path / "second.mp4")
    assert (first.copied, second.copied) == (False, True)
    assert (tmp_path / "first.mp4").read_bytes() == (tmp_path / "second.mp4").read_bytes()
    assert second.sha256 == first.sha256 == file_sha256(tmp_path / "second.mp4")
    assert ingest_file(tmp_path / "first.mp4", tmp_path / "first.mp4").sha256 == first.sha256


def test_titles_in_other_encodings_are_no_matter(film, tmp_path):
    """As old recorders write them: here GB 18030, in a clip that is canonical but for that."""
    ingest_file(film("x.mkv", range(12)), tmp_path / "clip.mp4")
    titled = tmp_path / "titled.mp4"
    with av.open(str(tmp_path / "clip.mp4")) as old, av.open(str(titled), "w") as new:
        new.metadata["title"] = "TITLE"
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.size:
                packet.stream = stream
                new.mux(packet)
    assert why_not_canonical(titled) is None
    assert titled.read_bytes().count(b"TITLE") == 1
    titled.write_bytes(titled.read_bytes().replace(b"TITLE", "动画".encode("gb18030") + b"!"))
    assert "not UTF-8" in why_not_canonical(titled)
    assert probe(titled).frames == 12
    facts = ingest_file(titled, tmp_path / "out.mp4")
    assert (facts.frames, facts.copied) == (12, False)


def test_the_same_source_gives_the_same_bytes(film, tmp_path):
    source = film("x.webm", range(20), codec="libvpx-vp9")
    assert len({ingest_file(source, tmp_path / f"{k}.mp4").sha256 for k in range(2)}) == 1


@pytest.mark.parametrize("name", ["x.mp4", "x.webm"])
def test_a_part_is_cut_exactly(film, tmp_path, read_number, name):
    """Not at key frames, which are half a second apart here."""
    codec = "libvpx-vp9" if name.endswith("webm") else "libx264"
    options = {"g": "15"} | ({"cpu-used": "8", "deadline": "realtime"} if codec == "libvpx-vp9" else {})
    source = film(name, range(150), Fraction(1, 30), rate=30, codec=codec, options=options)
    facts = ingest_file(source, tmp_path / "part.mp4", start=37, stop=85)
    assert facts.frames == 48 and not facts.copied
    shown = [read_number(rgb) for _, rgb in read_frames(tmp_path / "part.mp4")]
    assert shown == [i * 30 // 24 for i in range(37, 85)]
    assert why_not_canonical(tmp_path / "part.mp4") is None


def test_a_part_of_a_canonical_clip_is_made_and_the_whole_of_it_copied(film, tmp_path, read_number):
    ingest_file(film("x.mkv", range(60)), tmp_path / "whole.mp4")
    assert ingest_file(tmp_path / "whole.mp4", tmp_path / "again.mp4", start=0).copied
    part = ingest_file(tmp_path / "whole.mp4", tmp_path / "part.mp4", start=0, stop=59)
    assert (part.frames, part.copied) == (59, False)
    assert [read_number(rgb) for _, rgb in read_frames(tmp_path / "part.mp4")] == list(range(59))


def test_a_short_part_of_a_film_that_is_too_long(film, tmp_path):
    source = film("x.mkv", range(60), options={"g": "12"})
    settings = IngestSettings(longest_s=1)
    assert ingest_file(source, tmp_path / "part.mp4", settings=settings, start=30, stop=54).frames == 24
    for start, stop in [(0, 25), (20, None)]:
        with pytest.raises(VideoError, match="longer than 1 s"):
            ingest_file(source, tmp_path / "long.mp4", settings=settings, start=start, stop=stop)


def test_a_part_that_is_not_there_leaves_nothing(film, tmp_path):
    source = film("x.mkv", range(30))
    with pytest.raises(VideoError, match="frames 20 to 40 are asked for, but at 24 a second it has 30"):
        ingest_file(source, tmp_path / "out" / "part.mp4", start=20, stop=40)
    assert not list((tmp_path / "out").iterdir())


def test_files_become_clips_and_a_table(film, tmp_path):
    for name in ("in/A_one.mp4", "in/two.mkv"):
        (tmp_path / "in").mkdir(exist_ok=True)
        film(name, range(12))
    (tmp_path / "in" / "broken.mp4").write_text("no video")
    (tmp_path / "in" / "notes.txt").write_text("passed over")
    seen = []
    rows = ingest_files([tmp_path / "in"], tmp_path / "out", report=seen.append)
    assert seen == rows and [(Path(row.source).name, row.status) for row in rows] == [
        ("A_one.mp4", "ok"),
        ("broken.mp4", "failed"),
        ("two.mkv", "ok"),
    ]
    clips = read_clips(tmp_path / "out" / "clips.tsv")
    assert [(clip.clip_id, clip.category, clip.frames) for clip in clips] == [("A_one", "A", 12), ("two", "U", 12)]
    assert all(clip.mp4.parent == tmp_path / "out" and file_sha256(clip.mp4) == clip.sha256 for clip in clips)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["A_one.mp4", "clips.tsv", "two.mp4"]


def test_a_second_run_makes_nothing_again_and_adds_what_is_new(film, tmp_path):
    out = tmp_path / "out"
    old = film("old.mkv", range(12))
    ingest_files([old], out, category="B")
    made_at = (out / "old.mp4").stat().st_mtime_ns
    rows = ingest_files([old, film("new.mkv", range(6))], out)
    assert [row.clip.category for row in rows] == ["B", "U"]
    assert (out / "old.mp4").stat().st_mtime_ns == made_at
    assert [clip.clip_id for clip in read_clips(out / "clips.tsv")] == ["new", "old"]
    (out / "old.mp4").write_bytes(b"damaged")
    assert ingest_files([old], out)[0].clip.sha256 == file_sha256(out / "old.mp4")


def test_no_clip_takes_the_place_of_another(film, tmp_path):
    first, twin = film("x.mkv", range(12)), film("x.webm", range(6), codec="libvpx-vp9")
    good, bad = ingest_files([first, twin], tmp_path / "out")
    assert (good.status, bad.status) == ("ok", "failed")
    assert "'x' is used already" in bad.reason and "x.mkv" in bad.reason and str(twin) in bad.reason
    assert [clip.frames for clip in read_clips(tmp_path / "out" / "clips.tsv")] == [12]
    (tmp_path / "out" / "x.mp4").unlink()
    assert ingest_files([twin], tmp_path / "out")[0].clip.frames == 6


def test_a_clip_never_takes_the_place_of_its_own_source(film, tmp_path):
    """A film of another form, in the folder of clips: its clip would have its name. A clip of there is that clip already."""
    source = film("x.mp4", range(12))
    before = source.read_bytes()
    (row,) = ingest_files([source], tmp_path)
    assert row.status == "failed" and "would be replaced by its own clip" in row.reason
    assert source.read_bytes() == before
    clip = ingest_files([source], tmp_path / "out")[0].clip
    assert ingest_files([tmp_path / "out"], tmp_path / "out")[0].clip == clip


def test_a_clip_never_takes_the_place_of_a_file_that_is_no_clip(film, tmp_path):
    source, out = film("x.mkv", range(6)), tmp_path / "out"
    out.mkdir()
    (out / "x.mp4").write_text("somebody's own")
    (row,) = ingest_files([source], out)
    assert f"would replace {out / 'x.mp4'}, which is no clip of clips.tsv" in row.reason
    assert (out / "x.mp4").read_text() == "somebody's own" and len(list(out.iterdir())) == 1
    (out / "x.mp4").unlink()
    made = ingest_files([source], out)[0].clip
    (out / "clips.tsv").unlink()  # as by a kill between both
    assert ingest_files([source], out)[0].clip == made


def test_a_name_that_is_no_text_is_told_and_the_others_go_on(film, tmp_path):
    """Bytes of Latin-1, as old archives leave them."""
    films = tmp_path / "films"
    films.mkdir()
    film("films/good.mkv", range(6)).rename(os.fsdecode(os.fsencode(films) + b"/caf\xe9.mkv"))
    film("films/good.mkv", range(6))
    bad, good = sorted(ingest_files([films], tmp_path / "out"), key=lambda row: row.status)
    assert (bad.status, good.status) == ("failed", "ok")
    assert "caf\N{REPLACEMENT CHARACTER}.mkv: its name is not text in UTF-8; rename it" in bad.reason


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.mkv")
    (row,) = ingest_files([tmp_path / "pipe.mkv"], tmp_path / "out")
    assert "is no ordinary file" in row.reason


def test_a_licence_stays_with_the_bytes_that_it_is_of(film, tmp_path):
    ours, theirs = film("x.mkv", range(12)), film("x.webm", range(6), codec="libvpx-vp9")
    out = tmp_path / "out"
    clip = ingest_files([ours], out)[0].clip
    write_clips(out / "clips.tsv", [clip.model_copy(update={"licence": "CC0-1.0"})])
    clip.mp4.unlink()
    assert ingest_files([ours], out)[0].clip.licence == "CC0-1.0"
    clip.mp4.unlink()
    assert ingest_files([theirs], out)[0].clip.licence == ""


def test_two_processes_that_fill_one_folder_lose_no_clip(film, tmp_path):
    """Threads here, whose tables are as much their own as those of processes."""
    films = [[film(f"{side}{number}.mkv", range(6)) for number in range(4)] for side in "ab"]
    twins = [film("same.mkv", range(6)), film("same.webm", range(3), codec="libvpx-vp9")]
    with ThreadPoolExecutor(2) as pool:
        given = [[*ours, twin] for ours, twin in zip(films, twins, strict=True)]
        rows = [row for told in pool.map(lambda files: ingest_files(files, tmp_path / "out"), given) for row in told]
    assert sorted(row.status for row in rows) == ["failed", *["ok"] * 9]
    clips = {clip.clip_id: clip for clip in read_clips(tmp_path / "out" / "clips.tsv")}
    assert sorted(clips) == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "same"]
    assert all(file_sha256(clip.mp4) == clip.sha256 for clip in clips.values())


def test_unknown_category(tmp_path):
    with pytest.raises(UserError, match="unknown category 'Z'"):
        ingest_files([], tmp_path, category="Z")


def test_too_long(film, tmp_path):
    with pytest.raises(VideoError, match=r"longer than 1 s \(ingest.longest_s"):
        ingest_file(film("x.mkv", range(30)), tmp_path / "out.mp4", settings=IngestSettings(longest_s=1))
    assert not [path.name for path in tmp_path.iterdir() if "out" in path.name]


@pytest.mark.parametrize(
    ("told", "key"), [({"white_nits": 500, "peak_nits": 400}, "peak_nits"), ({"longest_s": float("nan")}, "longest_s")]
)
def test_settings_that_cannot_be(told, key):
    with pytest.raises(ConfigError, match=f"ingest: .*{key}"):
        IngestSettings(**told)


def test_a_source_that_breaks_half_way_leaves_nothing(film, tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (40, 48, 64, 3), np.uint8)
    source = film("broken.mkv", range(40), pictures=noise)
    source.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
    rows = ingest_files([source], tmp_path / "out")
    assert rows[0].status == "failed" and not list((tmp_path / "out").iterdir())


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk of 100 kB, as the superuser may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("needs the right to mount a tmpfs")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_full_disk(film, small_disk):
    noise = np.random.default_rng(0).integers(0, 256, (60, 48, 64, 3), np.uint8)
    sources = [film("noise.mkv", range(60), pictures=noise), film("quiet.mkv", range(5))]
    with pytest.raises(OSError, match=r"No space left on device; free some space"):
        ingest_files(sources, small_disk / "out")
    assert not list((small_disk / "out").iterdir())
    assert [row.status for row in ingest_files(sources[1:], small_disk / "out")] == ["ok"]  # goes on where there is room


def test_read_only_disk(film, small_disk):
    source = film("x.mkv", range(5))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(OSError, match="Read-only file system; choose a folder"):
        ingest_files([source], small_disk / "out")


def test_folder_without_permission(film):
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "x.mkv", Path(folder) / "out"
        shutil.copy(film("x.mkv", range(5)), source)
        out.mkdir(mode=0o555)
        root = os.geteuid() == 0
        if root:
            Path(folder).chmod(0o755)
            os.seteuid(65534)  # the superuser may write everywhere
        try:
            with pytest.raises(OSError, match="Permission denied; choose a folder that you may write to"):
                ingest_file(source, out / "x.mp4")
        finally:
            if root:
                os.seteuid(0)
