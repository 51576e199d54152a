"""The first program inside a sandbox: it sets limits, opens the way to the model's API, and becomes the command.

It runs by path, without the package, on any Python from 3.9. Its standard input is a socket on which it is told what to do, in
one line of JSON, and answers "started" or what is wrong; the command itself reads nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import resource
import shutil
import signal
import socket

CHUNK_BYTES = 65536
MOST_CONNECTIONS = 256
MOST_DESCRIPTORS = 1024  # that may be open here at the start
CUT_OFF = "what leads to the model's API was ended from inside"  # the last line on standard error then
NICE = 10  # those who end a crowd of processes, inside and outside, must get their turn before it


def main() -> None:
    with socket.socket(fileno=os.dup(0)) as host:
        told = json.loads(host.makefile("rb").readline())
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            program = find(told["argv"][0], told["env"].get("PATH", ""), told["cwd"])
            os.chdir(told["cwd"])
            become_modest(told["limits"])
            if told["socket"] is not None:
                open_way(told["port"], told["socket"], nothing)
        except OSError as error:
            host.sendall(f"{error.strerror or error}: {error.filename or told['argv'][0]}".encode())
            raise SystemExit(127) from error
        os.close(nothing)
        host.sendall(b"started")
    os.execve(program, told["argv"], told["env"])


def find(program: str, path: str, cwd: str) -> str:
    """A program by the PATH of the command."""
    found = shutil.which(program, path=path)
    if found is None:
        raise FileNotFoundError(2, "not found in the sandbox", program)
    return found if os.path.isabs(found) else f"{cwd}/{found}"  # noqa: PTH117 (pathlib is slow to load)


def become_modest(limits: dict[str, int | None]) -> None:
    """For this process and all that come from it: signals as they are for a program of its own, and limits of the kernel's own.

    Args:
        limits: `file_bytes`, the largest file; `tasks`, processes and threads of this user here, or None.
    """
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.nice(NICE)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _limit(resource.RLIMIT_NPROC, limits["tasks"])


def open_way(port: int, path: str, nothing: int) -> None:
    """Listen on a port of the loopback, and start what connects it with a unix socket; it ends with the sandbox.

    That is two processes, so that whatever ends the one, the other ends the command: without its model it could only wait. Both are
    there when this returns.
    """
    listening = socket.create_server(("127.0.0.1", port), backlog=MOST_CONNECTIONS)
    command = os.getpid()
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        if os.fork() == 0:  # a grandchild: the command must not find a child that it has not started
            try:
                keep_way(listening, path, nothing, command, tell)
            finally:
                os._exit(1)
        os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    listening.close()
    open_now = os.read(hear, 1)
    os.close(hear)
    if not open_now:
        raise OSError(errno.EPIPE, "the way to the model's API could not be opened")


def keep_way(listening: socket.socket, path: str, nothing: int, command: int, tell: int) -> None:
    """Connect and see to it that this goes on, in one process each, until one of them is ended: then the command is, too.

    Args:
        tell: where it is said, by one byte, that both are there.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # who leaves before the answer is there must not end this
    for number in (0, 1):
        os.dup2(nothing, number)
    for number in set(range(3, MOST_DESCRIPTORS)) - {listening.fileno(), tell}:
        with contextlib.suppress(OSError):
            os.close(number)
    last_words = os.dup(2)
    os.dup2(0, 2)
    try:
        here, there = os.pipe()
        connecting = os.fork()
        if connecting == 0:
            os.close(there)  # the other's end: closed when that one is gone
            asyncio.run(forward(listening, path, here, tell))
        else:
            os.close(here)
            os.close(tell)
            listening.close()
            os.waitpid(connecting, 0)
    finally:
        with contextlib.suppress(OSError):
            os.kill(command, 0)  # raises where it has ended before
            os.write(last_words, f"\n{CUT_OFF}\n".encode())
            os.kill(command, signal.SIGKILL)


async def forward(listening: socket.socket, path: str, closed: int, tell: int) -> None:
    """Connect each who calls with the unix socket, until the other end of the pipe `closed` is."""
    free = asyncio.Semaphore(MOST_CONNECTIONS)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with free:
            try:
                far_reader, far_writer = await asyncio.open_unix_connection(path)
            except OSError:
                writer.close()
                return
            await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))
            for each in (writer, far_writer):
                each.close()

    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(closed, over.set)
    server = await asyncio.start_server(connect, sock=listening)
    os.write(tell, b".")
    os.close(tell)
    await over.wait()
    server.close()


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes in one direction, as they come, to the end."""
    try:
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
    except OSError:  # one side is gone: so the other has nothing to wait for
        writer.transport.abort()


def _limit(which: int, most: int | None) -> None:
    if most is not None:
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


if __name__ == "__main__":
    main()
