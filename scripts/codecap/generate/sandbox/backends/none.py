"""No walls: the command runs as you, reads what you read, reaches what you reach. Only for a model that you trust.

Limits of memory, processes and files hold, but a command that wants to get out of them can. Its environment is made from nothing
all the same.

Settings:
    i_trust_the_model: must be true.
"""

from __future__ import annotations

import functools
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from codecap.generate.sandbox import HOME, WORK, Box, SandboxUnavailable, interior
from codecap.generate.sandbox.contained import MARK_VARIABLE, Contained, Launch
from codecap.generate.sandbox.groups import Groups


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    i_trust_the_model: bool = False


def load(settings: Mapping[str, Any]) -> Unwalled:
    """Raises SandboxUnavailable, unless the settings say that the model is trusted."""
    if not Settings.model_validate(dict(settings)).i_trust_the_model:
        raise SandboxUnavailable(
            "sandbox none: the model's commands would run as you, with all your files and the network; set i_trust_the_model: true "
            "beside backend: none if you want that, or backend: bwrap"
        )
    return Unwalled()


class Unwalled:
    """See `Sandbox`."""

    protocol = "none: no walls"

    def check(self) -> str:
        return "no walls: the model is trusted"

    def port(self) -> int:
        with socket.create_server(("127.0.0.1", 0)) as server:
            return server.getsockname()[1]

    def inside(self, box: Box, place: str) -> str:
        """Nothing is mounted: the true path on the host."""
        places = {place: str(path.absolute()) for place, path in box.inputs.items()} | _own_places(box)
        for known, path in sorted(places.items(), key=lambda pair: -len(pair[0])):
            if place == known or place.startswith(f"{known}/"):
                return path + place[len(known) :]
        return place

    def start(self, box: Box, argv: Sequence[str], stdout: Path, stderr: Path) -> Contained:
        return Contained(box, functools.partial(self._launch, box, argv), stdout, stderr)

    def _launch(self, box: Box, argv: Sequence[str], mark: str, _groups: Groups) -> Launch:
        interior.read_only(box)
        interior.make_private(box.work)
        own = _own_places(box)
        for folder in own.values():
            Path(folder).mkdir(exist_ok=True)
        env = {"HOME": own[HOME], "TMPDIR": own["/tmp"], **box.env, MARK_VARIABLE: mark}
        told = interior.told(replace(box, env=env), False, cwd=own[WORK], socket=str(box.socket), argv=argv)
        return Launch(
            command=[str(interior.python()), "-I", "-S", str(interior.RELAY_ON_HOST)],
            told=told,
            environment=interior.with_environment({MARK_VARIABLE: mark}),
            namespace=False,
        )


def _own_places(box: Box) -> dict[str, str]:
    work = box.work.absolute()
    return {WORK: str(work), HOME: str(work / ".home"), "/tmp": str(work / ".tmp")}
