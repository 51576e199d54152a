"""What tests of several folders share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the package `loopback`

SHARED = "demo"  # the session's fixture that takes longest


@pytest.hookimpl(tryfirst=True)  # before the workers read the groups
def pytest_collection_modifyitems(items):
    """With several workers, tests of a file stay together, those that share the run of the demo as well, which begin first."""
    items.sort(key=lambda item: SHARED not in item.fixturenames)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(SHARED if SHARED in item.fixturenames else str(item.path)))
