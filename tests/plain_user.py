"""A sandbox as a plain user has it, without root's powers, and what must come of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import codecap

NOBODY = 65534
PROGRAM = """
import json, sys, time
from pathlib import Path
from codecap.generate import sandbox

folder = Path(sys.argv[1])
box = sandbox.Box(folder / "work", memory_mb=300, processes=60, disk_mb=30)
box.work.mkdir()
kind = sandbox.load({})
told = {"check": kind.check()}
hold = "held = bytearray(10**9); import time; time.sleep(20)"
for name, argv in {
    "who": ["sh", "-c", "id -u; touch /work/made; cat /proc/self/limits | grep -c 'Max processes *64 *64'"],
    "tool": ["sh", "-c", '"$@"; echo status $?', "sh", sys.executable, "-c", hold],
    "command": [sys.executable, "-c", hold],
    "bomb": [sys.executable, "-c", "import os, time" + "\\nwhile True:\\n try: os.fork()\\n except OSError: time.sleep(0.1)"],
}.items():
    with kind.start(box, argv, folder / "out", folder / "err") as running:
        status = running.wait(time.monotonic() + 20)
    told[name] = [status, (folder / "out").read_text(), running.outgrown, list(running.curbed)]
print(json.dumps(told))
"""


def python_for_nobody() -> str | None:
    """A Python of this version that another user can run."""
    return next((found for found in (sys.executable, "/usr/bin/python3") if _can_be_run_by_nobody(found)), None)


def _can_be_run_by_nobody(python: str) -> bool:
    """By a shell between, since setpriv itself still has root's powers when it starts a program."""
    if shutil.which("setpriv") is None:
        return False
    version = "import sys; print(sys.version_info[:2])"
    who = ["setpriv", "--reuid", str(NOBODY), "--clear-groups", "sh", "-c", 'exec "$@"', "sh", python, "-c", version]
    done = subprocess.run(who, capture_output=True, text=True, check=False)
    return done.stdout == f"{sys.version_info[:2]}\n"


def environment() -> dict[str, str]:
    packages = [str(Path(codecap.__file__).parent.parent), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(packages),
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def must_be_a_sandbox(told: dict[str, Any]) -> None:
    """What `PROGRAM` has printed."""
    assert "bubblewrap" in told["check"]
    assert told["who"] == [0, "1000\n1\n", None, []]
    assert told["tool"][:3] == [0, "status 137\n", None]
    assert "ended" in told["tool"][3][0]  # by the watch, or by the kernel
    assert told["command"][0] == 137
    assert told["command"][2] == "more than 300 MB of memory"
    assert told["bomb"][2] == "more than 60 processes and threads"
