"""A model of one's own: a server that speaks a hosted model's API, as vLLM does, beside the shard that asks it.

It listens on a free port of 127.0.0.1, is one for all clips of the shard, is started with the first clip that is not in the store,
and ends with the shard, whatever ends that. How it is started says the section `serve` of the system's entry, see `serve`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from codecap import stopping
from codecap.errors import UserError
from codecap.generate.serve import HOST, Serve, Settings, described, section
from codecap.store import scratch_folder

LOG = logging.getLogger("codecap")

KEEPER = Path(__file__).with_name("server_keeper.py")
GRACE_S = 15.0  # from SIGTERM to SIGKILL
STARTS = 3  # on another port each, where the first was taken by a stranger meanwhile
POLL_S = 0.5
ASKED_WITHIN_S = 5.0
KEPT_LINES, KEPT_CHARACTERS = 25, 3000  # of the server's last words
LARGEST_LIST = 1 << 20  # bytes of the list of models
TAKEN = ("address already in use", "errno 98")
SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")  # ends of names of variables that the server does not get


class ServerFailed(UserError):
    """The server did not start, or is no more; the message has the end of what it wrote."""

    may_pass = True


@contextlib.contextmanager
def beside(settings: Settings) -> Iterator[Callable[[], dict[str, Any]]]:
    """Have the server that a system's settings ask for run during the block, from when it is first needed.

    Yields:
        Gives the settings of the harness: with the address of the server, which is started by the first call. Any thread may call
        it; it raises what `LocalServer.address` does.

    Raises:
        ValueError: the settings have no section `serve`, or a wrong one.
    """
    serve, told = section(settings), described(settings)
    if serve is None:
        raise ValueError("serve: there is none")
    with contextlib.closing(LocalServer(serve, told["endpoint"]["model"])) as server:
        yield lambda: {**told, "endpoint": {**told["endpoint"], "base_url": server.address()}}


class LocalServer:
    """A server of a model, started when its address is first asked for; ended, with all that it has started, by `close`.

    Args:
        model: what it is to call the model.
    """

    def __init__(self, serve: Serve, model: str) -> None:
        self._serve, self._model = serve, model
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._reserved: socket.socket | None = None
        self._log: IO[bytes] | None = None
        self._address = ""
        self._failed: Exception | None = None

    def address(self) -> str:
        """`http://127.0.0.1:PORT/v1`. Called by several threads at once: the first starts it, all wait until it is ready.

        Raises:
            ServerFailed: it does not start. That it ends later asks the process to stop, see `codecap.stopping`.
            UserError: there is no such program.
            stopping.Stopped: the process is to end.
        """
        with self._lock:
            if self._failed is not None:
                raise type(self._failed)(*self._failed.args)
            if not self._address:
                try:
                    self._start()
                except Exception as error:
                    self._failed = error
                    raise
            return self._address

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            self._end()

    def _start(self) -> None:
        _reach_it_directly()
        for left in reversed(range(STARTS)):
            port = self._reserve_port()
            argv = self._serve.argv(self._model, port)
            LOG.info("starting the server of %s: %s", self._model, shlex.join(argv))
            try:
                self._run(argv)
                self._until_ready(port)
            except BaseException as error:
                self._end()
                if left and isinstance(error, ServerFailed) and any(told in str(error).lower() for told in TAKEN):
                    LOG.warning("port %d was taken by another program; another one is tried", port)
                    continue
                raise
            self._address = f"http://{HOST}:{port}/v1"
            threading.Thread(target=self._watch, args=[self._keeper], name="local server", daemon=True).start()
            return

    def _reserve_port(self) -> int:
        """A port that nobody is given as long as the server lives; the server itself binds it all the same (SO_REUSEADDR)."""
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind((HOST, 0))
        return self._reserved.getsockname()[1]

    def _run(self, argv: list[str]) -> None:
        program = shutil.which(argv[0])
        if program is None:
            advice = "install it (pip install vllm) or give serve.command" if argv[0] == "vllm" else "correct serve.command"
            raise UserError(f"the server of {self._model}: there is no program {argv[0]!r}; {advice}")
        scratch_folder().mkdir(parents=True, exist_ok=True)
        self._log = tempfile.TemporaryFile(dir=scratch_folder())  # noqa: SIM115 - closed by `_end`
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER), str(GRACE_S), program, *argv[1:]],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=_environment() | self._serve.environment,
            start_new_session=True,
        )

    def _until_ready(self, port: int) -> None:
        began = time.monotonic()
        while not self._closing.is_set():
            status = self._keeper.poll()
            if status is not None:
                raise ServerFailed(f"the server of {self._model} ended, status {status}, before it was ready; {self._last_words()}")
            if _status(port, self._serve.health) == 200 and (served := _models(port)):
                if self._model not in served:
                    raise ServerFailed(
                        f"the server serves {', '.join(sorted(served))}, not {self._model!r}, which the endpoint's model says; "
                        "have both say the same (vLLM: --served-model-name {model})"
                    )
                LOG.info("the server of %s is ready after %.0f s", self._model, time.monotonic() - began)
                return
            if time.monotonic() - began > self._serve.start_limit_s:
                limit = f"{self._serve.start_limit_s:g} s (serve.start_limit_s)"
                raise ServerFailed(f"the server of {self._model} was not ready within {limit}; {self._last_words()}")
            stopping.sleep(POLL_S)
        raise ServerFailed(f"the server of {self._model} is not needed any more")

    def _watch(self, keeper: subprocess.Popen[bytes]) -> None:
        """A server that ends by itself takes the shard with it, which goes on at its next try, with another one."""
        status = keeper.wait()
        with self._lock:
            if self._closing.is_set():
                return
            LOG.error("the server of %s has ended, status %d; %s", self._model, status, self._last_words())
            stopping.ask(f"the server of {self._model} has ended (status {status})")

    def _end(self) -> None:
        if self._keeper is not None:
            self._keeper.stdin.close()
            self._keeper.wait()
        if self._reserved is not None:
            self._reserved.close()
        if self._log is not None:
            self._log.close()
        self._keeper = self._reserved = self._log = None

    def _last_words(self) -> str:
        """The end of what the server has written."""
        size = os.fstat(self._log.fileno()).st_size
        told = os.pread(self._log.fileno(), 4 * KEPT_CHARACTERS, max(size - 4 * KEPT_CHARACTERS, 0))
        said = "\n".join(told.decode("utf-8", "replace").splitlines()[-KEPT_LINES:])[-KEPT_CHARACTERS:].strip()
        return f"it wrote at last:\n{said}" if said else "it wrote nothing"


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.upper().endswith(SECRETS)}


def _reach_it_directly() -> None:
    """Where the environment names a proxy, requests to this machine do not go there."""
    for name in ("NO_PROXY", "no_proxy"):
        told = os.environ.get(name, "")
        if HOST not in told.split(","):
            os.environ[name] = ",".join(filter(None, (told, HOST)))


def _opened(port: int, path: str) -> Any:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return direct.open(f"http://{HOST}:{port}{path}", timeout=ASKED_WITHIN_S)


def _status(port: int, path: str) -> int | None:
    """Of a GET; None when there is no answer."""
    try:
        with _opened(port, path) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError, http.client.HTTPException):
        return None


def _models(port: int) -> set[str]:
    """Names of the models that a server has; empty as long as it does not say."""
    try:
        with _opened(port, "/v1/models") as response:
            told = json.loads(response.read(LARGEST_LIST))
        return {str(entry["id"]) for entry in told["data"]}
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return set()
