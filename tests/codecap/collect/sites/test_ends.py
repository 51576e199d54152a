"""Fetches that are killed, stopped, or done by two at once: nothing is fetched twice, and no part is taken for a whole."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codecap import stopping
from codecap.collect import collect_candidates, fetch_shard

FETCH = """
import json, sys
from pathlib import Path
from codecap.collect import collect_candidates, fetch_shard
sources, bulk, durable = json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
for row in fetch_shard(collect_candidates(sources).candidates, sources, bulk, durable):
    print(row.model_dump_json(), flush=True)
"""


def command(sources: dict, tmp_path: Path) -> list[str]:
    return [sys.executable, "-c", FETCH, json.dumps(sources), str(tmp_path / "bulk"), str(tmp_path / "durable")]


def again(sources: dict, tmp_path: Path) -> list:
    return list(fetch_shard(collect_candidates(sources).candidates, sources, tmp_path / "bulk", tmp_path / "durable"))


def wait_for_draft(tmp_path: Path, least: int, of: str = "v2") -> None:
    """Of the video that stalls: another one's may come to its end at any moment."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if any(of in str(path) and path.stat().st_size >= least for path in (tmp_path / "bulk").rglob("*.part")):
            return
        time.sleep(0.05)
    raise AssertionError("no draft has come")


@pytest.fixture
def sources(site, video):
    """Five videos, of which the third stalls when it is asked for the first time."""
    urls = [site.put(f"v{number}.mp4", video(seed=number), "video/mp4") for number in range(5)]
    site.pages[site._key(urls[2])].ways = ["stall", "ok"]
    return {"web": {"plugin": "http", "urls": urls}}


def test_killed_and_run_again_nothing_is_fetched_twice(site, sources, tmp_path):
    urls = sources["web"]["urls"]
    child = subprocess.Popen(command(sources, tmp_path), stdout=subprocess.DEVNULL)
    try:
        wait_for_draft(tmp_path, 1000)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(10)
    rows = again(sources, tmp_path)
    assert [row.status for row in rows] == ["ok"] * 5
    assert [row.path.read_bytes() == site.pages[site._key(url)].body for row, url in zip(rows, urls, strict=True)] == [True] * 5
    assert [site.count(url) for url in urls] == [1, 1, 2, 1, 1] and len(site.ranges) == 1
    assert again(sources, tmp_path) == rows and site.asked.total() == 6


def test_two_at_once_fetch_each_once(site, sources, tmp_path):
    urls = sources["web"]["urls"]
    site.pages[site._key(urls[2])].ways = ["ok"]
    children = [subprocess.Popen(command(sources, tmp_path), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [child.communicate(timeout=60)[0].splitlines() for child in children]
    assert told[0] == told[1] and len(told[0]) == 5
    assert [site.count(url) for url in urls] == [1] * 5


def test_a_stop_is_heard_within_a_download(site, sources, tmp_path, monkeypatch):
    """What came so far stays, and the next run goes on with it."""
    monkeypatch.setattr("codecap.collect.sites.download.stopping.check", lambda: (_ for _ in ()).throw(stopping.Stopped("time")))
    with pytest.raises(stopping.Stopped):
        again(sources, tmp_path)
    monkeypatch.undo()
    site.released.set()
    assert [row.status for row in again(sources, tmp_path)] == ["ok"] * 5


def test_a_disk_that_is_full_is_an_error_of_ours(site, video, tmp_path, small_disk):
    address = site.put("a.mp4", video(frames=480, height_px=96), "video/mp4")
    sources = {"web": {"plugin": "http", "urls": [address]}}
    assert len(site.pages[site._key(address)].body) > 1e6
    with pytest.raises(OSError, match=r"No space left|space"):
        list(fetch_shard(collect_candidates(sources).candidates, sources, small_disk / "bulk", tmp_path / "durable"))
