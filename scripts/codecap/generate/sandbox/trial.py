"""Whether a sandbox works on this machine: found out by running a command in it."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from codecap.generate.sandbox import Box, Sandbox, SandboxUnavailable

TOLD_WITHIN_S = 60.0  # its version


def version_after_trial(sandbox: Sandbox, program: str, within_s: float) -> str:
    """What the program that makes the sandbox says of its version, once a command has run in one.

    Raises:
        SandboxUnavailable: it has not, or has failed.
    """
    with tempfile.TemporaryDirectory(prefix="codecap-trial-") as folder:
        work = Path(folder) / "work"
        work.mkdir()
        box = Box(work, memory_mb=500, processes=100, disk_mb=10)
        with sandbox.start(box, ["true"], Path(folder) / "stdout", Path(folder) / "stderr") as running:
            status = running.wait(time.monotonic() + within_s)
    if status != 0:
        raise SandboxUnavailable(f"{program}: a trial in the sandbox ended with status {status}")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=TOLD_WITHIN_S, check=False)
    return told.stdout.strip()
