"""The commands that `codecap bench render` compares: ours, and a user's plain loop. Those of others are in `rivals`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.clock import FPS

OURS, LOOP = "codecap", "playwright loop"


@dataclass(frozen=True)
class Job:
    """What is to be rendered: an HTML file, how many frames of which size, and a folder for what is made on the way."""

    page: Path
    frames: int
    width_px: int
    height_px: int
    folder: Path

    @property
    def size(self) -> str:
        return f"{self.width_px}x{self.height_px}"


@dataclass(frozen=True)
class Command:
    """A whole command that renders a job's page into `out_mp4`.

    Attributes:
        env: its environment; None: this process's.
        most_late: so many frames may its video be early or late, because it keeps the time itself.
    """

    name: str
    arguments: Sequence[str | Path]
    out_mp4: Path
    env: Mapping[str, str] | None = None
    most_late: int = 0


def ours(job: Job, config_files: Sequence[Path]) -> Command:
    """`codecap render`, with its certificate and all its tests of the page."""
    out = job.folder / "codecap.mp4"
    program = Path(sys.executable).with_name("codecap")
    arguments: list[str | Path] = [program, "render", job.page, "--seconds", str(job.frames / FPS), "--size", job.size, "-o", out]
    return Command(OURS, [*arguments, *(part for path in config_files for part in ("--config", path))], out)


def loop(job: Job, browser: Path, ffmpeg: Path) -> Command:
    """See `codecap.bench.playwright_loop`."""
    out = job.folder / "loop.mp4"
    program = [sys.executable, "-m", "codecap.bench.playwright_loop"]
    return Command(LOOP, [*program, job.page, out, str(job.frames), job.size, browser, ffmpeg], out)
