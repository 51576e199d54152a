"""A cage for one browser: it reaches no network, cannot outgrow its memory, and leaves no process and no file behind."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import select
import shlex
import shutil
import signal
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from codecap import stopping
from codecap.render.failures import InfraError
from codecap.render.layers import JOIN, Layers, layers
from codecap.render.memory_group import MemoryGroup, NoMemoryGroup, remove_group
from codecap.render.process_tree import ProcessTree, kill_now, marked
from codecap.render.scratch import files_mb, hold, remove_abandoned

NAME = "codecap-cage"
MARK_VARIABLE = "CODECAP_CAGE"
TICK_S = 0.05
TICKS_A_LOOK = 4  # files, and new processes, are looked for at every 4th tick; memory is read at each
KEPT_WORDS = 4000
FILES_MB = 300  # more than a browser writes for itself, some 10 MB
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT")


class Cage:
    """Holds one browser; a context manager, at whose end everything is gone.

    Args:
        memory_mb: limit for all its processes together, in MB of 10^6 bytes.
        scratch: where the private temporary folder is made; the system's place by default.
        allowed: layers to use, by default all that work.

    Attributes:
        folder: private, removed at the end. For the browser's profile; also its HOME and TMPDIR.
        mark: in the name of `folder` and in the environment of all its processes.
        environment: what the browser gets: nothing of ours but paths of programs, libraries and fonts.
        outgrown: in words, when its processes were ended because they held more than `memory_mb`, or wrote more than `FILES_MB`
            into files (a page may store what it likes, and so fill the disk); else None.
        starved: in words, when the kernel ended one because the machine, or the job, ran out of memory: no fault of the page.
        peak_mb: highest memory seen, without page cache.
        stopped: it was ended by `end_all_cages`: no fault of the page either.
        said: the end of what a process that was started has written to its standard error.

    Raises:
        InfraError: the temporary folder cannot be made.
    """

    def __init__(self, memory_mb: int, scratch: Path | None = None, allowed: Layers | None = None) -> None:
        self.mark = f"{NAME}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self.peak_mb = 0.0
        self.said = ""
        self.stopped = False
        self._layers = allowed or layers()
        self._memory_mb = memory_mb
        self._outgrown: str | None = None
        self._starved: str | None = None
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None
        self._child: int | None = None  # ours to read the status of
        self._tree: ProcessTree | None = None
        self._stderr: int | None = None
        parent = Path(tempfile.gettempdir() if scratch is None else scratch)
        _clear_up_after_the_killed(parent)
        self.folder = parent / self.mark
        try:
            self.folder.mkdir(mode=0o700)
        except OSError as error:
            raise InfraError(f"{self.folder}: cannot be made: {error.strerror}; set TMPDIR to a place with room") from error
        self._held = hold(self.folder)
        try:
            self.environment = _environment(self.folder) | {MARK_VARIABLE: self.mark}
            self._group = MemoryGroup(self.mark, memory_mb) if self._layers.memory_cgroup else None
        except (OSError, NoMemoryGroup) as error:
            self._drop_folder()
            raise InfraError(f"a browser's memory cannot be limited here any more: {error}") from error
        _OPEN.add(self)

    def __enter__(self) -> Cage:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def command(self, argv: Sequence[str | Path], pid_file: Path | None = None) -> list[str]:
        """The command, put behind what joins the cgroup and makes the namespaces."""
        joining = "" if self._group is None else str(self._group.joining_file)
        join = ["/bin/sh", "-c", JOIN, "codecap-cage", str(self.folder), joining, str(pid_file or "")]
        return [*join, *self._layers.unshare, *map(str, argv)]

    def wrapper(self, executable: Path) -> Path:
        """A program that starts the executable in the cage, with the arguments it is given: for a driver. See `adopt`."""
        script = self.folder / "browser"
        script.write_text(f'#!/bin/sh\nexec {shlex.join(self.command([executable], self._pid_file))} "$@"\n')
        script.chmod(0o700)
        return script

    def start(
        self, argv: Sequence[str | Path], *, pipe_fds: tuple[int, int] | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        """Start a process in a session of its own.

        Args:
            argv: the command.
            pipe_fds: descriptors that become 3 (read by it) and 4 (written by it); still the caller's to close here.
            env: added to `environment`.

        Raises:
            InfraError: it cannot be started.
        """
        command = self.command(argv)
        read_end, write_end = os.pipe()
        ours = [_above_standard(fd) for fd in pipe_fds or ()]
        actions = [(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate(ours, 3)]
        actions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)]
        actions += [(os.POSIX_SPAWN_DUP2, write_end, 2)]
        try:
            with self._lock:
                if self._over.is_set():
                    raise InfraError("the cage is closed")
                self._child = os.posix_spawn(
                    command[0],
                    command,
                    {**self.environment, **(env or {})},
                    file_actions=actions,
                    setsid=True,
                    setsigmask=(),
                    setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
                )
                self._stderr = read_end
                os.set_blocking(read_end, False)
                self._watch(self._child)
        except OSError as error:
            os.close(read_end)
            raise InfraError(f"{command[0]} cannot be started: {error.strerror}") from error
        finally:
            for fd in (*ours, write_end):
                os.close(fd)

    def adopt(self, pid: int | None = None) -> int:
        """Watch and end a process that another has started: of this id, or, by default, from `wrapper`. Returns its id.

        Raises:
            InfraError: it is not there.
        """
        pid = self._wrapped() if pid is None else pid
        if pid is None or not psutil.pid_exists(pid):
            raise InfraError("the browser ended as soon as it was started")
        with self._lock:
            self._watch(pid)
        return pid

    @property
    def outgrown(self) -> str | None:
        self._look_for_kills()
        return self._outgrown

    @property
    def starved(self) -> str | None:
        self._look_for_kills()
        return self._starved

    @property
    def broken_off(self) -> str | None:
        """In words, why it was ended for no fault of what runs in it.

        A signal to all processes of a job ends parts of a browser too: Chromium lets its parts ignore none.
        """
        return "stopped" if self.stopped or stopping.reached_others() else self.starved

    def cpu_s(self) -> float:
        """CPU time that its processes have used so far, in seconds."""
        return 0.0 if self._tree is None else self._tree.cpu_s()

    def kill(self, wait_s: float = 10.0) -> bool:
        """End all processes of the cage, whatever sessions and groups they are in, and wait until they are gone.

        May be called more than once, and from any thread.

        Returns:
            Whether all are gone (one that waits for a broken disk can take longer).
        """
        self._over.set()
        with self._lock:
            self._look_for_kills()
            ends_at = time.monotonic() + wait_s
            complete = self._group is not None or self._layers.pid_namespace
            while True:
                if self._group is not None:
                    self._group.kill()
                left = self._members(everywhere=False)
                if not left and not complete:
                    left = self._members(everywhere=True)
                if not left or time.monotonic() > ends_at:
                    break
                for process in left:
                    kill_now(process)
                time.sleep(0.002)
            self._read_status()
            return not left

    def close(self) -> None:
        """`kill`, and remove the folder and the cgroup. May be called twice."""
        gone = self.kill()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join()
        with self._lock:
            if self._stderr is not None:
                os.close(self._stderr)
                self._stderr = None
            if self._group is not None and gone:
                with contextlib.suppress(OSError):
                    self._group.remove()
            self._drop_folder()

    def _drop_folder(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    @property
    def _pid_file(self) -> Path:
        return self.folder / "browser.pid"

    def _wrapped(self) -> int | None:
        try:
            return int(self._pid_file.read_text())
        except (OSError, ValueError):
            return None

    def _members(self, everywhere: bool) -> list[psutil.Process]:
        """Its processes that run; `everywhere`: also those that only their mark gives away."""
        if self._tree is None and (wrapped := self._wrapped()) is not None:
            self._tree = ProcessTree(wrapped)
        found = {process.pid: process for process in (self._tree.alive() if self._tree else [])}
        for pid in self._group.members() if self._group is not None else []:
            with contextlib.suppress(psutil.Error):
                found.setdefault(pid, psutil.Process(pid))
        if everywhere:
            found |= {process.pid: process for process in marked(self.mark)}
        return list(found.values())

    def _read_status(self) -> None:
        """Let the kernel forget our child."""
        if self._child is not None:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self._child, os.WNOHANG)[0] == 0:
                    return
            self._child = None

    def _watch(self, pid: int) -> None:
        self._tree = ProcessTree(pid)
        self._watcher = threading.Thread(target=self._keep_watch, name=self.mark, daemon=True)
        self._watcher.start()

    def _keep_watch(self) -> None:
        """Until the end: read memory at each tick, end everything when it is too much, and empty the standard error."""
        tick = 0
        while not self._over.is_set():
            next_at = time.monotonic() + TICK_S
            if self._group is not None:
                used_mb = self._group.used_mb()
                self._look_for_kills()
            else:
                if tick % TICKS_A_LOOK == 0:
                    self._tree.alive()
                used_mb = self._tree.memory_mb(self._memory_mb)
                if used_mb > self._memory_mb:
                    self._outgrown = self._too_much()
            if tick % TICKS_A_LOOK == 0 and files_mb(self.folder, FILES_MB) > FILES_MB:
                self._outgrown = self._outgrown or f"the browser wrote more than {FILES_MB} MB of files"
            self.peak_mb = max(self.peak_mb, used_mb)
            tick += 1
            if self._outgrown or self._starved:
                self.kill()
            self._listen(next_at)

    def _listen(self, until: float) -> None:
        """Keep the last of what the standard error says, until a time or the end."""
        while not self._over.is_set() and (left_s := until - time.monotonic()) > 0:
            if self._stderr is None:
                self._over.wait(left_s)
                return
            poll = select.poll()
            poll.register(self._stderr, select.POLLIN)
            if not poll.poll(left_s * 1000):
                return
            heard = os.read(self._stderr, 65536)
            if not heard:  # nobody is there to say more
                self._over.wait(left_s)
                return
            self.said = (self.said + heard.decode(errors="replace"))[-KEPT_WORDS:]

    def _look_for_kills(self) -> None:
        """Whether the kernel has ended one of its processes for memory; the browser may go on without it, and draw wrongly."""
        if self._group is None or self._outgrown or self._starved or not self._group.killed_for_memory():
            return
        if self._group.reached_limit():
            self._outgrown = self._too_much()
            self.peak_mb = max(self.peak_mb, self._group.used_mb())
        else:
            self._starved = "the machine, or the job, ran out of memory and the kernel ended the browser"

    def _too_much(self) -> str:
        return f"the browser needed more than {self._memory_mb} MB of memory"


_OPEN: weakref.WeakSet[Cage] = weakref.WeakSet()


def end_all_cages() -> None:
    """End what runs in any cage of this process, because the work is broken off."""
    for cage in list(_OPEN):
        cage.stopped = True
        cage.kill()


@functools.cache
def _clear_up_after_the_killed(parent: Path) -> None:
    """Remove what is left of cages whose process was killed itself, once a process and place."""
    for mark in remove_abandoned(parent, f"{NAME}-"):
        for process in marked(mark):
            kill_now(process)
        remove_group(mark)


def _environment(folder: Path) -> dict[str, str]:
    """Made from nothing, so that no secret is in it. Fonts and their cache are found where the user has them."""
    home = Path.home()
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    fonts = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "fontconfig"
    for own, place in ((cache, ".cache/fontconfig"), (home / ".fonts", ".fonts"), (fonts / "fonts", ".local/share/fonts")):
        if os.access(own, os.R_OK | os.X_OK):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).symlink_to(own)
    return environment | {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}


def _above_standard(fd: int) -> int:
    """A copy that no descriptor of the new process can collide with; not inherited itself."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
