"""A run whose store is packed: nothing is made again, and everything can still be looked at, scored and reported."""

import subprocess
import sys

import pytest
from running import DEMO, Workflow, small_table

from codecap import store
from codecap.records import Render, read_rows

pytestmark = pytest.mark.slow

SYSTEMS = ["vtrace", "blank"]


def store_command(run: Workflow, *arguments: str) -> str:
    command = [sys.executable, "-m", "codecap", "store", *arguments, "--config", str(DEMO)]
    return subprocess.run(command, cwd=run.folder, check=True, capture_output=True, text=True).stdout


def loose(run: Workflow) -> list[str]:
    found = (path.relative_to(run.folder / "store") for path in (run.folder / "store").rglob("*") if path.is_file())
    return [
        path.as_posix()
        for path in found
        if path.parts[1] not in ("log", "clips", "ledger") and not path.name.endswith(".items.zip")
    ]


def report(run: Workflow) -> dict[str, bytes]:
    folder = run.folder / "results" / "8_report"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_packed_store_is_as_good_as_a_loose_one(demo, tmp_path):
    run = demo.copy(tmp_path)
    run.configure(systems=SYSTEMS)
    run.finish("all")
    made, tables, shown = run.made(), run.tables(), report(run)
    assert " items packed" in store_command(run, "pack") and loose(run) == []
    assert store_command(run, "verify", "--contents") == "0 problems\n"
    assert "Nothing to be done" in run.finish("dataset", "all")

    renders = (run.folder / "results" / "5_render" / system for system in SYSTEMS)
    rows = [row for folder in renders for path in folder.rglob("*.jsonl") for row in read_rows(path, Render)]
    assert rows and all(store.there(run.folder / row.mp4) and not (run.folder / row.mp4).exists() for row in rows if row.mp4)

    run.finish("--forcerun", "render_captions", "score_renders", "segment_objects", "build_report")
    assert run.made() == made and run.tables() == tables and report(run) == shown and loose(run) == []

    for path in (run.folder / "store" / "durable" / "score" / "kss").rglob("*.items.zip"):
        path.unlink()  # purged: what is scored again reads videos, pages and descriptions out of packs
    run.finish("--forcerun", "score_renders")
    scored = run.made() - made
    assert {stage for stage, *_ in scored} == {"score/kss"} and len(scored) == sum(row.mp4 is not None for row in rows)
    assert run.tables() == tables

    store_command(run, "unpack")
    assert store_command(run, "verify", "--contents") == "0 problems\n"
    assert "Nothing to be done" in run.finish("dataset", "all")


def test_jobs_pack_what_they_finish(workflow):
    table = small_table(workflow.folder / "clips.tsv", 1)
    workflow.configure(store={"pack": True}, systems=["still"], clips=table, buckets=1)
    workflow.finish("results/6_score/cpu/still/00.jsonl")
    assert loose(workflow) == []
    packs = list((workflow.folder / "store").rglob("*.items.zip"))
    assert packs and {path.name[:3] for path in packs} == {"00-"}
    made = workflow.made()
    workflow.finish("results/6_score/cpu/still/00.jsonl", "--forcerun", "score_renders")
    assert workflow.made() == made
