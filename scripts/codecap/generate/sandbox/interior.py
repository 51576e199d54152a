"""What every sandbox has inside: its places, its few system files, its first program, its environment."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from codecap.generate.sandbox import HOME, WORK, Box, SandboxUnavailable
from codecap.generate.sandbox.groups import OWN_TASKS

OWN = "/run/codecap"
RELAY = f"{OWN}/relay.py"
SOCKET = f"{OWN}/gateway.sock"
RELAY_ON_HOST = Path(__file__).parent / "relay.py"
TAKEN = (WORK, HOME, OWN, "/proc", "/dev", "/sys", "/usr", "/etc")  # no input can be seen there
USER, UID, GID = "agent", 1000, 1000  # whoever the user is outside: some agents refuse to be root, and none needs to know
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": HOME,
    "TMPDIR": "/tmp",
    "USER": USER,
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}
FILES = {
    "/etc/passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\n{USER}:x:{UID}:{GID}:{USER}:{HOME}:/bin/sh\n",
    "/etc/group": f"root:x:0:\n{USER}:x:{GID}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "/etc/resolv.conf": "",
}
PRIVATE_IN_HOME = (".config", ".local/share", ".ssh")
SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")  # into /usr on a merged system, else folders
SYSTEM = (
    "/usr",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
)


def told(box: Box, user_namespace: bool, *, cwd: str = WORK, socket: str = SOCKET, argv: Iterable[str]) -> dict[str, Any]:
    """What `relay` is told for a box.

    Args:
        user_namespace: the sandbox has one of its own, in which the kernel, if it is new enough, counts this user's tasks alone.
    """
    counts_here = user_namespace and _kernel() >= (5, 14)
    return {
        "argv": list(argv),
        "env": ENVIRONMENT | dict(box.env),
        "cwd": cwd,
        "port": box.port,
        "socket": None if box.socket is None else socket,
        "limits": {"file_bytes": box.disk_mb * 1_000_000, "tasks": box.processes + OWN_TASKS if counts_here else None},
    }


def read_only(box: Box) -> dict[str, Path]:
    """Places inside, and what of the host is seen there: programs first, then inputs.

    Raises:
        ValueError: a place is none that an input can have.
        SandboxUnavailable: something is not there, or a folder of programs would show more than programs.
    """
    seen = {str(folder): only_programs(folder, box.work) for folder in map(Path.absolute, box.programs)}
    for place, path in box.inputs.items():
        if not posixpath.isabs(place) or posixpath.normpath(place) != place or place == "/":
            raise ValueError(f"{place}: a place in the sandbox is an absolute path without . and ..")
        if any(place == taken or place.startswith(f"{taken}/") for taken in TAKEN):
            raise ValueError(f"{place}: this place in the sandbox is taken")
        seen[place] = _there(path)
    return seen


def only_programs(folder: Path, work: Path) -> Path:
    """The true path of a folder of programs.

    Raises:
        SandboxUnavailable: it is not there, or holds places of the user's that are no programs.
    """
    there = _there(folder)
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (a user without a home folder has none to hide)
    for private in (home, *(home / place for place in PRIVATE_IN_HOME), work.absolute(), Path.cwd()):
        if private.is_relative_to(there) and private.exists():
            raise SandboxUnavailable(f"{folder}: is to be seen in the sandbox as a folder of programs, but {private} is in it")
    return there


def socket_of(box: Box) -> Path | None:
    """Raises SandboxUnavailable: it is named, but not there."""
    return None if box.socket is None else _there(box.socket)


def make_private(work: Path) -> Path:
    """Let nobody else read or run what is written in the work folder; returns its true path."""
    there = _there(work)
    there.chmod(0o700)
    return there


def python_folders() -> list[Path]:
    """Folders outside the system that the running Python needs, without the packages of a virtual environment."""
    with Path("/proc/self/maps").open() as lines:
        libraries = {Path(line.split(maxsplit=5)[5].strip()).parent for line in lines if "/libpython" in line}
    base = Path(sys.base_prefix).resolve()
    needed = [base, *(folder for folder in sorted(libraries) if not folder.is_relative_to(base))]
    return [folder for folder in needed if not _in_system(folder)]


def python() -> Path:
    """The running Python, by its true path, since links to it may not be seen inside."""
    return Path(sys.executable).resolve()


def _in_system(folder: Path) -> bool:
    return any(folder.is_relative_to(place) for place in ("/usr", "/nix/store", "/gnu/store"))


def _there(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except OSError as error:
        raise SandboxUnavailable(f"{path}: is to be seen in the sandbox, but {(error.strerror or str(error)).lower()}") from error


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(letter for letter in minor if letter.isdigit()) or 0)


def with_environment(own: Mapping[str, str], passed_on: Iterable[str] = ("PATH", "LD_LIBRARY_PATH")) -> dict[str, str]:
    """For a backend's own program on the host: only where programs and libraries are."""
    return {name: os.environ[name] for name in passed_on if name in os.environ} | dict(own)
