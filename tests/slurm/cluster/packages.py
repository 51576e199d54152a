"""The programs of a SLURM cluster, installed where they are missing; no service of theirs is started."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

PACKAGES = {  # program -> package of Debian and Ubuntu
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "slurmdbd": "slurmdbd",
    "sbatch": "slurm-client",
    "mariadbd": "mariadb-server",
}
POLICY = Path("/usr/sbin/policy-rc.d")  # asked by packages before they start a service; status 101 forbids it
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])


class Missing(RuntimeError):
    """Programs that are not there and cannot be installed; the message says what to do."""


def install() -> None:
    """Have all programs there.

    Raises:
        Missing: some are not, and this user or this system cannot install them.
    """
    packages = missing()
    if not packages:
        return
    by_hand = f"missing: {', '.join(packages)}; on Debian or Ubuntu: apt-get install --no-install-recommends {' '.join(packages)}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Missing(by_hand)
    with _no_service_started():
        if not _apt("install", "--yes", "--no-install-recommends", *packages):
            _apt("update")
            _apt("install", "--yes", "--no-install-recommends", *packages, told=True)
    if missing():
        raise Missing(f"apt-get did not install them; {by_hand}")


def missing() -> list[str]:
    """Packages whose programs are not there."""
    return [package for program, package in PACKAGES.items() if shutil.which(program, path=PATH) is None]


def _apt(*arguments: str, told: bool = False) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(["apt-get", "-qq", *arguments], env=environment, capture_output=True, text=True)
    if told and done.returncode:
        raise Missing(f"apt-get {arguments[0]} failed:\n{done.stderr.strip()[-2000:]}")
    return done.returncode == 0


@contextlib.contextmanager
def _no_service_started() -> Iterator[None]:
    before = POLICY.read_bytes() if POLICY.exists() else None
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        if before is None:
            POLICY.unlink()
        else:
            POLICY.write_bytes(before)
