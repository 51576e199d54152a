"""The workflow as a user runs it."""

from __future__ import annotations

import pytest
from running import Workflow


@pytest.fixture
def workflow(tmp_path) -> Workflow:
    return Workflow(tmp_path)
