"""`codecap store` on a small store."""

import json

import pytest
from typer.testing import CliRunner

from codecap.cli import app
from codecap.config import PROJECT
from codecap.store import ItemStore, settings


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
