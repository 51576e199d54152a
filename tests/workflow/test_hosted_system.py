"""A model behind an API that is known is one entry: only its jobs are planned, its row appears, and nothing is bought twice."""

import os
import shutil
import signal
import time

import pytest
from loopback import Loopback
from running import planned, small_table

pytestmark = pytest.mark.slow

PAGE = """```html
<!doctype html>
<html><body><script>
window.seek = seconds => { document.body.style.background = `hsl(${Math.round(seconds * 40)} 60% 50%)`; };
</script></body></html>
```"""
OF_A_SYSTEM = {"generate_captions", "render_captions", "score_renders"}
CLIPS = 2
DROPPED = ("visual_similarity", "object_iou", "retention", "appearance", "mps", "key_frames", "frame_similarity")


def test_one_entry_plans_its_own_jobs_and_is_paid_once(workflow):
    run = workflow
    small = {"metrics": dict.fromkeys(DROPPED), "clips": small_table(run.folder / "clips.tsv", CLIPS), "buckets": 1}
    run.configure(systems=["blank"], **small)
    run.finish("all")
    with Loopback(answer=lambda _: PAGE, for_s=240) as server:
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url(), "key_env": None}
        hosted = {"label": "Hosted", "harness": "direct", "endpoint": endpoint}
        run.configure(systems=["blank", "hosted"], models={"hosted": hosted}, **small)
        jobs = planned(run.finish("all", "--dry-run"))
        assert {rule for rule, system in jobs if system} == OF_A_SYSTEM and {system for _, system in jobs} == {"hosted", None}
        assert {rule for rule, system in jobs if system is None} == {"compare_systems", "build_report", "all"}
        killed_while_it_asks(run, server)
        run.finish("all")
        rows = {row["system"]: row for row in run.tables()["main.csv"]}
        assert float(rows["hosted"]["success_rate"]) == 100
        assert (server.account.calls, server.account.twice) == (CLIPS, 0)
        made = run.folder / "results" / "4_generate" / "hosted"
        rows_before = {path.name: path.read_bytes() for path in made.iterdir()}
        shutil.rmtree(made)
        shutil.rmtree(run.folder / "store" / "durable" / "runs" / "hosted")
        before = run.made()
        run.finish(*(f"results/4_generate/hosted/{name}" for name in rows_before))
        assert server.account.calls == CLIPS
        assert {path.name: path.read_bytes() for path in made.iterdir()} == rows_before
        assert {stage for stage, _, _ in run.made() - before} == {"runs"}  # read from the exchanges; the same pages as before


def killed_while_it_asks(run, server):
    """SIGKILL to all of a run, while a call hangs and the others have ended."""
    server.behave("well", *["hang"] * (CLIPS - 1))
    process = run.start("all", start_new_session=True)
    try:
        end = time.monotonic() + 60
        while not (server.ways.count("hang") and server.account.calls) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)
        assert server.account.calls == 1
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    server.ways.clear()
