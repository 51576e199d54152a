"""bubblewrap: namespaces of the kernel around a process, without root and without a daemon.

Settings (all have defaults):
    program: the `bwrap` to use.
    read_only: more folders of the host to be seen at their own places, as /opt/apps where programs of modules are.
    system_call_filter: refuse system calls that no agent needs; only to be switched off where the kernel has no such filters.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from codecap.generate.sandbox import HOME, PORT, WORK, Box, SandboxUnavailable, interior, refusals, seccomp
from codecap.generate.sandbox.contained import Contained, Launch
from codecap.generate.sandbox.groups import Groups
from codecap.generate.sandbox.trial import version_after_trial

IN_MEMORY = {"/tmp": 4, "/dev/shm": 8, HOME: 8}  # folders, and the part of the memory limit that each may take
TRIED_WITHIN_S = 60.0
WALLS = ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session")


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    program: str = "bwrap"
    read_only: tuple[Path, ...] = ()
    system_call_filter: bool = True


def load(settings: Mapping[str, Any]) -> Bwrap:
    return Bwrap(Settings.model_validate(dict(settings)))


class Bwrap:
    """See `Sandbox`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.protocol = "bwrap: own namespaces, no network but the model's API, system read-only" + (
            ", system calls filtered" if settings.system_call_filter else ""
        )

    def check(self) -> str:
        return _tried(self._settings)

    def port(self) -> int:
        return PORT

    def inside(self, box: Box, place: str) -> str:  # noqa: ARG002 (others need it)
        return place

    def start(self, box: Box, argv: Sequence[str], stdout: Path, stderr: Path) -> Contained:
        program, options = _program(self._settings.program)
        try:
            return Contained(box, functools.partial(self._launch, box, program, options, argv), stdout, stderr)
        except SandboxUnavailable as error:
            raise SandboxUnavailable(refusals.explained(str(error))) from error

    def _launch(self, box: Box, program: str, options: frozenset[str], argv: Sequence[str], _mark: str, groups: Groups) -> Launch:
        files = {place: _in_memory(text.encode()) for place, text in interior.FILES.items()}
        filter_fd = None
        if self._settings.system_call_filter:
            filter_fd = _in_memory(_filter(hidden_memory=groups.memory is not None))
        return Launch(
            command=command(program, options, box, self._settings.read_only, files, filter_fd),
            told=interior.told(box, True, argv=argv),
            environment=interior.with_environment({}, ["LD_LIBRARY_PATH"]),  # inside it can be read: /proc/1/environ
            pass_fds=(*files.values(), *(() if filter_fd is None else (filter_fd,))),
            memory_folders=tuple(IN_MEMORY),
        )


def command(
    program: str,
    options: frozenset[str],
    box: Box,
    read_only: Sequence[Path],
    files: Mapping[str, int],
    filter_fd: int | None,
) -> list[str]:
    """The command line; its last words start `relay`.

    Args:
        options: that this version knows.
        read_only: more folders of the host, seen at their own places.
        files: places inside, and descriptors of what is in them.
        filter_fd: descriptor of the filter of system calls.
    """
    seen = interior.read_only(box)
    own = [interior.only_programs(folder, box.work) for folder in (*interior.python_folders(), *read_only)]
    parts = [
        [program, *WALLS, *(["--disable-userns"] if _can_disable_userns(program, options) else [])],
        ["--uid", str(interior.UID), "--gid", str(interior.GID), "--hostname", "sandbox", "--cap-drop", "ALL"],
        *_system(),
        *(["--file", str(number), place] for place, number in files.items()),
        ["--proc", "/proc", "--dev", "/dev"],
        *(_tmpfs(options, place, box.memory_mb // part) for place, part in IN_MEMORY.items()),
        ["--bind", str(interior.make_private(box.work)), WORK],
        *(["--ro-bind", str(folder), str(folder)] for folder in own),
        *(["--ro-bind", str(path), place] for place, path in seen.items()),
        ["--ro-bind", str(interior.RELAY_ON_HOST), interior.RELAY],
        [] if box.socket is None else ["--ro-bind", str(interior.socket_of(box)), interior.SOCKET],
        # /proc too: for root, bubblewrap leaves settings of the kernel in it that can be written
        ["--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"],
        [] if filter_fd is None else ["--seccomp", str(filter_fd)],
        ["--", str(interior.python()), "-I", "-S", interior.RELAY],
    ]
    return [word for part in parts for word in part]


def _system() -> list[list[str]]:
    """Programs and libraries of the system, wherever this distribution has them, and the few files that they need."""
    parts = []
    for place in interior.SYSTEM_LINKS:
        if os.path.islink(place):  # noqa: PTH114 (a link to nowhere counts too)
            parts.append(["--symlink", str(Path(place).readlink()), place])
        elif Path(place).is_dir():
            parts.append(["--ro-bind", place, place])
    return parts + [["--ro-bind", place, place] for place in interior.SYSTEM if os.access(place, os.R_OK)]


def _tmpfs(options: frozenset[str], place: str, size_mb: int) -> list[str]:
    size = ["--size", str(size_mb * 1_000_000)] if "--size" in options else []  # else it counts as memory all the same
    return [*size, "--tmpfs", place]


def _can_disable_userns(program: str, options: frozenset[str]) -> bool:
    return "--disable-userns" in options and not Path(program).stat().st_mode & stat.S_ISUID


def _filter(hidden_memory: bool) -> bytes:
    if not seccomp.known_machine():
        raise SandboxUnavailable(
            f"there is no filter of system calls for {platform.machine()}; set system_call_filter: false to do without"
        )
    return seccomp.program(platform.machine(), hidden_memory)


def _in_memory(content: bytes) -> int:
    """A descriptor from which this can be read."""
    number = os.memfd_create("codecap")
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


@functools.cache
def _program(name: str) -> tuple[str, frozenset[str]]:
    """Its path and the options that it knows.

    Raises:
        SandboxUnavailable: it is not there, or too old.
    """
    found = shutil.which(name)
    if found is None:
        raise SandboxUnavailable(refusals.no_program(name))
    told = subprocess.run([found, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    options = frozenset(word for word in (told.stdout + told.stderr).split() if word.startswith("--"))
    if "--size" not in options and Path(found).stat().st_mode & stat.S_ISUID:
        raise SandboxUnavailable(f"{found}: is old and runs as root, so that memory cannot be limited; {refusals.NEWER}")
    return found, options


@functools.cache
def _tried(settings: Settings) -> str:
    program, _ = _program(settings.program)
    return f"{program} ({version_after_trial(Bwrap(settings), program, TRIED_WITHIN_S)})"
