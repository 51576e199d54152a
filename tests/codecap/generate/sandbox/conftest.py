"""Boxes of a test's own, and what runs in them."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from codecap.generate import sandbox as sandboxes
from codecap.generate.sandbox import Box, SandboxUnavailable, groups


@dataclass(frozen=True)
class Ran:
    status: int | None
    said: str
    complained: str
    outgrown: str | None
    curbed: tuple[str, ...]
    broken_off: str | None
    peak_mb: float
    wall_s: float


@pytest.fixture(scope="session")
def bwrap():
    """The sandbox of this machine; tests that need it are skipped where there is none."""
    sandbox = sandboxes.load({"backend": "bwrap"})
    try:
        sandbox.check()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    return sandbox


@pytest.fixture
def trusted():
    return sandboxes.load({"backend": "none", "i_trust_the_model": True})


@pytest.fixture
def box(tmp_path):
    """A box with small limits; keys replace its own."""

    def made(**keys) -> Box:
        work = tmp_path / "box" / "work"
        work.mkdir(parents=True, exist_ok=True)
        return Box(**({"work": work, "memory_mb": 300, "processes": 60, "disk_mb": 30, "output_mb": 5} | keys))

    return made


@pytest.fixture
def run(tmp_path):
    """Run a command in a box to its end, at most for some seconds."""

    def ran(sandbox, box: Box, *argv: str, within_s: float = 20) -> Ran:
        stdout, stderr = tmp_path / "stdout", tmp_path / "stderr"
        began = time.monotonic()
        with sandbox.start(box, argv, stdout, stderr) as running:
            status = running.wait(time.monotonic() + within_s)
        wall_s = time.monotonic() - began
        told = (running.outgrown, running.curbed, running.broken_off, running.peak_mb)
        return Ran(status, stdout.read_text(errors="replace"), stderr.read_text(errors="replace"), *told, wall_s)

    return ran


@pytest.fixture
def python():
    """The words that start this Python inside, with a text as its program."""

    def words(program: str, *arguments: str) -> list[str]:
        return [str(Path(sys.executable).resolve()), "-I", "-S", "-c", program, *arguments]

    return words


@pytest.fixture
def without_groups(monkeypatch):
    """As on a machine that lets no user make control groups: limits are watched."""
    monkeypatch.setattr(groups, "own_folder", lambda kind, controller: None)
    monkeypatch.setattr("codecap.render.memory_group._parents", lambda: [])
