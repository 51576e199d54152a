"""A store of a test's own, and processes that work on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codecap.store import ItemStore, items, packs, settings


@pytest.fixture(autouse=True)
def as_configured_by_nobody(monkeypatch, tmp_path) -> None:
    """Defaults, scratch of the test's own, and nothing known of other tests."""
    monkeypatch.setattr(settings, "_current", settings.StoreSettings())
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(items, "_SWEPT", set())
    monkeypatch.setattr(items, "TOUCHED", {})
    monkeypatch.setattr(packs, "_KNOWN", {})


@pytest.fixture
def root(tmp_path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def render(root) -> ItemStore:
    return ItemStore(root, stage="render", salt="s")


def video(pictures: bytes = b"pictures") -> Callable:
    """Makes an item with a file."""

    def make(draft):
        draft.file("mp4").write_bytes(pictures)
        return {"frames": 3}

    return make


def bucket_of(clip_id: str) -> str:
    """Two shards: clips by the parity of their number."""
    return f"{int(clip_id.rpartition('_')[2]) % 2:02d}"


def files(root: Path) -> list[str]:
    """All files under a folder, but the log."""
    found = (path.relative_to(root) for path in Path(root).rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.parts[0] != "log")


class Workers:
    """Python processes with the package, ended with the test."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []

    def start(self, script: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def results(self, limit_s: float = 120) -> list[str]:
        told = [process.communicate(timeout=limit_s)[0] for process in self.started]
        assert [process.returncode for process in self.started] == [0] * len(self.started)
        return told


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    for process in made.started:
        process.kill()
        process.wait(10)
