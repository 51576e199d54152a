"""A shard that is asked to stop while browsers draw: what is under way is kept or begun anew, never taken for a bad page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from codecap import stopping
from codecap.clips_table import read_clips, write_clips
from codecap.records import Caption, Clip, Outcome, write_rows
from codecap.shards import SHARDS, Journals
from codecap.store import made
from codecap.video import CanonicalWriter

pytestmark = pytest.mark.slow

FRAMES = 40
PAGES = 6
PAGE = """<body><script>
window.seek = t => { for (let i = 0; i < 8e7; i++); document.body.style.background = `rgb(${Math.round(t * 100) % 256}, 0, 0)`; }
</script>"""
NOISE = """<body style="margin:0"><canvas id="c" width="640" height="360"></canvas><script>
const context = c.getContext("2d"), picture = context.createImageData(640, 360), words = new Uint32Array(picture.data.buffer);
window.seek = t => {
  let state = 1 + Math.round(t * 1000);
  for (let i = 0; i < words.length; i++) { state = Math.imul(state, 1664525) + 1013904223; words[i] = (state >>> 8) | 0xff000000; }
  context.putImageData(picture, 0, 0);
}
</script>"""
RUN = """
from pathlib import Path
from codecap import job
from codecap.clips_table import read_clips
from codecap.records import Caption, read_rows
from codecap.render.renders import render_shard
config = {"store": {"durable": "durable", "bulk": "bulk"}, "cluster": {"stop_before_s": 60}}
with job.shard("render_captions", ["s", "00"], ["log"], {}, {}, config) as shard:
    clips = {clip.clip_id: clip for clip in read_clips(Path("clips.tsv"))}
    captions = list(read_rows(Path("captions"), Caption))
    settings = {"repeat_samples": 0, "seek_wait_s": 0}
    rows = render_shard(captions, clips, settings=settings, code="c", bulk=Path("bulk"), browsers=2)
    for row in shard.counted(rows, "renders", len(captions)):
        print(row.clip_id, row.outcome, row.detail, flush=True)
"""


def name(number: int) -> str:
    return f"A_{number:03d}"


@pytest.fixture
def pages():
    return PAGES


@pytest.fixture
def start(browser, tmp_path, pages):
    """Pages, two at a time, in a process of their own."""
    captions, clips = [], []
    for number in range(pages):
        mp4, html = tmp_path / f"{name(number)}.mp4", tmp_path / f"{name(number)}.html"
        with CanonicalWriter(mp4, 64, 48) as writer:
            for _ in range(FRAMES):
                writer.add(np.full((48, 64, 3), 10 * number, np.uint8))
        html.write_text(PAGE)
        size = {"frames": FRAMES, "width_px": 64, "height_px": 48}
        clips.append(Clip(clip_id=name(number), category="A", mp4=mp4, sha256=str(number), **size))
        captions.append(Caption(system="s", clip_id=name(number), key=f"k{number}", outcome=Outcome.OK, html=html))
    write_clips(tmp_path / "clips.tsv", clips)
    write_rows(tmp_path / "captions", Caption, captions)
    running = []

    def begin(**environment: str) -> psutil.Popen:
        where = {"cwd": tmp_path, "env": os.environ | environment}
        run = psutil.Popen([sys.executable, "-c", RUN], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **where)
        running.append(run)
        return run

    yield begin
    for run in running:
        if run.poll() is None:
            run.kill()
        run.communicate()


def everyone(run: psutil.Popen, at_least: int) -> list[psutil.Process]:
    """All processes of a job, as SLURM knows them, once that many browsers' processes are there."""
    end = time.monotonic() + 20
    while len(found := run.children(recursive=True)) < at_least:
        assert time.monotonic() < end
        time.sleep(0.05)
    return [run, *found]


def tell(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_all_processes_of_the_job(start, tmp_path, number):
    run = start()
    assert "A_000 ok" in run.stdout.readline()
    processes = everyone(run, at_least=8)
    time.sleep(0.3)
    tell(processes, number)
    told, _ = run.communicate(timeout=30)
    assert run.returncode == stopping.STATUS, told
    assert "crash" not in told
    stored = [entry["clip_id"] for entry in made(tmp_path / "bulk")]
    assert 1 <= len(stored) == len(set(stored)) < PAGES  # nothing new has begun
    assert not [path.name for path in (tmp_path / "bulk").rglob(".*") if "draft" in path.name]
    assert Journals(tmp_path / SHARDS).read("render_captions/s/00").state == "stopped"
    _, alive = psutil.wait_procs(processes, timeout=5)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    goes_on(start, tmp_path)


@pytest.mark.parametrize("pages", [16])  # more than the fastest machine draws by then
def test_what_is_under_way_at_the_deadline_comes_to_its_end(start, tmp_path, pages):
    run = start(SLURM_JOB_ID="1", SLURM_JOB_END_TIME=str(time.time() + 10))  # half of it for new pages
    told, _ = run.communicate(timeout=60)
    assert run.returncode == stopping.STATUS, told
    mark = Journals(tmp_path / SHARDS).read("render_captions/s/00")
    assert f"stopped cleanly after {mark.done} of {pages}" in mark.detail
    stored = [entry["clip_id"] for entry in made(tmp_path / "bulk")]
    assert mark.done < len(stored) < pages  # also those that no row was asked of
    goes_on(start, tmp_path, pages)


def goes_on(start, tmp_path, pages: int = PAGES) -> None:
    told, _ = start().communicate(timeout=200)
    assert [line.split()[1] for line in told.splitlines()] == ["ok"] * pages
    assert sorted(entry["clip_id"] for entry in made(tmp_path / "bulk")) == [name(number) for number in range(pages)]


def test_a_full_disk_ends_the_job_in_words(start, tmp_path, small_disk):
    for page in tmp_path.glob("*.html"):
        page.write_text(NOISE)
    clips = tmp_path / "clips.tsv"
    write_clips(clips, [clip.model_copy(update={"width_px": 640, "height_px": 360}) for clip in read_clips(clips)])
    (tmp_path / "bulk").symlink_to(small_disk)
    run = start()
    told, _ = run.communicate(timeout=60)
    assert run.returncode == 1, told
    assert told.count("codecap: ") == 1
    assert re.search(r"^codecap: .*no space left", told, re.MULTILINE), told
    assert not [path for path in small_disk.rglob("*") if path.is_file() and path.suffix != ".jsonl"]
    assert Journals(tmp_path / SHARDS).read("render_captions/s/00").state == "failed"
