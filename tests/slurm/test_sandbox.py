"""Agents' sandbox in a job of a plain user."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from cluster.configuration import ACCOUNT
from plain_user import NOBODY, PROGRAM, environment, must_be_a_sandbox, python_for_nobody

pytestmark = [pytest.mark.slurm, pytest.mark.slurm_ci]


def test_a_plain_users_job_has_the_same_sandbox(cluster):
    python = python_for_nobody()
    if python is None or shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap, and a Python of this version that another user can run")
    folder = Path(tempfile.mkdtemp(prefix="codecap-test-", dir="/tmp"))
    try:
        (folder / "program.py").write_text(PROGRAM)
        os.chown(folder, NOBODY, NOBODY)
        exported = ",".join(["NONE", *(f"{name}={value}" for name, value in environment().items())])
        asked = ["--partition=cpu", f"--account={ACCOUNT}", "--mem=1000M", "--time=5", f"--export={exported}", f"--chdir={folder}"]
        files = [f"--output={folder}/told", f"--error={folder}/complaints"]
        work = shlex.join([python, str(folder / "program.py"), str(folder)])
        who = [f"--uid={NOBODY}", f"--gid={NOBODY}"]
        command = ["sbatch", "--wait", *who, *asked, *files, "--wrap", f'test -n "$SLURM_JOB_ID" && id -u && exec {work}']
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr + (folder / "complaints").read_text()
        user, told = (folder / "told").read_text().splitlines()
    finally:
        shutil.rmtree(folder)
    assert user == str(NOBODY)
    must_be_a_sandbox(json.loads(told))
