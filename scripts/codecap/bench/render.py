"""What rendering a page costs, paired with the loop that a user would write and with other renderers.

Whole commands, each in a process of its own, in turns: a repeat runs every command once, and every repeat begins with another one.
The numbers are medians over the repeats. Memory is sampled in a run of its own before, which also warms the disk's cache up.
"""

from __future__ import annotations

import contextlib
import logging
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codecap.bench.commands import LOOP, OURS, Command, Job, loop, ours
from codecap.bench.process_cost import CommandFailed, ProcessCost, measure_process
from codecap.clock import FPS
from codecap.config import PROJECT
from codecap.errors import UserError

LOG = logging.getLogger("codecap")
PAGES_FOLDER = PROJECT / "resources" / "bench"
PAGES = ("sparse_svg", "dense_canvas", "static_ui")
LIMIT_S = 900.0


@dataclass(frozen=True)
class Row:
    """Attributes:
    frames_per_s, cpu_s_per_frame: of the whole command, start and end included; medians.
    peak_mb, beside_browser_mb: largest memory of all its processes, and of those that are not the browser's.
    ssim: of its video to screenshots by Playwright.
    exact: frames captured with every pixel as in the screenshot, as "119/120"; empty where it cannot be seen from outside. The
        screenshots are drawn afresh for each frame, while the plain loop's own show traces of the frames before.
    speed_ratio, cpu_ratio: to the loop's frames/s and CPU time a frame.
    runs: every repeat's (wall_s, cpu_s).
    reason: why there are no numbers; empty when there are.
    """

    page: str
    command: str
    frames_per_s: float | None = None
    cpu_s_per_frame: float | None = None
    peak_mb: float | None = None
    beside_browser_mb: float | None = None
    ssim: float | None = None
    exact: str = ""
    speed_ratio: float | None = None
    cpu_ratio: float | None = None
    runs: list[tuple[float, float]] = field(default_factory=list)
    reason: str = ""


def measure(
    pages: Sequence[str] = PAGES,
    *,
    frames: int = 5 * FPS,
    width_px: int = 1280,
    height_px: int = 720,
    repeats: int = 3,
    with_rivals: bool = False,
    config_files: Sequence[Path] = (),
    settings: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Render pages of `resources/bench` by every command.

    Args:
        frames, width_px, height_px: what is rendered of each page; even sizes, since the loop encodes no others.
        repeats: timed runs of each command.
        with_rivals: install the other renderers (npm, once, into the user's cache folder) and measure them too.
        config_files, settings: the configuration of our command, as files, and its `render` section.

    Returns:
        A row for each page and command. One that could not be run has the reason in its row.

    Raises:
        UserError: no such page, an odd size, no ffmpeg, or our own command or the loop failed.
    """
    from codecap.bench import rivals
    from codecap.bench.ffmpeg import find_ffmpeg
    from codecap.bench.fidelity import exact_frames, exact_screenshots, reference_frames
    from codecap.render import find_browser

    unknown = [name for name in pages if name not in PAGES]
    if unknown:
        raise UserError(f"{', '.join(unknown)}: no page of this bench; there are {', '.join(PAGES)}")
    if width_px % 2 or height_px % 2:
        raise UserError(f"bench render: {width_px}x{height_px}: the sizes must be even, the plain loop cannot encode others")
    browser, ffmpeg = find_browser(), find_ffmpeg()
    kit = rivals.install(browser, ffmpeg) if with_rivals else None
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as folder:
        place = Path(folder)
        for name in pages:
            page = PAGES_FOLDER / f"{name}.html"
            job = Job(page, frames, width_px, height_px, place / name)
            job.folder.mkdir()
            commands = [ours(job, config_files), loop(job, browser, ffmpeg), *(kit.commands(job) if kit else [])]
            LOG.info("%s: screenshots of %d frames to compare with", name, frames)
            reference = reference_frames(page, frames, width_px, height_px, browser)
            exact = {OURS: exact_frames(page, reference, settings or {}), LOOP: exact_screenshots(page, reference, browser)}
            rows += _measure_page(name, commands, reference, exact, repeats)
            rows += [Row(name, command, reason=reason) for command, reason in (kit.missing if kit else {}).items()]
    return rows


def _measure_page(name: str, commands: list[Command], reference: list[bytes], exact: Mapping[str, int], repeats: int) -> list[Row]:
    from codecap.bench.fidelity import video_ssim

    rows: dict[str, dict[str, Any]] = {command.name: {"page": name, "command": command.name} for command in commands}
    for command in commands:
        with _told_in(rows[command.name]):
            cost = _run(command, name, memory=True)
            rows[command.name] |= {"peak_mb": cost.peak_mb, "beside_browser_mb": cost.peak_beside_browser_mb}
            rows[command.name]["ssim"] = video_ssim(command.out_mp4, reference, most_late=command.most_late)
    for command, count in exact.items():
        rows[command]["exact"] = f"{count}/{len(reference)}"
    runs: dict[str, list[ProcessCost]] = {command.name: [] for command in commands}
    for repeat in range(repeats):
        first = repeat % len(commands)
        for command in commands[first:] + commands[:first]:
            if "reason" not in rows[command.name]:
                with _told_in(rows[command.name]):
                    runs[command.name].append(_run(command, name))
    for command, costs in runs.items():
        if "reason" not in rows[command]:
            rows[command]["runs"] = [(cost.wall_s, cost.cpu_s) for cost in costs]
            rows[command]["frames_per_s"] = len(reference) / statistics.median(cost.wall_s for cost in costs)
            rows[command]["cpu_s_per_frame"] = statistics.median(cost.cpu_s for cost in costs) / len(reference)
    base = rows[LOOP]
    for told in rows.values():
        if "reason" not in told:
            told["speed_ratio"] = told["frames_per_s"] / base["frames_per_s"]
            told["cpu_ratio"] = told["cpu_s_per_frame"] / base["cpu_s_per_frame"]
    return [Row(**told) for told in rows.values()]


@contextlib.contextmanager
def _told_in(row: dict[str, Any]) -> Iterator[None]:
    """Keep the reason why a rival cannot be measured; ours and the loop must run, for nothing can be said without them."""
    try:
        yield
    except (CommandFailed, OSError, ValueError) as error:
        if row["command"] in (OURS, LOOP):
            raise UserError(f"bench render: {row['page']}: {row['command']}: {error}") from error
        LOG.info("%s: %s: %s", row["page"], row["command"], error)
        row["reason"] = " ".join(str(error).split())


def _run(command: Command, page: str, *, memory: bool = False) -> ProcessCost:
    command.out_mp4.unlink(missing_ok=True)
    cost = measure_process(command.arguments, env=command.env, memory=memory, limit_s=LIMIT_S)
    if not command.out_mp4.is_file():
        raise CommandFailed("it ended well, but made no video")
    what = f"{cost.peak_mb:.0f} MB" if memory else f"{cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of CPU"
    LOG.info("%s: %s: %s", page, command.name, what)
    return cost


def as_table(rows: Sequence[Row]) -> str:
    """Rows for people: one line a page and command."""
    lines = [
        f"{'page':13} {'command':24} {'frames/s':>8} {'x loop':>6} {'CPU s/frame':>11} {'x loop':>6} "
        f"{'peak MB':>8} {'no browser':>10} {'SSIM':>7}  exact"
    ]
    for row in rows:
        start = f"{row.page:13} {row.command:24} "
        if row.reason:
            lines.append(f"{start}not measured: {row.reason}")
            continue
        lines.append(
            f"{start}{row.frames_per_s:8.1f} {row.speed_ratio:6.2f} {row.cpu_s_per_frame:11.4f} {row.cpu_ratio:6.2f} "
            f"{row.peak_mb:8.0f} {row.beside_browser_mb:10.0f} {row.ssim:7.4f}  {row.exact}".rstrip()
        )
    return "\n".join(lines)
