"""The lane runner: one decoding a video, each metric's items apart, nothing loaded on a full hit. On small clips made here."""

import threading
import types
from dataclasses import replace

import numpy as np
import pytest

from codecap import registry, store, video
from codecap.records import Clip, ObjectTracks, Outcome, Render
from codecap.score import Measurement, Task, Unreached, Unscored
from codecap.score.engine import lane as lanes
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane
from codecap.score.engine.single import clip_of
from codecap.score.engine.watching import watch
from codecap.video import CanonicalWriter


def written(path, levels, size=(64, 48)):
    with CanonicalWriter(path, *size) as writer:
        for level in levels:
            writer.add(np.full((size[1], size[0], 3), level, np.uint8))
    return clip_of(path, path.stem)


class Levels:
    """Keeps the mean grey of the frames it wants."""

    def __init__(self, wanted=None):
        self.wanted, self.seen = wanted, {}

    def see(self, frame, rgb):
        assert rgb.shape == (48, 64, 3) and rgb.dtype == np.uint8
        self.seen[frame] = round(float(rgb.mean()))

    def result(self):
        return {"frames": np.array(list(self.seen)), "levels": np.array(list(self.seen.values()))}


class GreyDifference:
    protocol, proxy = "mean grey", False

    def __init__(self, fails=None):
        self.fails = fails

    def watch_reference(self, clip, shots):
        return Levels()

    def watch_candidate(self, clip, shots, reference):
        return Levels()

    def compare(self, reference, candidate, task):
        if self.fails:
            raise self.fails
        return [Measurement(float(np.abs(reference["levels"] - candidate["levels"]).mean()))]


@pytest.fixture
def plugins(monkeypatch):
    """Two metrics that exist only here; counts how often each is loaded, and how often a video is decoded."""
    counts = {"loaded": [], "decoded": []}
    failing = {}

    def make(family, name, settings):
        counts["loaded"].append(name)
        return GreyDifference(failing.get(name))

    module = types.SimpleNamespace(NEEDS=(), HIGHER_IS_BETTER=True)
    monkeypatch.setattr(registry, "make", make)
    monkeypatch.setattr(registry, "load", lambda family, name: module)
    decode = video.decode
    monkeypatch.setattr(video, "decode", lambda mp4, **told: counts["decoded"].append(mp4.stem) or decode(mp4, **told))
    monkeypatch.setattr(lanes.shot_detection, "detect_shots", lambda mp4, settings: [(0, 3)])
    counts["failing"] = failing
    return counts


def lane(root, *names, code="c"):
    return Lane([Choice(name, {}, code) for name in names], Choice("shots", {}, "c"), root, root)


def task(clip, candidate):
    render = Render(system="s", clip_id=clip.clip_id, key=candidate.sha256, outcome=Outcome.OK, mp4=candidate.mp4)
    return Task(clip, render, [(0, clip.frames)])


def test_each_video_is_decoded_once_for_all_metrics_and_never_again(tmp_path, plugins):
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    rows = lane(tmp_path / "store", "one", "two").score(task(clip, other))
    assert [row.metric for row in rows] == ["one", "two"]
    assert [row.value for row in rows] == pytest.approx([10, 10], abs=0.5)  # coded colours are right within a level
    assert sorted(plugins["decoded"]) == ["a", "b"]
    assert plugins["loaded"] == ["one", "two"]
    again = lane(tmp_path / "store", "one", "two").score(task(clip, other))
    assert again == rows
    assert len(plugins["decoded"]) == 2 and len(plugins["loaded"]) == 2


def test_a_changed_metric_re_runs_alone(tmp_path, plugins):
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    root = tmp_path / "store"
    lane(root, "one", "two").score(task(clip, other))
    before = list(store.made(root))
    changed = Lane([Choice("one", {}, "c"), Choice("two", {}, "changed")], Choice("shots", {}, "c"), root, root)
    changed.score(task(clip, other))
    assert [entry["stage"] for entry in list(store.made(root))[len(before) :]] == ["describe/two", "score/two"]


def test_what_cannot_be_computed_is_stored_what_could_not_be_reached_is_tried_again(tmp_path, plugins):
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    plugins["failing"].update(one=Unscored("nothing moves"), two=Unreached("judge is down"))
    rows = {row.metric: row for row in lane(tmp_path / "store", "one", "two").score(task(clip, other))}
    assert [(row.value, row.status, row.detail, row.retry) for row in rows.values()] == [
        (None, "unscored", "nothing moves", False),
        (None, "unscored", "judge is down", True),
    ]
    plugins["failing"].clear()
    plugins["loaded"].clear()
    rows = {row.metric: row for row in lane(tmp_path / "store", "one", "two").score(task(clip, other))}
    assert rows["one"].value is None and rows["two"].value == pytest.approx(10, abs=0.5)
    assert plugins["loaded"] == ["two"]


def test_a_failed_page_is_zero_and_a_failure_of_ours_is_no_value(tmp_path, plugins):
    made = lane(tmp_path / "store", "one")
    for outcome, value in (("runtime_error", 0.0), ("generation_timeout", 0.0), ("infra_error", None)):
        render = Render(system="s", clip_id="A_001", key="none", outcome=outcome, detail="why")
        (row,) = made.failed(render, "A_001")
        assert (row.value, row.status, row.detail) == (value, outcome, "why")


def test_a_candidate_that_cannot_be_read_is_unscored_with_the_file_named(tmp_path, plugins):
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    other.mp4.write_bytes(other.mp4.read_bytes()[:300])
    (row,) = lane(tmp_path / "store", "one").score(task(clip, other))
    assert row.value is None and "b.mp4" in row.detail


def test_a_short_video_is_black_after_its_end_and_a_long_one_is_cut(tmp_path):
    clip = written(tmp_path / "a.mp4", [200] * 4)
    short, long = written(tmp_path / "b.mp4", [100] * 2), written(tmp_path / "c.mp4", [100] * 6)
    for candidate, seen in ((short, {0: 100, 1: 100, 2: 0, 3: 0}), (long, {0: 100, 1: 100, 2: 100, 3: 100})):
        watcher = Levels()
        watch(candidate.mp4, clip, [watcher])
        assert watcher.seen == pytest.approx(seen, abs=1)


def test_a_video_of_another_size_is_resized_and_only_wanted_frames_are_shown(tmp_path):
    clip = written(tmp_path / "a.mp4", [200] * 4)
    larger = written(tmp_path / "b.mp4", [50, 100, 150, 200], size=(128, 96))
    watcher = Levels(wanted={1, 3})
    watch(larger.mp4, clip, [watcher])
    assert watcher.seen == pytest.approx({1: 100, 3: 200}, abs=1)


def test_clip_of_tells_size_and_length(tmp_path):
    clip = written(tmp_path / "a.mp4", [1, 2, 3])
    assert isinstance(clip, Clip)
    assert (clip.frames, clip.width_px, clip.height_px) == (3, 64, 48)


def test_another_file_in_a_clips_place_is_refused_and_leaves_nothing_in_the_store(tmp_path, plugins):
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    good = clip.mp4.read_bytes()
    clip.mp4.write_bytes(other.mp4.read_bytes())
    (row,) = lanes.describe_shard([clip], lane(tmp_path / "store", "one"))
    assert "sha256 differs" in row.status
    assert list(store.made(tmp_path / "store")) == []
    clip.mp4.write_bytes(good)
    (row,) = lanes.describe_shard([clip], lane(tmp_path / "store", "one"))
    assert row.status == "ok"


def shard(root, plugins, clips, renders, *names):
    """Score a shard of which nothing but clips and renders is known."""
    plugins["loaded"].clear()
    plugins["decoded"].clear()
    return list(lanes.score_shard(renders, clips, {}, {}, {}, {}, lane(root, *names)))


def render_of(clip, number, candidate=None, outcome=Outcome.OK):
    key = candidate.sha256 if candidate is not None else "none"
    return Render(system=f"s{number}", clip_id=clip.clip_id, key=key, outcome=outcome, mp4=candidate and candidate.mp4)


def test_a_shard_loads_each_metric_once_and_nothing_when_all_is_there(tmp_path, plugins):
    clips = {f"c{n}": written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(3)}
    candidates = {name: written(tmp_path / f"to_{name}.mp4", [10, 70, 130]) for name in clips}
    renders = [render_of(clip, number, candidates[name]) for number in range(2) for name, clip in clips.items()]
    rows = shard(tmp_path / "store", plugins, clips, renders, "one", "two")
    assert plugins["loaded"] == ["one", "two"]
    assert sorted(plugins["decoded"]) == sorted([*clips, *[f"to_{name}" for name in clips] * 2])
    assert [(row.system, row.clip_id, row.metric) for row in rows] == [
        (render.system, render.clip_id, name) for render in renders for name in ("one", "two")
    ]
    assert shard(tmp_path / "store", plugins, clips, renders, "one", "two") == rows
    assert plugins["loaded"] == [] and plugins["decoded"] == []
    more = [*renders, render_of(clips["c1"], 7, candidates["c2"])]
    assert shard(tmp_path / "store", plugins, clips, more, "one", "two")[:-2] == rows
    assert plugins["loaded"] == ["one", "two"] and plugins["decoded"] == ["to_c2"]


def test_references_load_each_metric_once_and_nothing_when_all_is_there(tmp_path, plugins):
    clips = [written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(4)]
    first = list(lanes.describe_shard(clips, lane(tmp_path / "store", "one", "two")))
    assert [row.clip_id for row in first] == [clip.clip_id for clip in clips]
    assert plugins["loaded"] == ["one", "two"] and sorted(plugins["decoded"]) == ["c0", "c1", "c2", "c3"]
    again = list(lanes.describe_shard(clips, lane(tmp_path / "store", "one", "two")))
    assert again == first and len(plugins["loaded"]) == 2 and len(plugins["decoded"]) == 4


def test_failures_keep_their_places_among_the_rows(tmp_path, plugins):
    clips = {f"c{n}": written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(4)}
    good = written(tmp_path / "good.mp4", [10, 70, 130])
    broken = written(tmp_path / "broken.mp4", [10, 70, 131])
    broken.mp4.write_bytes(broken.mp4.read_bytes()[:300])
    renders = [
        render_of(clips["c0"], 0, outcome=Outcome.REFUSED),
        render_of(clips["c1"], 0, good),
        render_of(clips["c2"], 0, broken),
        render_of(clips["c3"], 0, good),
    ]
    rows = shard(tmp_path / "store", plugins, clips, renders, "one")
    assert [row.status for row in rows] == ["refused", "ok", "unscored", "ok"]
    assert rows[2].retry and "broken.mp4" in rows[2].detail


def test_the_next_candidate_is_decoded_while_the_present_one_is_measured(tmp_path, plugins, monkeypatch):
    """Measuring waits until the next video was opened: one after the other it would wait in vain. And never more than one ahead."""
    clips = {f"c{n}": written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(4)}
    candidates = [written(tmp_path / f"{n}.mp4", [10, 70, 130 + n]) for n in range(4)]
    list(lanes.describe_shard(list(clips.values()), lane(tmp_path / "store", "one")))
    opened = [threading.Event() for _ in candidates]
    decode = video.decode
    monkeypatch.setattr(video, "decode", lambda mp4, **told: opened[int(mp4.stem)].set() or decode(mp4, **told))
    measured = []

    def compare(self, reference, candidate, task):
        number = int(task.render.mp4.stem)
        if number < 3:
            assert opened[number + 1].wait(10)
        assert not any(event.is_set() for event in opened[number + 2 :])
        measured.append(number)
        return [Measurement(float(number))]

    monkeypatch.setattr(GreyDifference, "compare", compare)
    renders = [render_of(clip, 0, candidate) for clip, candidate in zip(clips.values(), candidates, strict=True)]
    rows = shard(tmp_path / "store", plugins, clips, renders, "one")
    assert measured == [row.value for row in rows] == [0, 1, 2, 3]


def test_a_programming_error_stops_the_shard_at_its_place_and_loses_nothing_before_it(tmp_path, plugins, monkeypatch):
    clips = {f"c{n}": written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(3)}
    good = written(tmp_path / "good.mp4", [10, 70, 130])

    def watch_candidate(self, clip, shots, reference):
        if clip.clip_id == "c1":
            raise ZeroDivisionError
        return Levels()

    monkeypatch.setattr(GreyDifference, "watch_candidate", watch_candidate)
    renders = [render_of(clip, 0, good) for clip in clips.values()]
    rows = lanes.score_shard(renders, clips, {}, {}, {}, {}, lane(tmp_path / "store", "one"))
    assert next(rows).clip_id == "c0"
    with pytest.raises(ZeroDivisionError):
        next(rows)
    assert [entry["clip_id"] for entry in store.made(tmp_path / "store") if entry["stage"] == "score/one"] == ["c0"]


@pytest.mark.parametrize("step", ["watch_reference", "reference", "watch_candidate", "see", "result", "compare"])
def test_out_of_memory_costs_one_metric_of_one_clip_and_is_tried_again(tmp_path, plugins, monkeypatch, step):
    """A shard of two clips and two metrics, of which one runs out of memory on one clip."""
    clips = {f"c{n}": written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(2)}
    renders = [render_of(clip, 0, written(tmp_path / f"to_{name}.mp4", [10, 70, 130])) for name, clip in clips.items()]
    hungry = Hungry(step)
    monkeypatch.setattr(registry, "make", lambda family, name, settings: hungry if name == "two" else GreyDifference())
    rows = shard(tmp_path / "store", plugins, clips, renders, "one", "two")
    assert [(row.clip_id, row.metric, row.status, row.retry) for row in rows] == [
        ("c0", "one", "ok", False),
        ("c0", "two", "unscored", True),
        ("c1", "one", "ok", False),
        ("c1", "two", "ok", False),
    ]
    assert rows[1].value is None and rows[1].detail == "out of memory"
    hungry.step = None
    again = shard(tmp_path / "store", plugins, clips, renders, "one", "two")
    assert [row.status for row in again] == ["ok"] * 4 and [again[0], *again[2:]] == [rows[0], *rows[2:]]


class Hungry(GreyDifference):
    """Needs more memory than there is for clip c0, at one step."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def _eat(self, step, clip):
        if self.step == step and clip.clip_id == "c0":
            raise MemoryError

    def watch_reference(self, clip, shots):
        self._eat("watch_reference", clip)
        watcher = Levels()
        watcher.result = lambda result=watcher.result: self._eat("reference", clip) or result()
        return watcher

    def watch_candidate(self, clip, shots, reference):
        self._eat("watch_candidate", clip)
        watcher = Levels()
        watcher.see = lambda *shown, see=watcher.see: self._eat("see", clip) or see(*shown)
        watcher.result = lambda result=watcher.result: self._eat("result", clip) or result()
        return watcher

    def compare(self, reference, candidate, task):
        self._eat("compare", task.clip)
        return super().compare(reference, candidate, task)


def test_references_run_out_of_memory_for_one_metric_alone(tmp_path, plugins, monkeypatch):
    clips = [written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(2)]
    monkeypatch.setattr(registry, "make", lambda family, name, told: Hungry("reference") if name == "two" else GreyDifference())
    rows = list(lanes.describe_shard(clips, lane(tmp_path / "store", "one", "two")))
    assert [(row.status, sorted(row.descriptions)) for row in rows] == [("ok", ["one"]), ("ok", ["one", "two"])]


def test_a_candidate_that_only_comparing_reads_and_cannot_is_tried_again(tmp_path, plugins):
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    plugins["failing"].update(one=video.VideoError("b.mp4: cannot be read"))
    (row,) = lane(tmp_path / "store", "one").score(task(clip, other))
    assert (row.status, row.detail, row.retry) == ("unscored", "b.mp4: cannot be read", True)


def test_descriptions_of_another_device_are_not_compared_with(tmp_path, plugins, monkeypatch):
    """The devices' greys are 100 apart here: a reference of one and a candidate of the other would differ by 90."""
    clip = written(tmp_path / "a.mp4", [0, 60, 120])
    candidates = [written(tmp_path / f"{n}.mp4", [10, 70, 130 + 30 * n]) for n in range(4)]
    device = ["cpu"]

    class OnADevice(GreyDifference):
        def __init__(self):
            super().__init__()
            self.protocol, self.more = f"grey on {device[0]}", 100 if device[0] == "cuda" else 0

        def watch_reference(self, clip, shots):
            watcher = Levels()
            watcher.result = lambda: {"levels": self.more + np.array(list(watcher.seen.values()))}
            return watcher

        def watch_candidate(self, clip, shots, reference):
            return self.watch_reference(clip, shots)

    loads = []
    monkeypatch.setattr(registry, "make", lambda *asked: loads.append(device[0]) or OnADevice())
    for number, (used, made) in enumerate([("cpu", 1), ("cuda", 1), ("cpu", 0), ("cuda", 0)]):
        device[0] = used
        before = len([entry for entry in store.made(tmp_path / "store") if entry["stage"] == "describe/one"])
        (row,) = lane(tmp_path / "store", "one").score(task(clip, candidates[number]))
        assert row.value == pytest.approx(10 + 10 * number, abs=0.7) and row.protocol == f"grey on {used}"
        after = len([entry for entry in store.made(tmp_path / "store") if entry["stage"] == "describe/one"])
        assert after - before == made
    device[0] = "tpu"
    lane(tmp_path / "store", "one").score(task(clip, candidates[0]))
    list(lanes.describe_shard([clip], lane(tmp_path / "store", "one")))
    assert loads == ["cpu", "cuda", "cpu", "cuda"]  # what is all there loads nothing


def test_clips_are_given_as_soon_as_they_are_scored(tmp_path, plugins, monkeypatch):
    clips = {f"c{n}": written(tmp_path / f"c{n}.mp4", [n, 60, 120]) for n in range(3)}
    renders = [render_of(clip, 0, written(tmp_path / f"to_{name}.mp4", [10, 70, 130])) for name, clip in clips.items()]
    compared = []
    compare = GreyDifference.compare
    monkeypatch.setattr(GreyDifference, "compare", lambda *told: compared.append(told[3].clip.clip_id) or compare(*told))
    made = lane(tmp_path / "store", "one", "two")
    for number, rows in enumerate(lanes.score_clips(renders, clips, {}, {}, {}, {}, made), start=1):
        assert [(row.clip_id, row.metric) for row in rows] == [(f"c{number - 1}", "one"), (f"c{number - 1}", "two")]
        assert len(compared) == 2 * number


def test_another_reason_for_no_tracks_makes_another_row(tmp_path, plugins, monkeypatch):
    module = types.SimpleNamespace(NEEDS=("tracks",), HIGHER_IS_BETTER=True)
    monkeypatch.setattr(registry, "load", lambda family, name: module)

    def compare(self, reference, candidate, task):
        raise (Unreached if task.tracks.retry else Unscored)(task.tracks.status)

    monkeypatch.setattr(GreyDifference, "compare", compare)
    clip, other = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130])
    for status, retry in (("no annotated object", False), ("b.mp4: cannot be read", True), ("no annotated object", False)):
        tracks = ObjectTracks(system="s", clip_id=clip.clip_id, key="none", status=status, retry=retry)
        (row,) = lane(tmp_path / "store", "one").score(replace(task(clip, other), tracks=tracks))
        assert (row.detail, row.retry) == (status, retry)
    assert [entry["stage"] for entry in store.made(tmp_path / "store")].count("score/one") == 1


def test_matching_shots_out_of_memory_costs_the_metrics_that_go_by_shots(tmp_path, plugins, monkeypatch):
    def segments(task):
        raise MemoryError

    clocks = {"one": "reference", "two": "shots"}
    modules = {name: types.SimpleNamespace(NEEDS=(), HIGHER_IS_BETTER=True, CLOCK=clock) for name, clock in clocks.items()}
    monkeypatch.setattr(registry, "load", lambda family, name: modules[name])
    clip, longer = written(tmp_path / "a.mp4", [0, 60, 120]), written(tmp_path / "b.mp4", [10, 70, 130, 200])
    made = lane(tmp_path / "store", "one", "two")
    monkeypatch.setattr(made, "_matcher", types.SimpleNamespace(segments=segments, key=lambda task: "k"))
    one, two = made.score(replace(task(clip, longer), shots=[(0, 1), (1, 3)]))
    assert (one.status, one.value) == ("ok", pytest.approx(10, abs=0.5))
    assert (two.status, two.detail, two.retry) == ("unscored", "out of memory", True)
