"""The demo, run once for all tests of this folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from running import COMPARED, DEMO_RESULTS, Workflow


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Workflow:
    """The whole demo, run once: tests look at it, or go on from a copy."""
    made = Workflow(tmp_path_factory.mktemp("demo"))
    made.finish("dataset", "all")
    if DEMO_RESULTS in os.environ:
        left = Path(os.environ[DEMO_RESULTS])
        for part in COMPARED:
            shutil.copytree(made.folder / "results" / part, left / "draft" / part, dirs_exist_ok=True)
        (left / "draft").rename(left / "results")  # whole or not at all: somebody may wait for it
    return made
