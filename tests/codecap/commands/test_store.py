"""`codecap store` on a small store."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codecap.cli import app
from codecap.clips_table import read_clips, write_clips
from codecap.config import PROJECT, load
from codecap.plan import bucket_of
from codecap.shards import SHARDS, Journals, Mark
from codecap.status import record
from codecap.store import ItemStore, packs, settings


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command on a store of three items, two with a file."""
    monkeypatch.setattr(settings, "_current", settings.StoreSettings())
    roots = {"durable": str(tmp_path / "durable"), "bulk": str(tmp_path / "bulk")}
    (tmp_path / "mine.yaml").write_text(json.dumps({"store": roots, "buckets": 1}))
    videos, scores = (
        ItemStore(tmp_path / "bulk", stage="render", salt=0),
        ItemStore(tmp_path / "durable", stage="score/kss", salt=0),
    )
    for clip in ("A_001", "A_002"):
        videos.get_or_make("still", clip, "k", lambda draft: [draft.file("mp4").write_bytes(b"pictures")])
    scores.get_or_make("still", "A_001", "k", lambda _: [0.5])

    def command(*arguments: str):
        config = [str(PROJECT / "config" / "demo.yaml"), "--config", str(tmp_path / "mine.yaml")]
        result = CliRunner().invoke(app, ["store", *arguments, "--config", *config])
        return result.exit_code, result.stdout

    return command


def test_items_are_packed_and_unpacked_and_stay_whole(run, tmp_path):
    assert run("pack") == (
        0,
        f"     1 items packed,     +0 files  {tmp_path / 'durable' / 'score' / 'kss' / 'still'}\n"
        f"     2 items packed,     -3 files  {tmp_path / 'bulk' / 'render' / 'still'}\n"
        "3 items packed, -3 files\n",
    )
    assert run("verify", "--contents") == (0, "0 problems\n")
    assert run("pack") == (0, "0 items packed, +0 files\n")
    assert run("unpack")[1].endswith("3 items unpacked, +3 files\n")
    assert run("verify") == (0, "0 problems\n") and run("clean") == (0, "0 files removed\n")


def test_what_is_missing_is_told_with_status_1(run, tmp_path):
    video = next((tmp_path / "bulk").rglob("A_002*.mp4"))
    video.unlink()
    assert run("verify") == (1, f"{video}: missing; it is made again at the next run\n1 problems\n")


def test_the_log_counts_what_was_made(run):
    assert run("log") == (0, "     2 render                       still\n     1 score/kss                    still\n")
    assert [entry["clip_id"] for entry in json.loads(run("log", "--json")[1])] == ["A_001", "A_001", "A_002"]


@pytest.fixture
def in_a_run(run, tmp_path, monkeypatch):
    """Commands without --config, in the folder of a run whose store is elsewhere than the demo's."""
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.chdir(folder)
    record(load(PROJECT / "config" / "demo.yaml", tmp_path / "mine.yaml"))
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("command", ["verify", "log", "pack", "unpack", "clean"])
def test_without_a_configuration_the_runs_own_counts(in_a_run, tmp_path, command):
    next((tmp_path / "bulk").rglob("A_002*.mp4")).unlink()
    told = in_a_run("store", command)
    assert f"{tmp_path / 'durable'} and {tmp_path / 'bulk'}" in told.stderr and str(tmp_path / "run") in told.stderr
    assert told.exit_code == (1 if command == "verify" else 0)
    assert command != "verify" or "A_002" in told.stdout
    assert command != "log" or "render" in told.stdout


def test_packs_are_those_of_the_runs_shards(in_a_run, tmp_path):
    in_a_run("store", "pack")
    names = [path.name for path in tmp_path.rglob("*.items.zip")]
    assert len(names) == 2 and {name.partition("-")[0] for name in names} == {bucket_of("A_001", 1)}


def test_show_goes_by_the_runs_configuration(in_a_run, tmp_path):
    config = json.loads(Path("results/.config.json").read_text())
    clips = read_clips(PROJECT / "resources" / "demo" / "clips.tsv")
    write_clips(Path("mine.tsv"), clips[:1])
    record(config | {"clips": "mine.tsv"})
    assert in_a_run("show", clips[0].clip_id).exit_code == 0
    told = in_a_run("show", clips[1].clip_id)
    assert told.exit_code == 1 and "mine.tsv" in told.stderr


def test_a_store_that_is_not_there_is_said_with_status_1(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ("verify", "log", "pack", "unpack", "clean"):
        told = CliRunner().invoke(app, ["store", command])
        assert told.exit_code == 1 and f"{tmp_path / 'store' / 'durable'}" in told.stderr and "no such folder" in told.stderr
        assert "problems" not in told.stdout


def purge(tmp_path, root):
    shutil.rmtree(tmp_path / root)


def test_with_one_root_gone_the_other_is_looked_at(run, tmp_path):
    purge(tmp_path, "bulk")
    told = f"{tmp_path / 'bulk'}: no such folder; what the run needs of it is made again at the next run\n1 problems\n"
    assert run("verify") == (1, told)
    assert run("log") == (0, "     1 score/kss                    still\n")
    assert run("pack")[0] == run("unpack")[0] == run("clean")[0] == 0


@pytest.mark.parametrize("gone", ["all of it", "one item with its record", "one file"])
def test_in_a_runs_folder_all_that_its_rows_name_is_missed_once(in_a_run, tmp_path, gone):
    videos = sorted((tmp_path / "bulk").rglob("*.mp4"))
    shard = "render_captions/still/00"
    Journals(SHARDS).write(shard, Mark(shard, state="finished", total=2, done=2, files=tuple(map(str, videos))))
    assert in_a_run("store", "verify").stdout == "0 problems\n"
    if gone == "all of it":
        purge(tmp_path, "bulk")
    for path in videos[0].parent.iterdir() if gone == "one item with its record" else videos[:1] if gone == "one file" else ():
        path.unlink()
    packs._KNOWN.clear()
    told = in_a_run("store", "verify")
    missing = [line for line in told.stdout.splitlines() if line.endswith(": missing; it is made again at the next run")]
    expected = videos if gone == "all of it" else videos[:1]
    assert told.exit_code == 1
    assert missing == [f"{video}: missing; it is made again at the next run" for video in expected]
    assert told.stdout.endswith(f"{len(expected) + (gone == 'all of it')} problems\n")


def test_what_a_damaged_pack_has_lost_is_told_with_status_1(run, tmp_path):
    run("pack")
    one = next((tmp_path / "bulk").rglob("*.items.zip"))
    with zipfile.ZipFile(one) as opened:
        at = opened.infolist()[0].header_offset + 30 + len(opened.namelist()[0])
    told = bytearray(one.read_bytes())
    told[at] ^= 1
    one.write_bytes(told)
    packs._KNOWN.clear()
    code, said = run("unpack")
    assert code == 1 and "set aside" in said and "is damaged there" in said and said.endswith("2 items unpacked, +3 files\n")
