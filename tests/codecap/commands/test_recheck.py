"""`codecap dataset recheck` on a collection of files of this machine, of which one is no more."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from codecap.cli import app
from codecap.collect.ledger import changed, read_ledger
from codecap.records import Candidate, LedgerEntry

RUNNER = CliRunner()


def call(status: int = 0) -> str:
    done = RUNNER.invoke(app, ["dataset", "recheck", "--config", "my.yaml"])
    assert done.exit_code == status, (done.output, done.exception)
    return done.output


def entry(name: str, **told) -> LedgerEntry:
    candidate = Candidate(candidate_id=name, source="mine", locator=f"clips/{name}.mp4", category="F")
    return LedgerEntry(candidate=candidate, **{"status": "fetched", "sha256": "5" * 64, **told})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    store = {"durable": "store/durable", "bulk": "store/bulk"}
    sources = {"mine": {"plugin": "local", "paths": ["clips"]}, "demo": None}
    Path("my.yaml").write_text(yaml.safe_dump({"sources": sources, "store": store}), encoding="utf-8")
    Path("clips").mkdir()
    for name in ("here", "back"):
        Path("clips", f"{name}.mp4").touch()
    return tmp_path / "store/durable"


def test_what_is_gone_and_what_is_there_again(run: Path) -> None:
    told = [entry("here"), entry("lost"), entry("back", status="failed", cause="gone", sha256=""), entry("soon", status="waiting")]
    with changed(run) as entries:
        entries |= {one.candidate.candidate_id: one for one in told}
    lines = call().splitlines()
    assert lines[0].split() == ["can", "be", "had", "back", "clips/back.mp4"]
    assert lines[1].startswith("gone       lost  clips/lost.mp4  clips/lost.mp4: no such file")
    assert lines[2] == "3 asked about: 1 gone, 1 can be had again, 0 not answered"
    ledger = read_ledger(run)
    assert {name: (one.status, bool(one.gone)) for name, one in ledger.items()} == {
        "back": ("waiting", False), "here": ("fetched", False), "lost": ("fetched", True), "soon": ("waiting", False),
    }  # fmt: skip
    assert call().splitlines()[0].startswith("0 asked about")


def test_without_a_ledger(run: Path) -> None:
    assert call().startswith("0 asked about")
    assert read_ledger(run) == {}
