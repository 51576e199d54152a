"""What scoring costs, metric by metric: ours beside the plain loop that a user would write from the libraries' examples.

Each measurement runs in a process of its own, its networks loaded before the clock starts, both ways with the same threads. Ours is
the engine of the workflow (a shard: every reference described once, each candidate decoded ahead of the one that is measured); the
plain loop reads both videos of a pair whole and embeds one picture, or one clip, at a time. Candidates are the clips themselves,
late and shifted, so that a value that both ways agree on says something. Shares, and the plain loop's value, come from a second
pass: its own way of reading enlarges the halved colours of a video more coarsely, so for the value it is given our frames.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codecap import config as configuration
from codecap import registry
from codecap.bench import plain_loops
from codecap.clips_table import read_clips
from codecap.errors import UserError
from codecap.records import Annotation, Clip, Outcome, Render, read_record
from codecap.score import Metric, Task, Unscored, Watcher
from codecap.score.engine import choice
from codecap.score.engine.watching import watch
from codecap.video import CanonicalWriter, read_frames

LOG = logging.getLogger("codecap")
OURS, PLAIN = "codecap", "plain loop"
BESIDE = ("lag",)  # keeps the reference's clock, and looks at pictures all the same
LATE_FRAMES = 5  # of a candidate behind its clip,
SHIFTED = 16  # and by this part of its width to the right
DEMO = configuration.PROJECT / "resources" / "demo"
Read = Callable[[Path], list[np.ndarray]]  # all frames of a video


@dataclass(frozen=True)
class Cost:
    """One way of computing one metric.

    Attributes:
        clips_s: candidates scored in a second, references included.
        decode, prepare, copy, compute: shares of the time: reading and converting frames, preprocessing them, bringing them to the
            device (measured alone; it overlaps with computing on a GPU), and the network with the comparison.
        peak_mb, gpu_mb: highest memory of the process, and on the GPU (0 without one).
        value: mean over the candidates, to see that both ways compute the same.
    """

    metric: str
    way: str
    clips_s: float
    load_s: float
    peak_mb: float
    gpu_mb: float
    value: float | None
    decode: float | None = None
    prepare: float | None = None
    copy: float | None = None
    compute: float | None = None


def measure(
    config_files: Sequence[Path], metrics: Sequence[str] = (), *, clips: int = 2, candidates: int = 2, repeats: int = 1
) -> list[Cost]:
    """Both ways of all metrics that look at pictures, on some of the demo's clips.

    Args:
        metrics: names; by default all of the configuration.
        clips: how many of the demo's.
        candidates: of each clip: so many systems are scored.
        repeats: processes of each way, in turns; the median of them is told.

    Raises:
        UserError: a backend cannot be loaded, or nothing is left to measure; the message says why.
    """
    config = configuration.load(*config_files)
    choice.check(config)
    names = _measurable(config, metrics or list(config["metrics"]))
    costs = []
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as folder:
        for clip, _ in _clips(clips):
            write_candidate(clip, Path(folder) / f"{clip.clip_id}.mp4")
        asked = {"files": [str(path) for path in config_files], "videos": folder, "clips": clips, "candidates": candidates}
        for name in names:
            ways = [OURS, PLAIN] if _has_plain_loop(config, name) else [OURS]
            made = [[_in_process(asked | {"metric": name, "way": way}) for way in ways] for _ in range(repeats)]
            costs += [_median([round_[place] for round_ in made]) for place in range(len(ways))]
    return costs


def write_candidate(clip: Clip, mp4: Path) -> None:
    """The clip late by `LATE_FRAMES`, with its first frame before, and shifted to the right; what leaves comes in at the left."""
    with CanonicalWriter(mp4, clip.width_px, clip.height_px) as writer:
        for frame, rgb in read_frames(clip.mp4, stop=max(clip.frames - LATE_FRAMES, 1)):
            writer.add(np.roll(rgb, clip.width_px // SHIFTED, axis=1))
            while frame == 0 and writer.frames < min(LATE_FRAMES + 1, clip.frames):
                writer.repeat()


def as_table(costs: Sequence[Cost]) -> str:
    """One line a way; the plain loop's rate beside ours as how many times faster ours is."""
    plain = {cost.metric: cost for cost in costs if cost.way == PLAIN}
    heads = ("decode", "prepare", "copy", "compute")
    lines = [
        f"{'metric':18} {'way':11} {'clips/s':>8} {'times':>6} " + " ".join(f"{head:>8}" for head in heads) + "      MB  GPU MB"
    ]
    for cost in costs:
        other = plain.get(cost.metric)
        times = f"{cost.clips_s / other.clips_s:.1f}x" if cost.way == OURS and other else ""
        shares = " ".join(f"{'' if getattr(cost, head) is None else format(getattr(cost, head), '.0%'):>8}" for head in heads)
        rate = f"{cost.metric:18} {cost.way:11} {cost.clips_s:8.2f} {times:>6}"
        lines.append(f"{rate} {shares} {cost.peak_mb:7.0f} {cost.gpu_mb:7.0f}")
    return "\n".join(lines)


def _measurable(config: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Of these metrics those that look at pictures by themselves and ask nobody; the others are told.

    Raises:
        UserError: one is not configured, or none is left.
    """
    left, out = [], []
    for name in names:
        if name not in config["metrics"]:
            raise registry.Unavailable(
                f"metrics: no metric called {name!r} is configured; there are {', '.join(config['metrics'])}"
            )
        why = _left_out(config, name)
        if why:
            out.append(f"{name} ({why})")
        else:
            left.append(name)
    if not left:
        raise UserError(f"nothing to measure; left out: {', '.join(out)}")
    if out:
        LOG.warning("left out: %s", ", ".join(out))
    return left


def _left_out(config: Mapping[str, Any], name: str) -> str:
    """Why a metric is not measured here; empty for one that is."""
    module = choice.metric(config, name).module()
    if "tracks" in module.NEEDS:
        return "compares boxes that prompter and segmenter have found before"
    if hasattr(module, "CLOCK") or name in BESIDE:
        return ""
    reasons = {"focal_points": "asks a judge", "page": "measures a page"}
    return next((why for need, why in reasons.items() if need in module.NEEDS), "compares no pictures")


def _has_plain_loop(config: Mapping[str, Any], name: str) -> bool:
    """Whether an example of the libraries is known."""
    return name == "kss" or choice.metric(config, name).settings.get("encoder") in plain_loops.ENCODERS


def _in_process(asked: Mapping[str, Any]) -> Cost:
    name, way = asked["metric"], asked["way"]
    done = subprocess.run([sys.executable, "-m", __name__, json.dumps(asked)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise registry.Unavailable(f"{name}, {way}: could not be measured, see above")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def _median(costs: Sequence[Cost]) -> Cost:
    return sorted(costs, key=lambda cost: cost.clips_s)[(len(costs) - 1) // 2]


def _clips(count: int) -> list[tuple[Clip, Annotation]]:
    """The first of the demo's clips that are annotated."""
    there = [(clip, DEMO / "annotations" / f"{clip.clip_id}.json") for clip in read_clips(DEMO / "clips.tsv")]
    return [(clip, read_record(path, Annotation)) for clip, path in there if path.is_file()][:count]


def _run(asked: Mapping[str, Any]) -> Cost:
    config = configuration.load(*map(Path, asked["files"]))
    chosen = choice.metric(config, asked["metric"])
    clips = _clips(asked["clips"])
    started = time.perf_counter()
    metric = registry.make("score", chosen.plugin or chosen.name, chosen.settings)
    plain = _plain_of(metric, chosen) if asked["way"] == PLAIN else None
    load_s = time.perf_counter() - started
    with tempfile.TemporaryDirectory(prefix="codecap-bench-") as scratch:
        tasks = list(_tasks(config, clips, asked["candidates"], Path(asked["videos"]), Path(scratch)))
        if plain is not None:
            seconds, _ = _timed(lambda: [plain(task, plain_loops.read_all) for task in tasks])
            value = statistics.fmean(plain(task, _frames) for task in tasks[:: asked["candidates"]])
            shares: dict[str, float] = {}
        else:
            seconds, value = _timed(lambda: _by_engine(config, asked["metric"], tasks, Path(scratch)))
            shares = _shares(metric, tasks)
    return Cost(asked["metric"], asked["way"], len(tasks) / seconds, load_s, _peak_mb(), _gpu_mb(), value, **shares)


def _timed(work: Callable[[], list[float]]) -> tuple[float, float | None]:
    started = time.perf_counter()
    values = work()
    return time.perf_counter() - started, statistics.fmean(values) if values else None


def _tasks(
    config: Mapping[str, Any], clips: Sequence[tuple[Clip, Annotation]], candidates: int, videos: Path, scratch: Path
) -> Iterator[Task]:
    """Each clip's candidate as several systems' render of it; shots are found beforehand, the same for both ways."""
    from codecap.score.engine.lane import Lane

    lane = Lane([], choice.shots(config), scratch / "shots", scratch / "shots")
    for clip, annotation in clips:
        for number in range(candidates):
            key = f"{clip.sha256}{number}"
            mp4 = videos / f"{clip.clip_id}.mp4"
            render = Render(system=f"s{number}", clip_id=clip.clip_id, key=key, outcome=Outcome.OK, mp4=mp4)
            yield Task(clip, render, lane.shots(clip), annotation=annotation, frames=clip.frames)


def _by_engine(config: Mapping[str, Any], name: str, tasks: Sequence[Task], scratch: Path) -> list[float]:
    from codecap.score.engine.lane import Lane, describe_shard, score_shard

    lane = Lane([choice.metric(config, name)], choice.shots(config), scratch / "shots", scratch / "bulk")
    clips = {task.clip.clip_id: task.clip for task in tasks}
    references = {row.clip_id: row for row in describe_shard(list(clips.values()), lane)}
    annotations = {task.clip.clip_id: task.annotation for task in tasks if task.annotation is not None}
    rows = list(score_shard([task.render for task in tasks], clips, references, annotations, {}, {}, lane))
    return [row.value for row in rows if row.value is not None and row.metric == name]


class _Timed:
    """A watcher whose time is counted."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher, self.wanted, self.seconds = watcher, watcher.wanted, 0.0

    def see(self, frame: int, rgb: np.ndarray) -> None:
        started = time.perf_counter()
        self.watcher.see(frame, rgb)
        self.seconds += time.perf_counter() - started


def _shares(metric: Metric, tasks: Sequence[Task]) -> dict[str, float]:
    """Decode, prepare, copy and compute as shares of their sum, step after step, for references and candidates."""
    spent = dict.fromkeys(("decode", "prepare", "copy", "compute"), 0.0)
    known: dict[str, Any] = {}
    for task in tasks:
        clip_id = task.clip.clip_id
        if clip_id not in known:
            known[clip_id] = _look(metric.watch_reference(task.clip, task.shots), task.clip.mp4, task.clip, spent)
        found = _look(metric.watch_candidate(task.clip, task.shots, known[clip_id]), task.render.mp4, task.clip, spent)
        started = time.perf_counter()
        with contextlib.suppress(Unscored):
            metric.compare(known[clip_id], found, task)
        spent["compute"] += time.perf_counter() - started
    total = sum(spent.values())
    return {step: seconds / total for step, seconds in spent.items()}


def _look(watcher: Watcher | None, mp4: Path, clip: Clip, spent: dict[str, float]) -> dict[str, np.ndarray]:
    if watcher is None:
        return {}
    timed = _Timed(watcher)
    started = time.perf_counter()
    watch(mp4, clip, [timed])
    spent["decode"] += time.perf_counter() - started - timed.seconds
    spent["prepare"] += timed.seconds
    copied = _copy_s(watcher)
    started = time.perf_counter()
    result = watcher.result()
    spent["copy"] += copied
    spent["compute"] += max(time.perf_counter() - started - copied, 0.0)
    return result


def _copy_s(watcher: Watcher) -> float:
    """Seconds that a watcher's prepared pictures take to the device of its encoder, alone."""
    hardware = getattr(getattr(watcher, "encoder", None), "hardware", None)
    pictures = list(getattr(watcher, "_prepared", {}).values())
    if hardware is None or not pictures:
        return 0.0
    import torch

    from codecap.score.encoding.feeding import batches

    started = time.perf_counter()
    for _ in batches(pictures, len(pictures), hardware.device):
        if hardware.device.type == "cuda":
            torch.cuda.synchronize(hardware.device)
    return time.perf_counter() - started


def _frames(mp4: Path) -> list[np.ndarray]:
    """All frames of a video as the engine has them."""
    return [rgb for _, rgb in read_frames(mp4)]


def _plain_of(metric: Metric, chosen: choice.Choice) -> Callable[[Task, Read], float]:
    if chosen.name == "kss":
        return _plain_kss
    name = chosen.settings["encoder"]
    loop = plain_loops.loop_of(name, chosen.settings.get("encoders", {}).get(name, {}))
    return functools.partial(_plain_pair, metric, loop)


def _plain_pair(metric: Any, loop: plain_loops.Loop, task: Task, read: Read) -> float:
    """Both videos read whole, the same frames embedded, their cosines averaged as the metric does."""
    described = []
    for mp4 in (task.clip.mp4, task.render.mp4):
        frames = read(mp4)
        samples = metric.watch_reference(task.clip, task.shots).samples
        if isinstance(samples[0], int):
            described.append({"embedding": loop([frames[frame] for frame in samples], True)[0]})
        else:
            flat = [frames[frame] for shot in samples for frame in shot]
            shot_of = np.repeat(np.arange(len(samples)), [len(shot) for shot in samples])
            described.append({"embeddings": loop(flat, False), "shot_of": shot_of})
    return metric.compare(*described, task)[0].value


def _plain_kss(task: Task, read: Read) -> float:
    """scikit-image's example with Wang's settings."""
    from skimage.metrics import structural_similarity

    from codecap.clock import midpoint

    first, second = (read(mp4) for mp4 in (task.clip.mp4, task.render.mp4))
    like = {"channel_axis": -1, "data_range": 255, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    middles = [midpoint(start, stop) for start, stop in task.shots]
    return statistics.fmean(structural_similarity(first[frame], second[frame], **like) for frame in middles)


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def _gpu_mb() -> float:
    torch = sys.modules.get("torch")
    return torch.cuda.max_memory_allocated() / 2**20 if torch is not None and torch.cuda.is_available() else 0.0


if __name__ == "__main__":
    from codecap import job

    with job.running():
        print(json.dumps(asdict(_run(json.loads(sys.argv[1])))))
