"""The commands on a run's folder: review, decide, export, verify, rebuild."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from codecap.cli import app
from codecap.clips_table import write_clips
from codecap.collect.ingest import source_mark
from codecap.collect.ledger import KEPT
from codecap.config import load
from codecap.filtering.decisions import COLUMNS, cut_of, read_decisions
from codecap.records import (
    Annotation,
    Candidate,
    Clip,
    FocalPoint,
    Ingested,
    LedgerEntry,
    Verdict,
    read_rows,
    write_record,
    write_rows,
)
from codecap.video import CanonicalWriter, file_sha256

RUNNER = CliRunner()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clip:
    """A run's folder with one clip, which the filter drops, and its configuration `my.yaml`."""
    monkeypatch.chdir(tmp_path)
    mp4 = tmp_path / "clips" / "F_one.mp4"
    with CanonicalWriter(mp4, 64, 36) as writer:
        for frame in range(48):
            writer.add(np.full((36, 64, 3), 20 + 4 * frame, np.uint8))
    digest = file_sha256(mp4)
    clip = Clip(
        clip_id="F_one", category="F", mp4=mp4, sha256=digest, frames=48, width_px=64, height_px=36, licence="CC0",
        source=source_mark(mp4, digest),
    )  # fmt: skip
    write_rows(Path("results/1_collect/clips/00.jsonl"), Ingested, [Ingested(source="here", status="ok", clip=clip)])
    write_rows(Path("results/2_filter/00.jsonl"), Verdict, [Verdict(clip_id="F_one", decision="drop", features={})])
    candidate = Candidate(candidate_id="F_one", source="mine", locator=str(mp4), category="F", licence="CC0")
    entry = LedgerEntry(candidate=candidate, status="fetched", sha256=digest, clips=["F_one"])
    write_rows(Path("results/1_collect/ledger.jsonl"), LedgerEntry, [entry])
    write_clips(Path("clips.tsv"), [clip])
    point = FocalPoint(focal_id="f", kind="static", description="Grey", start_s=0, end_s=1)
    write_record(Path("approved/F_one.json"), Annotation(clip_id="F_one", focal_points=[point]))
    told = {
        "buckets": 1, "decisions": "decisions.tsv", "clips": "clips.tsv", "clips_folder": None, "annotations_folder": "approved",
        "sources": {"mine": {"plugin": "local", "paths": ["clips"]}}, "dataset": {"name": "One clip"},
    }  # fmt: skip
    Path("my.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return clip


def call(*words: str, status: int = 0) -> str:
    done = RUNNER.invoke(app, [*words])
    assert done.exit_code == status, (done.output, done.exception)
    return done.stdout


def test_a_review_becomes_the_table_of_decisions(run: Clip) -> None:
    assert "1 clips; the filter keeps 0" in call("filter", "review", "--out", "review", "--config", "my.yaml")
    assert Path("review/index.html").is_file()
    cells = [run.clip_id, cut_of(run), "keep", "Ada", "2026-11-30T10:00:00Z", ""]
    Path("d.tsv").write_text("\t".join(COLUMNS) + "\n" + "\t".join(cells) + "\n", encoding="utf-8")
    assert "1 decisions are new" in call("filter", "decide", "d.tsv", "--config", "my.yaml")
    assert read_decisions(Path("decisions.tsv"))["F_one"].decision == "keep"
    call("filter", "review", "--out", "review", "--config", "my.yaml", status=1)  # somebody may be working on it


def test_a_folder_without_a_run(run: Clip) -> None:
    Path("results/2_filter/00.jsonl").unlink()
    call("filter", "review", "--out", "review", "--config", "my.yaml", status=1)
    assert not Path("review").exists()


def test_publish_verify_and_rebuild(run: Clip) -> None:
    told = call("dataset", "export", "--out", "published", "--config", "my.yaml")
    assert "1 clips, 1 with their video" in told and "dataset.creators" in told
    assert call("dataset", "verify", "published").endswith("0 problems\n")
    found = json.loads(call("dataset", "rebuild", "published", "--out", "rebuilt", "--config", "my.yaml", "--json"))
    assert (found["bit-equal"], found["lost"]) == (1, 0)
    Path("published/clips/F_one.mp4").unlink()
    assert "F_one.mp4: is missing" in call("dataset", "verify", "published", status=1)
    lost = call("dataset", "rebuild", "published", "--out", "again", "--config", "my.yaml", status=1)
    assert "lost" in lost and "--originals" in lost
    call("dataset", "rebuild", "published", "--out", "again", "--originals", "clips", "--config", "my.yaml")
    call("dataset", "verify", "clips", status=1)


def test_the_stores_ledger_tells_of_the_configured_sources_alone(run: Clip) -> None:
    """Other data sets use the same store; what they looked for is nobody's business."""
    ledger, kept = Path("results/1_collect/ledger.jsonl"), Path(load(Path("my.yaml"))["store"]["durable"]) / KEPT
    mine = next(iter(read_rows(ledger, LedgerEntry)))
    other = mine.candidate.model_copy(update={"candidate_id": "B_other", "source": "other"})
    write_rows(kept, LedgerEntry, [mine, LedgerEntry(candidate=other, status="waiting")])
    ledger.unlink()
    assert "no clip has an address" not in call("dataset", "export", "--out", "published", "--config", "my.yaml")
    assert [row.candidate.candidate_id for row in read_rows(Path("published/ledger.jsonl"), LedgerEntry)] == ["F_one"]
    kept.unlink()
    assert "no clip has an address: no ledger" in call("dataset", "export", "--out", "again", "--config", "my.yaml")
