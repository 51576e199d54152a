"""A render that is damaged while objects are followed, and whole again: nothing of it stays unscored."""

import pytest

from codecap.clips_table import read_clips, write_clips
from codecap.config import PROJECT
from codecap.records import ObjectTracks, Render, Score, read_rows

pytestmark = pytest.mark.slow


def test_a_render_that_could_not_be_read_is_followed_and_scored_when_it_can(workflow, tmp_path):
    demo = PROJECT / "resources" / "demo"
    (clip,) = (clip for clip in read_clips(demo / "clips.tsv") if clip.clip_id == "F_001")
    write_clips(tmp_path / "clips.tsv", [clip])
    objects = {"lane": "cpu", "prompter": "match", "segmenter": "color"}
    others = dict.fromkeys(["visual_similarity", "retention", "appearance", "mps", "kss", "key_frames", "frame_similarity", "lag"])
    workflow.configure(clips=str(tmp_path / "clips.tsv"), buckets=1, systems=["still"], metrics={**others, "object_iou": objects})
    results = workflow.folder / "results"
    prompts, tracks = (results / "6_score" / what / "still" / "00.jsonl" for what in ("prompts", "tracks"))
    scores = results / "6_score" / "cpu" / "still" / "00.jsonl"
    workflow.finish(str(prompts.relative_to(workflow.folder)))
    (render,) = read_rows(results / "5_render" / "still" / "00.jsonl", Render)
    mp4 = workflow.folder / render.mp4
    whole = mp4.read_bytes()
    mp4.write_bytes(b"no video")
    told = workflow.finish(str(scores.relative_to(workflow.folder)))
    assert "tracks of still: tried again at the next run" in told
    (row,) = read_rows(tracks, ObjectTracks)
    assert row.retry and row.key == "none" and mp4.name in row.status
    assert all(row.retry and row.value is None for row in read_rows(scores, Score) if row.metric == "object_iou")

    mp4.write_bytes(whole)
    workflow.finish(str(scores.relative_to(workflow.folder)))
    (row,) = read_rows(tracks, ObjectTracks)
    assert row.status == "ok" and not row.retry
    found = [row for row in read_rows(scores, Score) if row.metric == "object_iou"]
    assert found and all(row.value is not None and not row.retry for row in found)
    log = (workflow.folder / "logs" / "score_renders" / "cpu" / "still" / "00.log").read_text()
    assert "scores of still: 1 of 1" in log
    assert "Nothing to be done" in workflow.finish(str(scores.relative_to(workflow.folder)))
