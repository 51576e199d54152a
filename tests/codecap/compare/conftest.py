"""The made-up benchmark of 16 systems and 40 clips, compared once for all tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the package `sixteen`

from sixteen import comparing, spreadsheet


@pytest.fixture(scope="session")
def sixteen(tmp_path_factory: pytest.TempPathFactory) -> comparing.Compared:
    return comparing.compare(tmp_path_factory.mktemp("sixteen"))


@pytest.fixture(scope="session")
def expected() -> dict[str, dict[tuple[str, str], float]]:
    return spreadsheet.read()
