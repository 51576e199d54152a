"""One process at a time changes an entry's folder, whatever machine it runs on."""

from __future__ import annotations

import subprocess
import sys
import threading

import psutil
import pytest

from codecap import weights
from codecap.weights import manifest

HOLD = """
import sys
from codecap.weights import manifest
with manifest.alone("net"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def another(tmp_path, monkeypatch):
    """Another process that holds an entry."""
    monkeypatch.setenv(weights.FOLDER_VARIABLE, str(tmp_path))
    run = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "held\n"
    yield run
    run.kill()
    run.wait()
    run.stdout.close()


def test_a_second_process_waits_for_the_first(another):
    entered = threading.Event()

    def enter():
        with manifest.alone("net"):
            entered.set()

    with manifest.alone("other net"):
        waiting = threading.Thread(target=enter)
        waiting.start()
        assert not entered.wait(0.3)
    another.stdin.close()
    assert entered.wait(20)
    waiting.join()


def test_a_process_that_was_killed_holds_nothing(another):
    psutil.Process(another.pid).kill()
    another.wait()
    with manifest.alone("net"):
        pass
    assert not [path.name for path in weights.folder().iterdir()]
