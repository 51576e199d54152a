"""Damaged videos by the run's own backends: each with its own tracks, and nothing computed twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codecap import config, store
from codecap.score.engine import choice
from codecap.score.engine.lane import Lane
from codecap.validity import candidates, measuring
from codecap.validity.damages import DAMAGES

METRICS = ("object_iou", "kss", "unique_frames", "code_size")


@pytest.fixture
def measure(clip, annotation, tmp_path, monkeypatch):
    monkeypatch.setattr(candidates, "OPENING_S", 1.0)
    monkeypatch.setattr(candidates, "DAMAGES", {"shift": replace(DAMAGES["shift"], grades=(0.04, 0.16))})
    demo = config.load(config.PROJECT / "config" / "demo.yaml")
    told = {**demo, "metrics": {name: demo["metrics"][name] for name in METRICS}}

    def run():
        opening, of_it = candidates.opening(clip, annotation, tmp_path)
        renders = list(candidates.damaged(opening, of_it, tmp_path))
        prompts = list(measuring.prompted(renders, opening, of_it, choice.backend(told, "prompter"), tmp_path))
        tracks = list(measuring.traced(prompts, renders, opening, choice.backend(told, "segmenter"), tmp_path))
        metrics = measuring.fit(choice.metric(told, name) for name in METRICS)
        lane = Lane(metrics, choice.shots(told), tmp_path, tmp_path)
        scores = [row for rows in measuring.measured(renders, tracks, opening, of_it, lane) for row in rows]
        return tracks, scores, sorted(str(entry) for entry in store.made(tmp_path))

    return run


def test_each_grade_has_its_own_tracks_and_scores(measure):
    tracks, scores, made = measure()
    places = {row.system: row.tracks[0].boxes_xyxy[12][0] for row in tracks}
    assert list(places) == ["unchanged", "shift-0.04", "shift-0.16"]
    assert places["shift-0.16"] - places["unchanged"] == pytest.approx(0.16 * 96, abs=1.5)
    values = {(row.metric, row.system): row.value for row in scores}
    assert {metric for metric, _ in values} == {"object_iou", "kss", "unique_frames"}  # a damaged clip has no page
    assert values["object_iou", "unchanged"] > values["object_iou", "shift-0.04"] > values["object_iou", "shift-0.16"]
    again = measure()
    assert again == (tracks, scores, made)
