"""Ingest gives the same frames everywhere and always: those whose hashes were committed, of films that were committed.

Where it fails after a change that was wanted, `samples/make.py hashes` writes the table anew, and CHANGELOG.md says so.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent / "samples"


def committed() -> dict[str, list[tuple[str, str]]]:
    table: dict[str, list[tuple[str, str]]] = {}
    for line in (SAMPLES / "frame_hashes.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        film, frames, digest = line.split("\t")
        table.setdefault(film, []).append((frames, digest))
    return table


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make_samples", SAMPLES / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("film", committed())
def test_frames_are_those_that_were_committed(make, film):
    assert list(make.frame_hashes(SAMPLES / film)) == committed()[film]


def test_each_sample_is_in_the_table(make):
    assert [path.name for path in make.films()] == list(committed())
