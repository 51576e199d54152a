"""What tests of several folders share."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the package `loopback`

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for whatever a script starts with `&`, and all that tests would start
    signal.signal(signal.SIGINT, signal.default_int_handler)

TOGETHER = "tests/workflow/demo/"  # its files share one run of the demo
LONG = (TOGETHER, "tests/workflow/", "tests/codecap/bench/")


def pytest_collection_modifyitems(items):
    """What takes longest begins first."""
    items.sort(key=lambda item: next((place for place, start in enumerate(LONG) if item.nodeid.startswith(start)), len(LONG)))


def pytest_xdist_make_scheduler(config, log):
    """With several workers, tests of one file stay together, and all on the demo: their fixtures are made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return ByFile(config, log)


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
