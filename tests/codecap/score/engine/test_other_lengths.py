"""Videos of another length than their reference: what each metric sees of them, and what the matching of shots makes of them."""

import statistics
from pathlib import Path

import numpy as np
import pytest

from codecap import config, registry, store, video
from codecap.clips_table import read_clips
from codecap.config import PROJECT
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Caption,
    Clip,
    ObjectTrack,
    ObjectTracks,
    Outcome,
    Render,
    Score,
    read_record,
)
from codecap.render.renders import render_shard
from codecap.score import Task
from codecap.score.engine import choice
from codecap.score.engine.lane import Lane, score_shard
from codecap.score.engine.single import clip_of
from codecap.video import CanonicalWriter, read_frames

SIZE = (96, 64)
SCENES = [(220, 40, 40), (40, 200, 60), (50, 60, 220)]


def film(path: Path, lengths: list[int], size: tuple[int, int] = SIZE) -> Clip:
    """Scenes of these lengths in frames, each of its own colour, with a bright square that crosses it once from left to right."""
    with CanonicalWriter(path, *size) as writer:
        for (red, green, blue), length in zip(SCENES, lengths, strict=False):
            for number in range(length):
                rgb = np.full((size[1], size[0], 3), (red, green, blue), np.uint8)
                side = size[1] // 4
                left = round((number + 0.5) / length * (size[0] - side))
                rgb[side : 2 * side, left : left + side] = 255
                writer.add(rgb)
    return clip_of(path, path.stem)


class Colours:
    """An encoder whose vectors are a picture's mean colour, so that only the scenes count."""

    protocol, proxy = "mean colour", True
    embedded = 0

    def prepare(self, rgb):
        return rgb.reshape(-1, 3).mean(axis=0)

    def embed_frames(self, prepared):
        type(self).embedded += len(prepared)
        vectors = np.array(prepared) - 100
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def embed_video(self, prepared):
        return self.embed_frames([np.mean(prepared, axis=0)])[0]


@pytest.fixture
def colours(monkeypatch):
    """The demo's metrics with that encoder."""
    make = registry.make

    def made(family, name, settings):
        return Colours() if family == "score.encoders" else make(family, name, settings)

    monkeypatch.setattr(registry, "make", made)
    Colours.embedded = 0
    return config.load(PROJECT / "config" / "demo.yaml")


def lane(settings, root, *names, matching=True) -> Lane:
    choices = [choice.metric(settings, name) for name in names]
    return Lane(choices, choice.shots(settings), root, root, choice.matching(settings, names) if matching else None)


def task(reference: Clip, shots, candidate: Clip) -> Task:
    render = Render(system="s", clip_id=reference.clip_id, key=candidate.sha256, outcome=Outcome.OK, mp4=candidate.mp4)
    return Task(reference, render, shots)


def test_shots_are_matched_to_scenes_of_other_lengths(colours, tmp_path):
    """Reference 24, 24, 24 frames; candidate 36, 12, 48: no boundary is at its proportional place (32, 64)."""
    reference, candidate = film(tmp_path / "a.mp4", [24, 24, 24]), film(tmp_path / "b.mp4", [36, 12, 48])
    made = lane(colours, tmp_path / "store", "appearance", "kss", "mps")
    job = task(reference, [(0, 24), (24, 48), (48, 72)], candidate)
    assert made.look(job).task.segments == [(0, 36), (36, 48), (48, 96)]
    rows = {row.metric: row for row in made.score(job)}
    assert rows["appearance"].value == pytest.approx(1.0, abs=1e-4)
    assert rows["kss"].value > 0.95  # both midpoints show the square at mid-way
    assert rows["mps"].value > 0.9  # and it crosses the picture in the same steps, but for whole pixels
    assert all("shots matched at cosine 1.000 by mean colour" in row.detail for row in rows.values())


def test_a_second_scoring_decodes_nothing_and_embeds_nothing(colours, tmp_path, monkeypatch):
    reference, candidate = film(tmp_path / "a.mp4", [24, 24]), film(tmp_path / "b.mp4", [12, 48])
    job = task(reference, [(0, 24), (24, 48)], candidate)
    first = lane(colours, tmp_path / "store", "appearance", "kss").score(job)
    assert sum(entry["stage"] == "match_shots" for entry in store.made(tmp_path / "store")) == 1
    assert Colours.embedded > 0
    Colours.embedded = 0
    monkeypatch.setattr(video, "decode", None)
    assert lane(colours, tmp_path / "store", "appearance", "kss").score(job) == first
    assert Colours.embedded == 0


def test_a_video_of_the_same_length_costs_no_matching(colours, tmp_path):
    reference, candidate = film(tmp_path / "a.mp4", [24, 24]), film(tmp_path / "b.mp4", [12, 36])
    rows = lane(colours, tmp_path / "store", "kss").score(task(reference, [(0, 24), (24, 48)], candidate))
    assert Colours.embedded == 0
    assert rows[0].detail == ""
    assert {entry["stage"] for entry in store.made(tmp_path / "store")} == {"describe/kss", "score/kss"}


def test_one_shot_needs_no_encoder(colours, tmp_path):
    reference, candidate = film(tmp_path / "a.mp4", [24]), film(tmp_path / "b.mp4", [30])
    (row,) = lane(colours, tmp_path / "store", "kss", matching=False).score(task(reference, [(0, 24)], candidate))
    assert row.value > 0.95
    assert row.detail == "shots matched by their order"


def test_without_as_there_is_nothing_to_match_by(colours, tmp_path):
    reference, candidate = film(tmp_path / "a.mp4", [24, 24]), film(tmp_path / "b.mp4", [24, 36])
    (row,) = lane(colours, tmp_path / "store", "kss", matching=False).score(task(reference, [(0, 24), (24, 48)], candidate))
    assert (row.value, row.status) == (None, "unscored")
    assert "configure the metric appearance" in row.detail


@pytest.mark.parametrize("lengths", [[1], [1, 1]])
def test_more_shots_than_frames(colours, tmp_path, lengths):
    """Three shots of a reference against one and two frames: every metric still has a value or a reason, and none crashes."""
    reference, candidate = film(tmp_path / "a.mp4", [24, 24, 24]), film(tmp_path / "b.mp4", lengths)
    names = ("visual_similarity", "appearance", "kss", "mps")
    rows = lane(colours, tmp_path / "store", *names).score(task(reference, [(0, 24), (24, 48), (48, 72)], candidate))
    told = {row.metric: row.value for row in rows}
    assert told["mps"] is None and told["mps_strict"] == 0.0  # a single frame stands still where the reference moves
    assert told["appearance"] < 0.9 and told["kss"] < 0.9
    assert told["visual_similarity"] is not None


def test_visual_similarity_samples_each_video_over_its_own_time(colours, tmp_path):
    """Half of each video is red and half green, whatever it lasts; on the reference's clock the longer one were red alone."""
    reference, candidate = film(tmp_path / "a.mp4", [24, 24]), film(tmp_path / "b.mp4", [48, 48])
    (row,) = lane(colours, tmp_path / "store", "visual_similarity").score(task(reference, [(0, 48)], candidate))
    assert row.value == pytest.approx(1.0, abs=1e-3)


def test_a_candidate_of_another_size_and_length(colours, tmp_path):
    reference = film(tmp_path / "a.mp4", [24, 24])
    candidate = film(tmp_path / "b.mp4", [30, 30], size=(192, 128))
    rows = lane(colours, tmp_path / "store", "appearance", "kss").score(task(reference, [(0, 24), (24, 48)], candidate))
    assert rows[0].value == pytest.approx(1.0, abs=1e-3)
    assert rows[1].value > 0.9


def test_an_object_is_missing_from_where_a_short_video_ends(tmp_path):
    """The annotated box fills the picture for 24 frames; it is found in the 12 that the candidate has: IoU 50."""
    settings = config.load(PROJECT / "config" / "demo.yaml")
    reference, candidate = film(tmp_path / "a.mp4", [24]), film(tmp_path / "b.mp4", [12])
    box = (10.0, 10.0, 40.0, 40.0)
    annotation = Annotation(clip_id=reference.clip_id, objects=[AnnotatedObject(name="thing", boxes_xyxy=[box] * 24)])
    tracks = ObjectTracks(
        system="s",
        clip_id=reference.clip_id,
        key="t",
        status="ok",
        tracks=[ObjectTrack(name="thing", status="found", boxes_xyxy=[box] * 12)],
    )
    job = Task(**{**vars(task(reference, [(0, 24)], candidate)), "annotation": annotation, "tracks": tracks})
    (row,) = lane(settings, tmp_path / "store", "object_iou").score(job)
    assert row.value == pytest.approx(50.0)


def stretched(clip: Clip, path: Path, frames: int) -> Clip:
    """A clip's frames shown over `frames` frames: each for its share of the time."""
    held = [rgb for _, rgb in read_frames(clip.mp4)]
    with CanonicalWriter(path, clip.width_px, clip.height_px) as writer:
        for number in range(frames):
            writer.add(held[int((number + 0.5) * len(held) / frames)])
    return clip_of(path, path.stem)


def cut(clip: Clip, path: Path, frames: int) -> Clip:
    with CanonicalWriter(path, clip.width_px, clip.height_px) as writer:
        for _, rgb in read_frames(clip.mp4, 0, frames):
            writer.add(rgb)
    return clip_of(path, path.stem)


@pytest.fixture(scope="module")
def from_demo(tmp_path_factory) -> dict[str, dict[str, list[Score]]]:
    """A demo clip's rows by metric: of itself, stretched to 1.25 times its length, and cut to half; as a workflow makes them, from
    video captions to scores, but with true boxes."""
    folder = tmp_path_factory.mktemp("demo")
    settings = config.load(PROJECT / "config" / "demo.yaml")
    (clip,) = (clip for clip in read_clips(PROJECT / "resources" / "demo" / "clips.tsv") if clip.clip_id == "B_001")
    annotation = read_record(PROJECT / "resources" / "demo" / "annotations" / "B_001.json", Annotation)
    videos = {
        "same": clip,
        "long": stretched(clip, folder / "long.mp4", round(1.25 * clip.frames)),
        "half": cut(clip, folder / "half.mp4", clip.frames // 2),
    }
    names = ("visual_similarity", "object_iou", "retention", "appearance", "mps", "kss", "lag", "unique_frames")
    made = lane(settings, folder / "store", *names)
    found = {}
    for system, candidate in videos.items():
        caption = Caption(
            system=system, clip_id=clip.clip_id, key=candidate.sha256, outcome=Outcome.OK, kind="video", mp4=candidate.mp4
        )
        clips = {clip.clip_id: clip}
        renders = list(render_shard([caption], clips, settings=settings["render"], code="c", bulk=folder / "store"))
        seen = {item.name: item.boxes_xyxy[: candidate.frames] for item in annotation.objects}
        boxes = [ObjectTrack(name=name, status="found", boxes_xyxy=of_object) for name, of_object in seen.items()]
        tracks = ObjectTracks(system=system, clip_id=clip.clip_id, key=system, status="ok", tracks=boxes)
        rows: dict[str, list[Score]] = {}
        for row in score_shard(renders, clips, {}, {clip.clip_id: annotation}, {clip.clip_id: tracks}, {}, made):
            rows.setdefault(row.metric, []).append(row)
        found[system] = rows
    return found


def mean(rows: list[Score]) -> float:
    return statistics.fmean(row.value for row in rows if row.value is not None)


@pytest.mark.slow
def test_a_stretched_clip_looks_and_moves_the_same_shot_by_shot_but_not_on_time(from_demo):
    rows = from_demo["long"]
    assert all(row.status == "ok" for name in ("visual_similarity", "appearance", "mps", "kss") for row in rows[name])
    assert mean(rows["visual_similarity"]) > 0.99
    assert mean(rows["appearance"]) > 0.98
    assert mean(rows["mps"]) > 0.97 and mean(rows["mps_strict"]) > 0.97
    assert mean(rows["kss"]) > 0.97
    assert mean(rows["retention"]) < 70 < mean(from_demo["same"]["retention"])  # what happens, happens too late


@pytest.mark.slow
def test_a_clip_cut_to_half_is_missing_from_there_on(from_demo):
    rows, annotation = from_demo["half"], read_record(PROJECT / "resources" / "demo" / "annotations" / "B_001.json", Annotation)
    for item in annotation.objects:
        visible = [frame for frame, box in enumerate(item.boxes_xyxy) if box is not None]
        (row,) = (row for row in rows["object_iou"] if row.item == item.name)
        assert row.value == pytest.approx(100 * sum(frame < 78 for frame in visible) / len(visible))
    late = {point.focal_id for point in annotation.focal_points if point.start_s >= 78 / 24}
    assert late
    assert all(row.value <= 20 for row in rows["retention"] if row.item in late)
    for name in ("appearance", "mps_strict", "kss"):
        assert mean(rows[name]) < mean(from_demo["long"][name]) - 0.05


@pytest.mark.slow
def test_the_same_clip_as_a_video_caption_is_at_its_best(from_demo):
    rows = from_demo["same"]
    for name in ("visual_similarity", "appearance", "mps", "mps_strict", "kss"):
        assert mean(rows[name]) == pytest.approx(1.0, abs=1e-6)
        assert all(row.detail == "" for row in rows[name])
    assert mean(rows["object_iou"]) == pytest.approx(100.0)
    assert 0 < mean(rows["unique_frames"]) <= 1  # counted when the video was passed through
