"""What stand-ins are asked to do beside their work, and what they have done.

Both lie in the copy of the project that they run in, so that processes on several nodes share them:

    requests.json               a list of `Request`s, read anew at each item
    stand_ins/served/           one empty file each time that a request with a number of `times` was served
    stand_ins/calls/*.jsonl     one line an item that a stand-in has finished, one file a process
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from codecap.records import write_whole
from codecap.store import digest_of

PROJECT = Path(__file__).parents[4]
REQUESTS, SERVED, CALLS = "requests.json", "stand_ins/served", "stand_ins/calls"
MB = 2**20

Stage = Literal["generate", "render", "prompt", "segment", "describe", "score", "judge"]
STARTED_NS = time.time_ns()
_held: dict[str, bytes] = {}


class Unreachable(Exception):
    """Asked for with `unreached`: a stand-in tells it as a failure of ours, which is tried again at the next run."""


@dataclass(frozen=True)
class Request:
    """What stand-ins are to do at some items before they do their work.

    Attributes:
        do: "sleep" for `seconds`; "hold" so many `mb` of memory until the process ends; "kill" the process by SIGKILL, as a node
            that is lost; "exit" at once with status 1; "raise" a programming error; "unreached": fail by our fault.
        stage, system, clip: which items, patterns with * and ?. The reference side (stage describe) has the system "reference".
        times: how often at most, all processes together; None: at each of these items.
    """

    do: Literal["sleep", "hold", "kill", "exit", "raise", "unreached"]
    stage: str = "*"
    system: str = "*"
    clip: str = "*"
    seconds: float = 0.0
    mb: int = 0
    times: int | None = None

    @property
    def digest(self) -> str:
        return digest_of(asdict(self))

    def is_about(self, stage: Stage, system: str, clip_id: str) -> bool:
        told = ((stage, self.stage), (system, self.system), (clip_id, self.clip))
        return all(fnmatchcase(name, pattern) for name, pattern in told)


def ask(project: Path, *requests: Request) -> None:
    """Put these requests in the place of those that were there. None: only the work is done."""
    write_whole(Path(project) / REQUESTS, [json.dumps([asdict(request) for request in requests], indent=1) + "\n"])


@contextlib.contextmanager
def item(stage: Stage, system: str, clip_id: str) -> Iterator[None]:
    """Do what is asked at this item; if its work then comes to its end, note it and the CPU seconds that this thread took."""
    began_s = time.thread_time()
    for request in _requests():
        if request.is_about(stage, system, clip_id) and _is_due(request):
            _serve(request, f"{stage} of {clip_id} by {system}")
    yield
    line = {"stage": stage, "system": system, "clip_id": clip_id, "cpu_s": round(time.thread_time() - began_s, 6)}
    folder = PROJECT / CALLS
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{socket.gethostname()}-{os.getpid()}-{STARTED_NS}.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def calls(project: Path) -> Iterator[dict[str, Any]]:
    """Every item that stand-ins of this project have finished: stage, system, clip_id, cpu_s."""
    for log in sorted((Path(project) / CALLS).glob("*.jsonl")):
        for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):  # a killed process may leave half a line
                yield json.loads(line)


def _requests() -> Iterable[Request]:
    try:
        told = (PROJECT / REQUESTS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [Request(**request) for request in json.loads(told)]


def _is_due(request: Request) -> bool:
    """Whether it has been served less often than asked; if so, it counts as served now."""
    if request.times is None:
        return True
    folder = PROJECT / SERVED
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(request.times):
        with contextlib.suppress(FileExistsError):
            (folder / f"{request.digest}.{number}").touch(exist_ok=False)
            return True
    return False


def _serve(request: Request, place: str) -> None:
    match request.do:
        case "sleep":
            time.sleep(request.seconds)
        case "hold":
            if request.digest not in _held:
                _held[request.digest] = b"\x01" * (request.mb * MB)  # written to, or it would not be resident
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(1)
        case "raise":
            raise RuntimeError(f"a programming error, asked for at {place}")
        case "unreached":
            raise Unreachable(f"a failure of ours, asked for at {place}")
