"""From pictures to a video: a failure ends it at once, whatever still waits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from codecap.render.recording import MOST_WAITING, Recorder, recording
from codecap.render.tally import FrameTally
from codecap.video import probe

FULL = """
import sys
from pathlib import Path
import numpy as np
from codecap.render.failures import InfraError
from codecap.render.recording import recording
from codecap.render.tally import FrameTally

class Noise:
    rng = np.random.default_rng(0)
    def rgb(self):
        return self.rng.integers(0, 256, (360, 640, 3), np.uint8)

tally = FrameTally()
try:
    with recording(Path(sys.argv[1]), 640, 360, "h264", tally) as recorder:
        for number in range(60):
            recorder.take(Noise())
except InfraError as error:
    print(error, error.__cause__.errno, number < 60, flush=True)
"""


class Plain:
    def __init__(self, level: int) -> None:
        self.level = level

    def rgb(self) -> np.ndarray:
        return np.full((48, 64, 3), self.level, np.uint8)


class Failing:
    """A writer whose second frame fails, and which a third one would break."""

    def __init__(self) -> None:
        self.frames = 0

    def add(self, rgb: np.ndarray) -> None:
        self.frames += 1
        if self.frames == 2:
            raise OSError("the disk")

    def repeat(self) -> None:
        self.add(np.zeros(0))


def test_pictures_become_the_frames_of_a_video(tmp_path):
    tally, shown = FrameTally(), [Plain(level) for level in range(0, 200, 20)]
    with recording(tmp_path / "x.mp4", 64, 48, "h264", tally) as recorder:
        for picture in shown:
            recorder.take(picture)
            recorder.take(picture)
    assert (probe(tmp_path / "x.mp4").frames, len(tally.digests)) == (20, 20)


def test_nothing_is_recorded_after_a_failure():
    writer = Failing()
    with pytest.raises(OSError, match="the disk"), Recorder(writer, FrameTally()) as recorder:
        for level in range(MOST_WAITING):
            recorder.take(Plain(level))
    assert writer.frames == 2
    with pytest.raises(OSError, match="the disk"):
        recorder._record(Plain(0))
    assert writer.frames == 2


def test_a_full_disk_ends_it_in_words_and_nothing_stays(small_disk):
    """In a process of its own: an encoder that is given more after a failure crashes it."""
    path = small_disk / "x.mp4"
    run = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-2000:]
    words = "cannot be written: No space left on device; free some space, or choose a folder on another disk"
    assert run.stdout == f"{path}: {words} 28 True\n"
    assert list(small_disk.iterdir()) == []
