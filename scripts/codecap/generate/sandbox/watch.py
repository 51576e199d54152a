"""Whether what runs in a box keeps to its limits. Where the kernel keeps them, it is asked; else the processes are looked at."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time

import psutil

from codecap.generate.sandbox import Box, holdings, left_behind, unlinked
from codecap.generate.sandbox.groups import OWN_TASKS, Groups
from codecap.generate.sandbox.holdings import Held
from codecap.render.held_memory import BYTES_PER_MB
from codecap.render.process_tree import ProcessTree, kill_now

FILES_EVERY_S = 0.5
FILES_SHARE = 0.1  # of the time, at most, goes into counting files: a folder on a slow disk is counted less often
DYING_S = 3.0  # that a process which was ended may take to give its memory back
JUST_S = 1.0  # before the end: what the kernel ended then was the command itself
MOST_CURBED = 20  # processes ended alone; a command that tries again and again does not go on
KILLED = 128 + signal.SIGKILL


class Watch:
    """Looks at one box, at each tick of its owner.

    One process that takes too much memory is ended alone, as the kernel does it, so that the command can mend its ways. The command
    itself, a crowd of processes, too many tasks or files are the end of all.

    Args:
        box: with the limits.
        root: id of the process that was started on the host.
        tree: all that comes from it.
        memory_folders: mount points of file systems in memory, as seen inside.

    Attributes:
        first: the first process of the sandbox's own process namespace, once it is known.
        outgrown: in words, when all must be ended.
        starved: in words, when memory ran out on the machine or in the job, not in the box.
        curbed: in words, what was ended alone.
        peak_mb: highest memory seen.
    """

    def __init__(self, box: Box, root: int, tree: ProcessTree, groups: Groups, memory_folders: tuple[str, ...]) -> None:
        self.first: psutil.Process | None = None
        self.outgrown: str | None = None
        self.starved: str | None = None
        self.curbed: list[str] = []
        self.peak_mb = 0.0
        self._box, self._root, self._tree, self._groups = box, root, tree, groups
        self._memory_folders = memory_folders
        self._files_at = time.monotonic() + FILES_EVERY_S
        self._curbed_at = float("-inf")
        self._dying: tuple[int, float] | None = None  # id of the process that was ended last, and when

    def look(self) -> None:
        """Find out whether limits are passed, and end a single process that takes too much."""
        held: list[Held] = []
        if self._groups.memory is None or self._groups.tasks is None:
            held = [told for process in self._tree.alive() if (told := holdings.of(process.pid)) is not None]
        self._look_at_tasks(held)
        if self._groups.memory is None:
            self._look_at_memory(held)
        else:
            self.peak_mb = max(self.peak_mb, self._groups.memory.used_mb())
            self._look_for_kills()
        self._look_at_files()

    def glance(self) -> None:
        """Count the processes, in the sandbox's own /proc: quick however many they are, while a `look` is at each of them."""
        with contextlib.suppress(OSError), os.scandir(f"/proc/{self.first.pid}/root/proc") as entries:
            if sum(entry.name.isdigit() for entry in entries) > self._box.processes + OWN_TASKS:
                self.outgrown = self.outgrown or self._tasks_words()

    def look_back(self, status: int | None) -> None:
        """After the end: whether the kernel has ended it for memory."""
        if self._groups.memory is not None:
            self._look_for_kills()
            if status == KILLED and time.monotonic() - self._curbed_at < JUST_S:
                self.outgrown = self.outgrown or self._memory_words()
        self._look_at_tasks([])
        if self.outgrown is None:
            self._files_at = 0.0
            self._look_at_files()

    def _look_at_tasks(self, held: list[Held]) -> None:
        many = self._groups.refused_tasks()
        if self._groups.tasks is None:
            many = sum(process.tasks for process in held) >= self._box.processes + OWN_TASKS
        if many:
            self.outgrown = self.outgrown or self._tasks_words()

    def _look_at_memory(self, held: list[Held]) -> None:
        together_mb = holdings.together_mb(held, self._reachable_folders(held), self._box.memory_mb)
        self.peak_mb = max(self.peak_mb, together_mb)
        if together_mb <= self._box.memory_mb:
            self._dying = None
            return
        worst = max(held, key=_of_one, default=None)
        if worst is None or worst.first or worst.pid == self._root or _of_one(worst) < self._box.memory_mb / 2:
            self.outgrown = self.outgrown or self._memory_words()
        elif self._dying is None or worst.pid != self._dying[0]:
            with contextlib.suppress(psutil.NoSuchProcess):
                kill_now(psutil.Process(worst.pid))
            self._dying = (worst.pid, time.monotonic())
            self._curb(f"{worst.name} was ended: it held {_of_one(worst):.0f} of {self._box.memory_mb} MB of memory")
        elif time.monotonic() - self._dying[1] > DYING_S:
            self.outgrown = self.outgrown or self._memory_words()

    def _reachable_folders(self, held: list[Held]) -> list[str]:
        """Mount points of file systems in memory, by way of a process that has them."""
        inner = next((process.pid for process in held if process.first), None)
        return [] if inner is None else [f"/proc/{inner}/root{folder}" for folder in self._memory_folders]

    def _look_for_kills(self) -> None:
        group = self._groups.memory
        kills = group.killed_for_memory()
        if kills and not group.reached_limit():
            self.starved = "the machine, or the job, ran out of memory and the kernel ended a process of the sandbox"
        while len(self.curbed) < min(kills, MOST_CURBED + 1):
            self._curb(f"the kernel ended a process: together they held more than {self._box.memory_mb} MB of memory")

    def _curb(self, words: str) -> None:
        self.curbed.append(words)
        self._curbed_at = time.monotonic()
        if len(self.curbed) > MOST_CURBED:
            self.outgrown = self.outgrown or f"{self._memory_words()}, again and again"

    def _look_at_files(self) -> None:
        began = time.monotonic()
        if began < self._files_at:
            return
        words = self._files_words()
        if words is not None:
            self.outgrown = self.outgrown or f"{words} in the work folder"
        now = time.monotonic()
        self._files_at = now + max(FILES_EVERY_S, (now - began) / FILES_SHARE)

    def _files_words(self) -> str | None:
        """In words, when there are too many files; those without a name count as the others do."""
        try:
            device = self._box.work.stat().st_dev
        except OSError:  # the folder is gone
            return None
        nameless_mb = math.ceil(unlinked.held_bytes((process.pid for process in self._tree.alive()), device) / BYTES_PER_MB)
        limit_mb = self._box.disk_mb - nameless_mb
        if limit_mb < 0:
            return f"more than {self._box.disk_mb} MB of open files without a name"
        words = left_behind.too_much(self._box.work, limit_mb)
        return f"{nameless_mb} MB of open files without a name, and {words}" if words and nameless_mb else words

    def _tasks_words(self) -> str:
        return f"more than {self._box.processes} processes and threads"

    def _memory_words(self) -> str:
        return f"more than {self._box.memory_mb} MB of memory"


def _of_one(process: Held) -> float:
    return process.memory.all_mb
