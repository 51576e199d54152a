"""The folder of one run, and what is seen of the machine from inside: the clip, the commands, a Python, and nothing else of ours.

<folder>/work               seen inside as its work folder; the only one that can be written
<folder>/work/.agent        the agent's home: its configuration, and logs that are kept
<folder>/bin                the commands, as shells that start the programs of `inside`
<folder>/stdout, stderr     what the agent writes
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from codecap import store
from codecap.errors import UserError
from codecap.generate.agents.agent import LOGIN
from codecap.generate.sandbox import WORK, left_behind
from codecap.render.scratch import hold, remove_abandoned

TOOLS = 1  # of the commands; another number is another run: raised when they do or say something else
NAME = "codecap-agent-"  # of the folder begins so
HOME = ".agent"  # in the work folder
VIDEO = "/input/video.mp4"
BIN, PROGRAMS, PYTHON, FFMPEG = "/opt/codecap/bin", "/opt/codecap/programs", "/opt/codecap/python", "/opt/codecap/ffmpeg"
PACKAGES = ("numpy", "opencv-python-headless", "pillow", "av")  # that the Python inside has
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
INSIDE = Path(__file__).with_name("inside")
SHELLS = {
    "render": 'exec "$CODECAP_PYTHON" "$CODECAP_PROGRAMS/render.py" "$@"',
    "compare": 'exec "$CODECAP_PYTHON" "$CODECAP_PROGRAMS/compare.py" "$@"',
    "frames": 'exec "$CODECAP_PYTHON" "$CODECAP_PROGRAMS/frames.py" "$@"',
    "time-left": 'exec "$CODECAP_PYTHON" "$CODECAP_PROGRAMS/time_left.py" "$@"',
    "python3": 'exec "$CODECAP_PYTHON" "$@"',
    "python": 'exec "$CODECAP_PYTHON" "$@"',
    "ffmpeg": 'exec "$CODECAP_FFMPEG" "$@"',
}


@dataclass(frozen=True)
class Workspace:
    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def home(self) -> Path:
        return self.work / HOME

    @property
    def stdout(self) -> Path:
        return self.folder / "stdout"

    @property
    def stderr(self) -> Path:
        return self.folder / "stderr"

    def inputs(self, video: Path) -> dict[str, Path]:
        """Places inside, and what is seen there, read-only.

        Raises:
            UserError: a package that the agent's Python is to have is not installed.
        """
        return {VIDEO: video, BIN: self.folder / "bin", PROGRAMS: INSIDE, FFMPEG: ffmpeg(), **python_packages()}


@contextlib.contextmanager
def workspace() -> Iterator[Workspace]:
    """A run's folder, in node-local scratch, removed at the end; those of processes that were killed are removed first."""
    scratch = store.scratch_folder()
    scratch.mkdir(parents=True, exist_ok=True)
    remove_abandoned(scratch, NAME)
    folder = Path(tempfile.mkdtemp(dir=scratch, prefix=NAME))
    held = hold(folder)
    try:
        made = Workspace(folder)
        made.home.mkdir(parents=True)
        (folder / "bin").mkdir()
        for name, line in SHELLS.items():
            shell = folder / "bin" / name
            shell.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
            shell.chmod(0o755)
        yield made
    finally:
        try:
            left_behind.remove(folder)
        finally:
            if held is not None:
                os.close(held)


def environment(places: Mapping[str, str], url: str) -> dict[str, str]:
    """What the commands need to know.

    Args:
        places: how each place of `Workspace.inputs`, and the work folder, is written inside.
        url: of the gateway, inside.
    """
    path = f"{places[BIN]}:{SYSTEM_PATH}"
    return {
        "PATH": path,
        "HOME": f"{places[WORK]}/{HOME}",
        "CODECAP_GATEWAY": url,
        "CODECAP_VIDEO": places[VIDEO],
        "CODECAP_PROGRAMS": places[PROGRAMS],
        "CODECAP_FFMPEG": places[FFMPEG],
        "CODECAP_PYTHON": str(interpreter()),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(str(Path(places[place]).parent) for place in python_packages())),
    }


def write_logins(home: Path, path: str) -> None:
    """Have login shells keep the PATH: an agent may start one for each command, and the system's own profile sets another."""
    for name in LOGIN:
        (home / name).write_text(f'export PATH="{path}"\n', encoding="utf-8")


def interpreter() -> Path:
    """The Python that this one was made from; its own packages are not seen."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def interpreters_folder() -> tuple[Path, ...]:
    """What must be seen for it: nothing where it is the system's."""
    base = Path(sys.base_prefix).resolve()
    return () if base == Path("/usr") else (base,)


@functools.cache
def python_packages() -> dict[str, Path]:
    """The packages' folders, with the libraries that their wheels bring.

    Raises:
        UserError: one is not installed.
    """
    found: dict[str, Path] = {}
    for name in PACKAGES:
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            raise UserError(f"agents' Python needs the package {name}: pip install {name}") from error
        tops = {file.parts[0] for file in package.files or [] if len(file.parts) > 1}
        for top in sorted(top for top in tops if not top.endswith((".dist-info", ".data")) and top not in ("..", "__pycache__")):
            found[f"{PYTHON}/{top}"] = Path(str(package.locate_file(top)))
    return found


@functools.cache
def ffmpeg() -> Path:
    """FFmpeg's program of the package imageio-ffmpeg.

    Raises:
        UserError: it is not installed.
    """
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise UserError("agents need FFmpeg's program: pip install imageio-ffmpeg") from error
    return Path(imageio_ffmpeg.get_ffmpeg_exe()).resolve()
