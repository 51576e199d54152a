"""Programs in place of SLURM's that print what SLURM has printed."""

import stat
from pathlib import Path

import pytest


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program of a given name first on the path, which runs a line of shell."""

    def made(name: str, line: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
        return tmp_path

    return made
