"""A memory cgroup for one browser, of version 1 or 2, where this process may make one."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

BYTES_PER_MB = 1_000_000
REMOVED_WITHIN_S = 2.0
REFUSED_BYTES = 4_000_000  # more than the kernel asks for at once, a huge page: what is refused is not counted


class NoMemoryGroup(Exception):
    """This process cannot make a memory cgroup; the message says why."""


@dataclass(frozen=True)
class _Version:
    """Where a version of the kernel's interface keeps what we need."""

    limit: str
    swap: tuple[tuple[str, str], ...]  # files and values that keep memory from being swapped out; the first that is there
    events: str  # has a line "oom_kill N": processes of the group that the kernel killed
    anonymous: str  # names in memory.stat, of bytes
    shared: str


_V1 = _Version(
    "memory.limit_in_bytes",
    (("memory.memsw.limit_in_bytes", "LIMIT"), ("memory.swappiness", "0")),
    "memory.oom_control",
    "total_rss",
    "total_shmem",
)
_V2 = _Version("memory.max", (("memory.swap.max", "0"),), "memory.events", "anon", "shmem")


class MemoryGroup:
    """Limits what the processes in it use together; the kernel kills one of them when they need more.

    Args:
        name: of the group; unique on the machine.
        limit_mb: for all memory and page cache, in MB of 10^6 bytes; page cache is given back before anything is killed.

    Attributes:
        folder: the group.

    Raises:
        NoMemoryGroup: there is no such controller, or we may not use it.
    """

    def __init__(self, name: str, limit_mb: int) -> None:
        refusals = []
        for parent, version in _parents():
            self.folder, self._version = parent / name, version
            try:
                self._make(limit_mb * BYTES_PER_MB)
            except OSError as error:
                refusals.append(f"{parent}: {error.strerror or error}")
                with contextlib.suppress(OSError):
                    self.folder.rmdir()
            else:
                return
        raise NoMemoryGroup("; ".join(refusals) or "no memory controller is mounted")

    @property
    def joining_file(self) -> Path:
        """A process that writes "0" into it is in the group, with all it starts from then on."""
        return self.folder / "cgroup.procs"

    def members(self) -> list[int]:
        """Ids of its processes; empty also when the group is gone."""
        try:
            return [int(line) for line in self.joining_file.read_text().split()]
        except OSError:
            return []

    def used_mb(self) -> float:
        """What its processes hold now, private and shared, without page cache."""
        told = self._numbers("memory.stat")
        return (told.get(self._version.anonymous, 0) + told.get(self._version.shared, 0)) / BYTES_PER_MB

    def killed_for_memory(self) -> int:
        """How many of its processes the kernel has killed because memory ran out: here, in a group above, or on the machine."""
        return self._numbers(self._version.events).get("oom_kill", 0)

    def reached_limit(self) -> bool:
        """Its own limit was reached at some time; page cache alone can reach it, and is then given back."""
        if self._version is _V2:
            return self._numbers("memory.events").get("max", 0) > 0
        try:  # not memory.failcnt, which stays 0 in some kernels
            highest, limit = (int((self.folder / file).read_text()) for file in ("memory.max_usage_in_bytes", self._version.limit))
        except OSError:
            return False
        return highest > limit - REFUSED_BYTES

    def kill(self) -> None:
        """All processes of the group at once, where the kernel can do that (version 2, from Linux 5.14)."""
        with contextlib.suppress(OSError):
            kill = self.folder / "cgroup.kill"
            if kill.exists():
                kill.write_text("1")

    def remove(self) -> None:
        """Remove the group, which must have no process any more. May be called twice.

        Raises:
            OSError: it still has one.
        """
        _remove(self.folder)

    def _make(self, limit_bytes: int) -> None:
        self.folder.mkdir()
        (self.folder / self._version.limit).write_text(str(limit_bytes))
        for file, value in self._version.swap:
            if (self.folder / file).exists():
                (self.folder / file).write_text(value.replace("LIMIT", str(limit_bytes)))
                break

    def _numbers(self, file: str) -> dict[str, int]:
        """Lines "name number" of a file of the group; empty when the group is gone."""
        try:
            lines = (self.folder / file).read_text().splitlines()
        except OSError:
            return {}
        pairs = (line.split() for line in lines)
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}


def remove_group(name: str) -> None:
    """Remove the group of a process that could not do it itself, unless there are processes in it."""
    for parent, _ in _parents():
        with contextlib.suppress(OSError):
            _remove(parent / name)


def _remove(folder: Path) -> None:
    ends_at = time.monotonic() + REMOVED_WITHIN_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # busy: a process that has ended is not yet taken out
            if time.monotonic() > ends_at:
                raise
            time.sleep(0.005)
        else:
            return


def _parents() -> list[tuple[Path, _Version]]:
    """Groups in which a new one may be made, best first."""
    with contextlib.suppress(OSError):
        own = own_folder("cgroup", "memory")
        if own is not None:
            return [(own, _V1)]
        own = own_folder("cgroup2", "")
        if own is not None:
            return [(parent, _V2) for parent in _parents_v2(own)]
    return []


def _parents_v2(own: Path) -> list[Path]:
    """Our own group if it hands the controller on (it does so only without processes: the root), else the one above it.

    The one above only when our own has no limit, since the browser would get out of it there.
    """
    places = [own]
    limit = own / "memory.max"
    if limit.exists() and limit.read_text().strip() == "max":
        places.append(own.parent)
    return [place for place in places if "memory" in (place / "cgroup.subtree_control").read_text().split()]


def own_folder(kind: str, controller: str) -> Path | None:
    """Where the group of this process is in the file system; None when it is not mounted or not visible here."""
    path = None
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, place = line.split(":", 2)
        if controller in controllers.split(","):
            path = place
    if path is None:
        return None
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, mounted_at = before.split()[3:5]
        mounted, _, options = after.split(" ", 2)
        if mounted == kind and (not controller or controller in options.split(",")):
            inside = Path(path)
            if inside.is_relative_to(root) and ".." not in inside.parts:
                return Path(mounted_at) / inside.relative_to(root)
    return None
