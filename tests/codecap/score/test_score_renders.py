"""The script of the rule score_renders: what it says of its progress."""

import logging
import runpy

import numpy as np

from codecap import job, plan, store
from codecap.config import PROJECT
from codecap.records import Annotation, Caption, Outcome, Render, write_rows
from codecap.score.engine.lane import Reference
from codecap.score.engine.single import clip_of
from codecap.shards import Journals
from codecap.video import CanonicalWriter


def test_a_clip_is_counted_when_it_is_scored_not_when_its_render_is_read(tmp_path, monkeypatch):
    clips = []
    for number in range(2):
        with CanonicalWriter(tmp_path / f"F_00{number}.mp4", 64, 48) as writer:
            writer.add(np.full((48, 64, 3), 50 * number, np.uint8))
        clips.append(clip_of(tmp_path / f"F_00{number}.mp4", f"F_00{number}"))
    monkeypatch.setattr(plan, "shard_clips", lambda config, bucket: clips)
    rows = {
        "renders": [Render(system="s", clip_id=clip.clip_id, key="r", outcome=Outcome.OK, mp4=clip.mp4) for clip in clips],
        "captions": [Caption(system="s", clip_id=clip.clip_id, key="c", outcome=Outcome.OK) for clip in clips],
        "references": [Reference(clip_id=clip.clip_id, status="ok", shots=[(0, 1)]) for clip in clips],
        "annotations": [Annotation(clip_id=clip.clip_id) for clip in clips],
    }
    for name, of_name in rows.items():
        write_rows(tmp_path / name, type(of_name[0]), of_name)
    scored = []

    class Watching(logging.Handler):
        def emit(self, record):
            if record.getMessage().startswith("scores of s: 2 of 2"):
                scored.append(sum(entry["stage"] == "score/kss" for entry in store.made(tmp_path / "store")))

    log, handler = logging.getLogger("codecap"), Watching()
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    try:
        runpy.run_path(str(PROJECT / "scripts" / "score_renders.py"))["score_renders"](
            job.Shard(Journals(tmp_path / "shards"), "score_renders/cpu/s/00", 0, 1, "", [tmp_path / "store"]),
            config={"store": dict.fromkeys(["durable", "bulk"], str(tmp_path / "store"))},
            bucket="00",
            system="s",
            params={
                "metrics": [{"name": "kss", "settings": {}, "code": "c"}],
                "shots": {"name": "shots", "settings": {}, "code": "c"},
                "matching": None,
            },
            inputs={name: tmp_path / name for name in rows},
            scores=tmp_path / "scores",
        )
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    assert scored == [2]
