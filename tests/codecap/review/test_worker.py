"""A process beside the server."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from codecap.errors import UserError
from codecap.review.worker import Worker, WorkError


def told(what: str) -> tuple[str, int]:
    return what, os.getpid()


def fails(kind: str) -> None:
    raise UserError("no such segmenter") if kind == "user" else KeyError(kind)


@pytest.fixture
def worker():
    worker = Worker("counting")
    yield worker
    worker.close()


def test_it_computes_elsewhere_and_goes_on_after_errors(worker):
    what, pid = worker.ask(told, "hello", patience_s=60)
    assert what == "hello" and pid != os.getpid()
    with pytest.raises(WorkError, match="no such segmenter"):
        worker.ask(fails, "user", patience_s=60)
    with pytest.raises(RuntimeError, match="KeyError: 'other'"):
        worker.ask(fails, "other", patience_s=60)
    assert worker.ask(told, "again", patience_s=60) == ("again", pid)
    with pytest.raises(WorkError, match=r"not done in 0.2 s"):
        worker.ask(time.sleep, 60, patience_s=0.2)
    what, other = worker.ask(told, "anew", patience_s=60)
    assert what == "anew" and other != pid and not psutil.pid_exists(pid)
    with pytest.raises(WorkError, match="process ended in the middle"):
        worker.ask(os._exit, 3, patience_s=60)
    worker.close()
    with pytest.raises(WorkError, match="the server is ending"):
        worker.ask(told, "late", patience_s=60)


def test_who_waits_is_told_when_the_server_ends(worker):
    threading.Timer(0.5, worker.close).start()
    with pytest.raises(WorkError, match="process ended in the middle|the server is ending"):
        worker.ask(time.sleep, 60, patience_s=60)


def test_it_ends_with_a_server_that_is_killed(tmp_path):
    program = (
        "import os, time; from codecap.review.worker import Worker\n"
        "if __name__ == '__main__':\n"
        "    worker = Worker('waiting')\n"
        "    print(worker.ask(os.getpid, patience_s=60), flush=True)\n"
        "    worker.ask(time.sleep, 600, patience_s=600)\n"
    )
    script = tmp_path / "server.py"
    script.write_text(program)
    server = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    pid = int(server.stdout.readline())
    server.send_signal(signal.SIGKILL)
    server.wait()
    until = time.monotonic() + 30
    while psutil.pid_exists(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)
