"""A command that runs behind some walls: started, heard, watched, and ended with all that comes from it."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from codecap import stopping
from codecap.generate.sandbox import Box, SandboxUnavailable, groups, holdings
from codecap.generate.sandbox.watch import Watch
from codecap.render.process_tree import ProcessTree, children, kill_now, marked

NAME = "codecap-sandbox-"
MARK_VARIABLE = "CODECAP_SANDBOX"
STARTED_WITHIN_S = 60.0  # a cold file system may take its time
GONE_WITHIN_S = 60.0  # a crowd of thousands on a busy machine takes some
HEARD_WITHIN_S = 10.0
TICK_S = 0.1
GLANCE_S = 0.02
SAID_BYTES = 4000
CHUNK_BYTES = 65536


@dataclass(frozen=True)
class Launch:
    """How a backend starts the first program inside.

    Attributes:
        command: on the host; it hands its standard input, output and error on.
        told: what `relay` is told.
        environment: of the command on the host; the one inside is told.
        pass_fds: descriptors that the command inherits at the same numbers; closed here once it has started.
        namespace: the kernel ends all processes with the first one of their own process namespace.
        memory_folders: mount points of file systems in memory, as seen inside.
    """

    command: Sequence[str]
    told: Mapping[str, Any]
    environment: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    namespace: bool = True
    memory_folders: tuple[str, ...] = ()


class Contained:
    """What runs; see `Running`. Making it starts it, and returns when the command itself has begun.

    Args:
        launch: what starts it. It is made with the mark of this run, and the groups.

    Raises:
        SandboxUnavailable: the walls, or the command, cannot be put up here.
    """

    def __init__(self, box: Box, launch: Callable[[str, groups.Groups], Launch], stdout: Path, stderr: Path) -> None:
        if os.readlink("/proc/self") != str(os.getpid()):  # noqa: PTH115 (a name, not a path)
            raise SandboxUnavailable(
                "/proc is that of another process namespace: processes could not be watched; mount this one's own"
            )
        groups.remove_abandoned(NAME)
        self._mark = f"{NAME}{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self._groups = groups.Groups(self._mark, box.memory_mb, box.processes)
        self._stopped = False
        self._outgrown: str | None = None
        self._failed: str | None = None  # something of ours
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._status: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._first: psutil.Process | None = None  # with it the kernel ends all others of its namespace
        try:
            self._launch = launch(self._mark, self._groups)
            self._start(box, stdout, stderr)
        except BaseException:
            if self._process is not None:
                self._end()
            self._groups.remove()
            raise
        _OPEN.add(self)

    def __enter__(self) -> Contained:
        return self

    def __exit__(self, *why: object) -> None:
        self.kill()

    @property
    def outgrown(self) -> str | None:
        return self._outgrown or self._watch.outgrown

    @property
    def curbed(self) -> tuple[str, ...]:
        return tuple(self._watch.curbed)

    @property
    def broken_off(self) -> str | None:
        return "stopped" if self._stopped or stopping.reached_others() else self._failed or self._watch.starved

    @property
    def peak_mb(self) -> float:
        return self._watch.peak_mb

    def wait(self, until: float) -> int | None:
        if not self._ended.wait(max(until - time.monotonic(), 0.0)):
            return None
        self.kill()
        return self._status

    def kill(self) -> None:
        self._end()
        for thread in self._threads:
            thread.join(HEARD_WITHIN_S)
        self._groups.remove()

    def stop(self) -> None:
        """End it, because the work is broken off."""
        self._stopped = True
        self.kill()

    def _start(self, box: Box, stdout: Path, stderr: Path) -> None:
        ours, theirs = socket.socketpair()
        with ours, contextlib.ExitStack() as opened:
            try:
                files = [opened.enter_context(file.open("wb", buffering=0)) for file in (stdout, stderr)]
            except OSError as error:
                theirs.close()
                raise SandboxUnavailable(f"{error.filename}: cannot be written: {error.strerror}") from error
            begun = threading.Event()
            parent = threading.Thread(target=self._be_parent, args=(theirs, begun), name=self._mark, daemon=True)
            parent.start()
            begun.wait()
            if self._process is None:
                raise SandboxUnavailable(f"{self._launch.command[0]}: cannot be started: {self._failed}")
            self._tree = ProcessTree(self._process.pid)
            self._watch = Watch(box, self._process.pid, self._tree, self._groups, self._launch.memory_folders)
            self._threads = [
                parent,
                self._thread(self._keep_watch),
                self._thread(self._hear, self._process.stdout, files[0], box.output_mb, "standard output"),
                self._thread(self._hear, self._process.stderr, files[1], box.output_mb, "standard error"),
            ]
            opened.pop_all()  # the threads close them
            said = _tell(ours, self._launch.told)
        if self._launch.namespace:
            self._first = self._watch.first = _first_of_namespace(self._process.pid)
        if self._first is not None and self._groups.tasks is None:
            self._threads.append(self._thread(self._keep_count))
        if said != "started" and self.outgrown is None:  # a command that has outgrown its box has begun
            self.kill()
            words = said or self._failed or _end_of(stderr)
            raise SandboxUnavailable(words or f"the sandbox did not start its command, or not within {STARTED_WITHIN_S:.0f} s")

    def _be_parent(self, theirs: socket.socket, begun: threading.Event) -> None:
        """Start it and wait for its end. In a thread of its own, since it is killed when the thread that has started it ends."""
        first = "ulimit -c 0; { echo 1000 > /proc/self/oom_score_adj; } 2>&-; "  # killed before others, where memory runs out
        joining = "".join(f"echo 0 > {shlex.quote(str(file))} || exit 125; " for file in self._groups.joining_files)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", f'{first}{joining}exec "$@"', "sandbox", *self._launch.command],
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(self._launch.environment),
                cwd="/",
                pass_fds=self._launch.pass_fds,
                start_new_session=True,
            )
        except OSError as error:
            self._failed = error.strerror
            return
        finally:
            theirs.close()
            for number in self._launch.pass_fds:
                os.close(number)
            begun.set()
        status = self._process.wait()
        self._status = status if status >= 0 else 128 - status
        self._ended.set()

    def _keep_count(self) -> None:
        """Where the kernel does not limit their number: end a crowd before it is too large to be ended."""
        while not self._ended.wait(GLANCE_S):
            self._watch.glance()
            if self._watch.outgrown:
                self._end_early()

    def _thread(self, target: Callable[..., None], *args: object) -> threading.Thread:
        thread = threading.Thread(target=target, args=args, name=self._mark, daemon=True)
        thread.start()
        return thread

    def _keep_watch(self) -> None:
        try:
            while not self._ended.wait(TICK_S):
                self._watch.look()
                if self._watch.outgrown or self._watch.starved:
                    self._end_early()
            self._watch.look_back(self._status)
        except BaseException:  # nothing runs unwatched
            self._failed = "the limits could not be watched"
            self._end_early()
            raise

    def _hear(self, pipe: Any, out: Any, most_mb: int, name: str) -> None:
        """Write down what it says, up to a limit."""
        left = most_mb * 1_000_000
        try:
            with pipe, out:
                while chunk := os.read(pipe.fileno(), CHUNK_BYTES):
                    out.write(chunk[:left])
                    left -= len(chunk)
                    if left < 0:
                        self._outgrown = self._outgrown or f"more than {most_mb} MB written to the {name}"
                        break
        except OSError as error:
            self._failed = f"{out.name}: cannot be written: {error.strerror}"
        if left < 0 or self._failed:
            self._end_early()

    def _end(self) -> None:
        """End all processes, and wait until they are gone."""
        with self._lock:
            ends_at = time.monotonic() + GONE_WITHIN_S
            self._groups.kill()
            if self._first is not None:  # at once, before anybody counts: they may multiply faster than they can be counted
                kill_now(self._first)
                self._ended.wait(GONE_WITHIN_S / 2)
            while left := self._left():
                if time.monotonic() > ends_at:
                    names = ", ".join(str(process.pid) for process in left)
                    raise SandboxUnavailable(f"processes {names} of a sandbox cannot be ended; they wait for a device or a disk")
                self._groups.kill()
                for process in left:
                    kill_now(process)
                self._ended.wait(0.005)

    def _end_early(self) -> None:
        """From a thread of our own; what is left all the same, the last `kill` tells."""
        with contextlib.suppress(SandboxUnavailable):
            self._end()

    def _left(self) -> list[psutil.Process]:
        """Its processes that run, and its first one until that is read."""
        found = {process.pid: process for process in self._tree.alive()}
        for pid in self._groups.members():
            with contextlib.suppress(psutil.Error):
                found.setdefault(pid, psutil.Process(pid))
        if not found and not self._launch.namespace:
            found = {process.pid: process for process in marked(self._mark)}
        if not found and not self._ended.is_set():
            with contextlib.suppress(psutil.Error):
                return [psutil.Process(self._process.pid)]
        return list(found.values())


_OPEN: weakref.WeakSet[Contained] = weakref.WeakSet()


def end_all() -> None:
    """End what runs in any sandbox of this process, because the work is broken off."""
    for contained in list(_OPEN):
        contained.stop()


def _first_of_namespace(parent: int) -> psutil.Process | None:
    """A process's only child, if that is the first of a process namespace; else None."""
    found = children(parent)
    if len(found) == 1:
        told = holdings.of(found[0])
        with contextlib.suppress(psutil.Error):
            return psutil.Process(found[0]) if told is not None and told.first else None
    return None


def _tell(ours: socket.socket, told: Mapping[str, Any]) -> str:
    """Tell `relay` what to do, and hear what it answers; empty: nothing in time."""
    ours.settimeout(STARTED_WITHIN_S)
    said = b""
    try:
        ours.sendall(json.dumps(told).encode() + b"\n")
        while said != b"started" and len(said) < SAID_BYTES and (chunk := ours.recv(SAID_BYTES)):
            said += chunk
    except OSError:  # it ended before it was told, or is not ready in time
        return ""
    return said.decode(errors="replace")


def _end_of(file: Path) -> str:
    try:
        return file.read_bytes()[-SAID_BYTES:].decode(errors="replace").strip()
    except OSError:
        return ""
