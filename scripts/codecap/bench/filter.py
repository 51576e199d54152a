"""What the content filter costs: a large clip is drawn, and measured by processes that may use one core."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from codecap.clock import FPS
from codecap.video import CanonicalWriter

KINDS = ("shapes", "all moves")


@dataclass(frozen=True)
class Cost:
    """
    Attributes:
        seconds: length of the clip.
        wall_s, cpu_s: median times of a process' measuring, its start left out; wall_s is more where other programs run beside it.
        times_real_time: seconds of video in a second of wall_s.
        peak_mb: largest resident memory of the whole process.
    """

    kind: str
    width_px: int
    height_px: int
    seconds: int
    wall_s: float
    cpu_s: float
    times_real_time: float
    peak_mb: float


def measure(seconds: int, width_px: int, height_px: int, repeats: int) -> list[Cost]:
    """Costs of both kinds of clips."""
    costs = []
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as folder:
        for kind in KINDS:
            mp4 = Path(folder) / "clip.mp4"
            draw(mp4, kind, seconds * FPS, width_px, height_px)
            runs = [_one_process(mp4) for _ in range(repeats)]
            wall_s, cpu_s = (statistics.median(run[name] for run in runs) for name in ("wall_s", "cpu_s"))
            peak_mb = max(run["peak_mb"] for run in runs)
            costs.append(Cost(kind, width_px, height_px, seconds, wall_s, cpu_s, seconds / wall_s, peak_mb))
            mp4.unlink()
    return costs


def as_table(costs: Sequence[Cost]) -> str:
    return "\n".join(
        f"{cost.kind:10} {cost.width_px}x{cost.height_px} {cost.seconds} s  {cost.wall_s:6.2f} s (CPU {cost.cpu_s:.2f} s)  "
        f"{cost.times_real_time:5.1f} x real time on one core  {cost.peak_mb:5.0f} MB"
        for cost in costs
    )


def draw(mp4: Path, kind: str, frames: int, width_px: int, height_px: int) -> None:
    """Shapes that pass before a plain ground; or, for "all moves", a fine pattern that slides under them."""
    ground = np.full((height_px, width_px, 3), (235, 238, 245), np.uint8)
    if kind == "all moves":
        coarse = np.random.default_rng(0).integers(0, 256, (height_px // 12, width_px // 12, 3), np.uint8)
        ground = cv2.resize(coarse, (width_px, height_px), interpolation=cv2.INTER_CUBIC)
    unit = height_px // 12
    with CanonicalWriter(mp4, width_px, height_px) as writer:
        for frame in range(frames):
            picture = np.roll(ground, (frame, 3 * frame), axis=(0, 1)) if kind == "all moves" else ground.copy()
            for shape in range(8):
                x = int((0.1 * shape * width_px + (3 + shape) * frame) % width_px)
                y = int(height_px * (0.1 + 0.1 * shape) + unit * np.sin(frame / 12 + shape))
                cv2.circle(picture, (x, y), unit, (30 * shape, 200 - 20 * shape, 90 + 15 * shape), -1, cv2.LINE_AA)
            writer.add(picture)


def _one_process(mp4: Path) -> dict[str, float]:
    told = subprocess.run([sys.executable, "-m", __name__, mp4], capture_output=True, text=True, check=False)
    if told.returncode:
        raise RuntimeError(f"the filter's process ended with {told.returncode}: {told.stderr[-500:]}")
    return json.loads(told.stdout)


def _measured(mp4: Path) -> dict[str, float]:
    """In a process of its own: on one core, where the system lets one choose."""
    import time

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    cv2.setNumThreads(1)
    from codecap.filtering.features import measure as features_of
    from codecap.filtering.verdict import FilterSettings, keep_chance

    start, used = time.perf_counter(), time.process_time()
    keep_chance(features_of(mp4), FilterSettings())
    wall_s, cpu_s = time.perf_counter() - start, time.process_time() - used
    return {"wall_s": wall_s, "cpu_s": cpu_s, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """Highest resident memory of this program, in MB. The `ru_maxrss` of getrusage may be that of whoever started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    print(json.dumps(_measured(Path(sys.argv[1]))))
