"""A plain user, without root's powers, has the same sandbox. Where the tests run as one, all the others show that."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from plain_user import NOBODY, PROGRAM, environment, must_be_a_sandbox, python_for_nobody


def test_a_plain_user_has_the_same_sandbox(bwrap):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, to become somebody else")
    python = python_for_nobody()
    if python is None:
        pytest.skip("no Python of this version that another user can run")
    folder = Path(tempfile.mkdtemp(prefix="codecap-test-", dir="/tmp"))
    try:
        os.chown(folder, NOBODY, NOBODY)
        who = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        command = [*who, python, "-c", PROGRAM, str(folder)]
        done = subprocess.run(command, env=environment(), cwd="/", capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        assert (folder / "work" / "made").stat().st_uid == NOBODY
    finally:
        shutil.rmtree(folder)
    must_be_a_sandbox(json.loads(done.stdout))
