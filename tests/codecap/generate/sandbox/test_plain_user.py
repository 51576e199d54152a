"""A plain user, without root's powers, has the same sandbox. Where the tests run as one, all the others show that."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

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


@pytest.fixture
def as_nobody(tmp_path_factory):
    """Starts a Python program as the user nobody."""
    python = next((found for found in (sys.executable, "/usr/bin/python3") if can_be_run_by_nobody(found)), None)
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, to become somebody else")
    if python is None:
        pytest.skip("no Python of this version that another user can run")
    packages = [str(Path(codecap.__file__).parent.parent), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]

    def run(program: str, *arguments: str) -> str:
        who = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(packages),
            "HOME": "/nonexistent",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [*who, python, "-c", program, *arguments], env=env, cwd="/", capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def can_be_run_by_nobody(python: str) -> bool:
    """By a shell between, since setpriv itself still has root's powers when it starts a program."""
    if shutil.which("setpriv") is None:
        return False
    version = "import sys; print(sys.version_info[:2])"
    who = ["setpriv", "--reuid", str(NOBODY), "--clear-groups", "sh", "-c", 'exec "$@"', "sh", python, "-c", version]
    done = subprocess.run(who, capture_output=True, text=True, check=False)
    return done.stdout == f"{sys.version_info[:2]}\n"


def test_a_plain_user_has_the_same_sandbox(bwrap, as_nobody, tmp_path_factory):
    folder = Path(
        subprocess.run(["mktemp", "-d", "/tmp/codecap-test-XXXXXX"], capture_output=True, text=True, check=True).stdout.strip()
    )
    try:
        os.chown(folder, NOBODY, NOBODY)
        told = json.loads(as_nobody(PROGRAM, str(folder)))
        assert (folder / "work" / "made").stat().st_uid == NOBODY
    finally:
        shutil.rmtree(folder)
    assert "bubblewrap" in told["check"]
    assert told["who"] == [0, "1000\n1\n", None, []]
    assert told["tool"][:3] == [0, "status 137\n", None]
    assert "was ended" in told["tool"][3][0]
    assert told["command"][0] == 137
    assert told["command"][2] == "more than 300 MB of memory"
    assert told["bomb"][2] == "more than 60 processes and threads"
