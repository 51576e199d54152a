"""Where the commands of an agent run: no network but one socket, nothing of ours to read, one folder to write, limits on the rest.

    sandbox = load({"backend": "bwrap"})
    sandbox.check()                                    # one clear error where this machine does not allow it
    with sandbox.start(box, ["agent", "..."], stdout, stderr) as running:
        status = running.wait(until=time.monotonic() + 3600)
    # at the end of the block nothing of it is left running

A backend is a module of `backends/` with `load(settings) -> Sandbox`. What is left in the work folder is read with `left_behind`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from codecap.errors import UserError

PORT = 8321  # of the model's API inside a sandbox with a network of its own
BACKEND = "bwrap"  # where the settings name none
WORK = "/work"
HOME = "/home/agent"  # small, in memory, gone at the end: what is to be kept belongs into WORK


class SandboxUnavailable(UserError):
    """This machine, or the settings, do not allow the sandbox; the message says what is missing and the way out."""


@dataclass(frozen=True)
class Box:
    """What one run sees of the machine, and how much it may use of it.

    Attributes:
        work: the only folder of the host that can be written; WORK inside, and the current folder at the start. Made private.
        inputs: places inside (absolute, not in WORK) and the files or folders of the host that are seen there, read-only.
        programs: folders of the host that are seen at their own place, read-only: of node, an npm package, a Python.
        socket: a unix socket of the host, to which `http://127.0.0.1:PORT` leads; None: there is no way out at all.
        env: the environment, added to PATH, HOME, TMPDIR, USER, LANG and TZ, which it may replace. Nothing is passed on from ours.
        port: where the model's API listens inside; from `Sandbox.port()`.
        memory_mb: of all processes together with what they put into memory as files, in MB of 10^6 bytes.
        processes: processes and their threads together, as the kernel counts them.
        disk_mb: what may be in `work`, each file counting for at least 4 kB; the largest file may have this size too.
        output_mb: what may be written to the standard output and error, each.
    """

    work: Path
    inputs: Mapping[str, Path] = field(default_factory=dict)
    programs: tuple[Path, ...] = ()
    socket: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    port: int = PORT
    memory_mb: int = 8000
    processes: int = 1000
    disk_mb: int = 2000
    output_mb: int = 200


class Running(Protocol):
    """What was started; a context manager, at whose end it is killed. All of it may be called from any thread."""

    def wait(self, until: float) -> int | None:
        """Wait for its end. With it ends all that it has started.

        Args:
            until: moment of `time.monotonic()`.

        Returns:
            Its exit status, 128 + N where signal N ended it; None: it still runs.
        """
        ...

    def kill(self) -> None:
        """End everything, whatever sessions and groups it is in, and wait until it is gone; may be called more than once.

        Raises:
            SandboxUnavailable: something is left all the same.
        """
        ...

    @property
    def outgrown(self) -> str | None:
        """In words, when everything was ended because it used more than the box allows; else None."""
        ...

    @property
    def curbed(self) -> tuple[str, ...]:
        """In words, each process that was ended alone because memory ran out; the rest went on."""
        ...

    @property
    def broken_off(self) -> str | None:
        """In words, when it was ended for no fault of its own: we were asked to stop, or the machine ran out of memory."""
        ...

    @property
    def peak_mb(self) -> float:
        """Highest memory seen, in MB of 10^6 bytes, without page cache."""
        ...

    def __enter__(self) -> Running: ...

    def __exit__(self, *why: object) -> None: ...


class Sandbox(Protocol):
    protocol: str  # readable: backend, its version, what walls and limits there are

    def check(self) -> str:
        """Find out by trying whether it works here, once a process; returns what there is, in words.

        Raises:
            SandboxUnavailable: it does not.
        """
        ...

    def port(self) -> int:
        """A port for the next box's model API."""
        ...

    def inside(self, box: Box, place: str) -> str:
        """How what runs in the box writes a place in WORK or of `inputs`; the same, but where nothing is mounted."""
        ...

    def start(self, box: Box, argv: Sequence[str], stdout: Path, stderr: Path) -> Running:
        """Start a command in the box. It reads nothing from its standard input.

        Args:
            argv: the program, by an absolute path inside or found by the PATH of the box, and its arguments.
            stdout, stderr: files that are made for what it writes.

        Raises:
            SandboxUnavailable: it cannot be started here.
            ValueError: the box asks for what no sandbox gives, as a place that is not absolute.
        """
        ...


def load(settings: Mapping[str, Any]) -> Sandbox:
    """The sandbox of a configuration.

    Args:
        settings: `backend`, a module of `backends/`, and that backend's own settings, all optional.

    Raises:
        Unavailable, SandboxUnavailable: there is no such backend, or it refuses its settings.
    """
    from codecap import registry

    own = dict(settings)
    backend = own.pop("backend", BACKEND)
    return registry.make("generate.sandbox.backends", backend, own)
