"""Control groups of one box, where this process may make them: the kernel then keeps the limits itself."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from codecap.render.memory_group import MemoryGroup, NoMemoryGroup, own_folder, remove_group

OWN_TASKS = 4  # what a backend itself starts around the command
YOUNG_S = 60.0  # a group that has just been made may not have a process yet
REMOVED_WITHIN_S = 2.0


class Groups:
    """A memory group and a group that counts processes and threads; each is None where it cannot be made.

    Args:
        name: of both; unique on the machine.
        memory_mb: for all processes together, in MB of 10^6 bytes.
        processes: processes and threads.
    """

    def __init__(self, name: str, memory_mb: int, processes: int) -> None:
        try:
            self.memory: MemoryGroup | None = MemoryGroup(name, memory_mb)
        except NoMemoryGroup:
            self.memory = None
        self.tasks = self._task_group(name, processes + OWN_TASKS)

    @property
    def joining_files(self) -> list[Path]:
        """A process that writes "0" into each is in the groups, with all it starts from then on."""
        folders = ([self.memory.folder] if self.memory else []) + ([self.tasks] if self.tasks else [])
        return [folder / "cgroup.procs" for folder in dict.fromkeys(folders)]

    def members(self) -> list[int]:
        """Ids of the processes in them."""
        found: set[int] = set()
        for file in self.joining_files:
            with contextlib.suppress(OSError):
                found.update(map(int, file.read_text().split()))
        return sorted(found)

    def refused_tasks(self) -> bool:
        """A process or thread was not started, because there were as many as may be."""
        if self.tasks is None:
            return False
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int((self.tasks / "pids.events").read_text().split()[1]) > 0
        return False

    def kill(self) -> None:
        """All at once, where the kernel can do that."""
        if self.memory is not None:
            self.memory.kill()

    def remove(self) -> None:
        """Remove the groups, unless there are processes in them."""
        with contextlib.suppress(OSError):
            if self.memory is not None:
                self.memory.remove()
        if self.tasks is not None:
            _remove(self.tasks)

    def _task_group(self, name: str, limit: int) -> Path | None:
        """In version 2 the memory group counts tasks too, if the controller is on; in version 1 that is a group of its own."""
        if self.memory is not None and (self.memory.folder / "pids.max").exists():
            folder = self.memory.folder
        else:
            try:
                own = own_folder("cgroup", "pids")
            except OSError:
                own = None
            if own is None:
                return None
            folder = own / name
        try:
            folder.mkdir(exist_ok=True)
            (folder / "pids.max").write_text(str(limit))
        except OSError:
            if self.memory is None or folder != self.memory.folder:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            return None
        return folder


def remove_abandoned(prefix: str) -> None:
    """Remove groups of ours whose process was killed itself: their names are the prefix, its id, and more."""
    parents = []
    for kind, controller in (("cgroup", "memory"), ("cgroup", "pids"), ("cgroup2", "")):
        with contextlib.suppress(OSError):
            own = own_folder(kind, controller)
            parents += [own, own.parent] if own is not None else []
    for folder in {folder for parent in parents for folder in _folders(parent, prefix)}:
        maker = folder.name.removeprefix(prefix).partition("-")[0]
        with contextlib.suppress(OSError):
            if not Path(f"/proc/{maker}").exists() and time.time() - folder.stat().st_mtime > YOUNG_S:
                remove_group(folder.name)
                folder.rmdir()


def _folders(parent: Path, prefix: str) -> list[Path]:
    with contextlib.suppress(OSError):
        return [folder for folder in parent.glob(f"{prefix}*") if folder.stat().st_uid == os.geteuid()]
    return []


def _remove(folder: Path) -> None:
    ends_at = time.monotonic() + REMOVED_WITHIN_S
    while folder.exists() and time.monotonic() < ends_at:
        try:
            folder.rmdir()
        except OSError:  # busy: a process that has ended is not yet taken out
            time.sleep(0.01)
