"""What is computed again after a change: counted from the store's log."""

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from loopback import Loopback
from running import small_table, smallest

from codecap.clips_table import read_clips, write_clips
from codecap.config import PROJECT

pytestmark = pytest.mark.slow

CLIPS = sorted(clip.clip_id for clip in read_clips(PROJECT / "resources" / "demo" / "clips.tsv"))
TWO = ["still", "blank"]  # systems that take the least time
NEW = "B_002"


def new_items(before: Counter, after: Counter) -> Counter:
    return after - before


def stages(items: Counter) -> Counter:
    return Counter(stage for stage, _, _ in items.elements())


def test_a_new_system_computes_its_own_items_only(demo, tmp_path):
    run = demo.copy(tmp_path)
    before = run.made()
    run.configure(models={"void": {"label": "Another empty page", "harness": "vtrace", "mode": "blank"}})
    run.finish("all")
    new = new_items(before, run.made())
    assert {system for _, system, _ in new} == {"void"}
    assert set(new.values()) == {1}
    assert stages(new) == {stage: len(CLIPS) for stage in stages(new)}
    assert {"generate", "render", "prompt_objects", "segment_objects", "score/kss"} <= set(stages(new))
    assert "void" in {row["system"] for row in run.tables()["main.csv"]}


def test_a_new_clip_computes_one_item_a_stage_and_system(demo, tmp_path):
    """The new clip is the smallest one under another name: the same pictures, so its annotation fits too."""
    run = demo.copy(tmp_path / "run")
    folder = PROJECT / "resources" / "demo"
    clips = read_clips(folder / "clips.tsv")
    (twin,) = smallest(1)
    write_clips(tmp_path / "clips.tsv", [*clips, twin.model_copy(update={"clip_id": NEW})])
    annotations = tmp_path / "annotations"
    annotations.mkdir()
    for path in (folder / "annotations").glob("*.json"):
        (annotations / path.name).write_text(path.read_text())
    approved = (folder / "annotations" / f"{twin.clip_id}.json").read_text()
    (annotations / f"{NEW}.json").write_text(approved.replace(f'"{twin.clip_id}"', f'"{NEW}"'))
    run.configure(clips=str(tmp_path / "clips.tsv"), annotations_folder=str(annotations), systems=TWO)
    before = run.made()
    run.finish("all")
    new = new_items(before, run.made())
    assert {clip for _, _, clip in new} == {NEW}
    assert set(new.values()) == {1}
    for stage, counts in stages(new).items():
        assert counts == (1 if stage.startswith("describe/") else 2), stage


def test_a_comment_re_runs_nothing_and_a_change_that_metrics_items_alone(demo, tmp_path):
    run = demo.copy(tmp_path / "run").with_a_project_of_its_own(tmp_path / "project")
    run.configure(systems=TWO)
    run.finish("all")  # the tables of these two
    tables = run.tables()
    kss = tmp_path / "project" / "scripts" / "codecap" / "score" / "kss.py"
    original = kss.read_text()

    kss.write_text(original + "\n# a comment\n")
    before = run.made()
    assert "Nothing to be done" in run.finish("all")

    assert "(0.01 * 255)" in original
    kss.write_text(original.replace("(0.01 * 255)", "(0.01 * 254)"))
    run.finish("all")
    new = new_items(before, run.made())
    assert set(stages(new)) == {"score/kss", "describe/kss"}
    assert stages(new)["score/kss"] == len(TWO) * len(CLIPS)

    kss.write_text(original)
    unchanged = run.made()
    run.finish("all")
    assert run.made() == unchanged  # the old items are still in the store
    assert run.tables() == tables


def test_a_second_judge_renders_nothing_again_and_is_paid_once(demo, tmp_path):
    """A hosted judge beside the demo's own: only its own numbers are made, and a run after an edit asks nothing."""
    run = demo.copy(tmp_path)
    before = run.made()
    with Loopback(for_s=900) as server:
        endpoint = {"api": "openai", "model": "second", "base_url": server.base_url()}
        entry = {"module": "retention", "lane": "judge", "judge": "mllm", "judges": {"mllm": {"endpoint": endpoint}}}
        run.configure(metrics={"retention_second": entry}, systems=TWO)
        run.finish("all")
        new = new_items(before, run.made())
        assert set(stages(new)) == {"score/retention_second"}
        assert set(new.values()) == {1}
        assert stages(new)["score/retention_second"] == len(TWO) * len(CLIPS)
        paid = server.account.calls
        assert paid == len(server.account.bodies) > 0
        shutil.rmtree(tmp_path / "store" / "durable" / "score" / "retention_second")
        judged = [str(path.relative_to(run.folder)) for path in run.folder.glob("results/6_score/judge/*/*.jsonl")]
        run.finish("all", "--forcerun", *judged)
        assert len(judged) == 2 * len(TWO) and server.account.calls == paid
    exact = {row["system"]: row for row in run.tables()["exact.csv"]}  # the demo's own judge is a stand-in, in the main table
    assert {float(row["retention_second_overall"]) for row in exact.values()} == {80.0}


def test_killed_at_three_stages_and_run_again(demo, tmp_path, workflow):
    """SIGKILL to the whole process group while it generates, renders and scores; then to the end."""
    small = {"systems": TWO, "buckets": 1, "clips": small_table(tmp_path / "clips.tsv", 2)}
    workflow.configure(**small)
    for stage in ("generate", "render", "score/kss"):
        run = workflow.start("all", start_new_session=True)
        try:
            wait_until(lambda stage=stage: any(found == stage for found, _, _ in workflow.made()), run)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
            run.wait(30)
        kill_leftovers(workflow)
    workflow.finish("all")
    assert {count for _, count in workflow.made().items()} == {1}

    undisturbed = demo.copy(tmp_path / "undisturbed")
    undisturbed.configure(**small)
    undisturbed.finish("all")
    assert workflow.tables() == undisturbed.tables()


def wait_until(condition, run: subprocess.Popen, limit_s: float = 600) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert run.poll() is None, f"the run ended before it was killed:\n{run.stdout.read()[-3000:]}"
        assert time.monotonic() < end
        time.sleep(0.2)


def kill_leftovers(workflow) -> None:
    """Jobs that Snakemake started in groups of their own: those whose working folder is the test's."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == workflow.folder.resolve():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue
