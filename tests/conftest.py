"""What tests of several folders share."""

import subprocess
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


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    told = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, text=True)
    if told.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {told.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)
