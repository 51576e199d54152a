"""Apptainer (or Singularity): an image in place of the host's system, for clusters that have it and no bubblewrap.

Its command line is made and tested here, but no test of this project runs it. No filter of system calls is put on; the home folder
and /tmp are folders of the work folder, since Apptainer's own in memory are too small for agents.

Settings:
    image: a .sif file or an unpacked image; its Python and its system are what the agent sees. The project's own serves.
    program: the `apptainer` or `singularity` to use.
    python: in the image, 3.9 or newer.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from codecap.generate.sandbox import HOME, PORT, WORK, Box, SandboxUnavailable, interior
from codecap.generate.sandbox.contained import Contained, Launch
from codecap.generate.sandbox.groups import Groups
from codecap.generate.sandbox.trial import version_after_trial

IN_WORK = {HOME: f"{WORK}/.home", "/tmp": f"{WORK}/.tmp"}
WALLS = ("--containall", "--cleanenv", "--no-privs", "--net", "--network", "none")
TRIED_WITHIN_S = 300.0  # a file system image may have to be unpacked first
SEPARATORS = ":,"  # of its --bind, which knows no quotes


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    image: Path
    program: str = "apptainer"
    python: str = "/usr/bin/python3"


def load(settings: Mapping[str, Any]) -> Apptainer:
    return Apptainer(Settings.model_validate(dict(settings)))


class Apptainer:
    """See `Sandbox`."""

    protocol = "apptainer: own namespaces, no network but the model's API, an image read-only"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def check(self) -> str:
        return _tried(self._settings)

    def port(self) -> int:
        return PORT

    def inside(self, box: Box, place: str) -> str:  # noqa: ARG002 (others need it)
        """Home and temporary folder are in the work folder."""
        for known, path in IN_WORK.items():
            if place == known or place.startswith(f"{known}/"):
                return path + place[len(known) :]
        return place

    def start(self, box: Box, argv: Sequence[str], stdout: Path, stderr: Path) -> Contained:
        return Contained(box, functools.partial(self._launch, box, argv), stdout, stderr)

    def _launch(self, box: Box, argv: Sequence[str], _mark: str, _groups: Groups) -> Launch:
        program = shutil.which(self._settings.program)
        if program is None:
            raise SandboxUnavailable(f"{self._settings.program}: not found; on a cluster it may be a module: module load apptainer")
        if not self._settings.image.exists():
            raise SandboxUnavailable(f"{self._settings.image}: no such image; docs/sandbox.md says how to build one")
        work = interior.make_private(box.work)
        for place in IN_WORK.values():
            (work / place.removeprefix(f"{WORK}/")).mkdir(exist_ok=True)
        own = {"HOME": IN_WORK[HOME], "TMPDIR": IN_WORK["/tmp"]}
        return Launch(
            command=command(program, self._settings, box),
            told=interior.told(replace(box, env=own | dict(box.env)), False, argv=argv),
            environment=interior.with_environment({"HOME": str(Path.home())}),
        )


def command(program: str, settings: Settings, box: Box) -> list[str]:
    """The command line; its last words start `relay`.

    Raises:
        SandboxUnavailable: a path has a colon or a comma, which its --bind cannot take.
    """
    binds = {WORK: (box.work, "rw")}
    binds |= {place: (path, "ro") for place, path in interior.read_only(box).items()}
    binds[interior.RELAY] = (interior.RELAY_ON_HOST, "ro")
    if box.socket is not None:
        binds[interior.SOCKET] = (interior.socket_of(box), "ro")
    words = [program, "exec", *WALLS, "--no-mount", "bind-paths,hostfs,cwd", "--pwd", "/"]
    for place, (path, mode) in binds.items():
        if any(separator in f"{path}{place}" for separator in SEPARATORS):
            raise SandboxUnavailable(f"{path}: apptainer cannot show a path with a colon or a comma; use a folder without")
        words += ["--bind", f"{path}:{place}:{mode}"]
    return [*words, str(settings.image), settings.python, "-I", "-S", interior.RELAY]


@functools.cache
def _tried(settings: Settings) -> str:
    version = version_after_trial(Apptainer(settings), settings.program, TRIED_WITHIN_S)
    return f"{version}, image {settings.image}"
