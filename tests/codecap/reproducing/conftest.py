"""A small finished run in a folder of its own: two tiny clips, a system with one failure, a judge who was asked once."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from loopback import Loopback

from codecap import config as configuration
from codecap import plan, spoiled
from codecap.clips_table import write_clips
from codecap.compare.columns import describe
from codecap.compare.tables import tabulate
from codecap.exchange import session
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Caption,
    Clip,
    FocalPoint,
    ObjectTrack,
    ObjectTracks,
    Outcome,
    Render,
    Review,
    write_record,
    write_rows,
)
from codecap.reproducing.folder import ARTEFACTS
from codecap.reproducing.sealing import seal
from codecap.score.engine import choice
from codecap.score.engine.lane import Lane, score_clips
from codecap.status import record
from codecap.store import ItemStore
from codecap.video import CanonicalWriter, file_sha256

WIDTH_PX, HEIGHT_PX, FRAMES = 64, 48, 30
SYSTEM, FAILED_ON = "vtrace", "T_002"
RESULTS = Path("results")


def picture(frame: int, number: int) -> np.ndarray:
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 220 - 40 * number, np.uint8)
    rgb[10:26, frame : frame + 16] = (200, 40, 30)
    return rgb


def clip_of(number: int) -> Clip:
    mp4 = Path("clips") / f"T_00{number}.mp4"
    mp4.parent.mkdir(exist_ok=True)
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(FRAMES):
            writer.add(picture(frame, number))
    told = {"frames": FRAMES, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
    return Clip(clip_id=mp4.stem, category="F", mp4=mp4, sha256=file_sha256(mp4), **told)


def annotation_of(clip: Clip) -> Annotation:
    boxes = [(float(frame), 10.0, frame + 16.0, 26.0) for frame in range(FRAMES)]
    return Annotation(
        clip_id=clip.clip_id,
        objects=[AnnotatedObject(name="tile", description="a red tile", visible_s=[(0, FRAMES / 24)], boxes_xyxy=boxes)],
        focal_points=[
            FocalPoint(focal_id="red", kind="static", description="It is red", start_s=0, end_s=1, objects=["tile"]),
            FocalPoint(focal_id="run", kind="dynamic", description="It runs", start_s=0, end_s=1, objects=["tile"]),
        ],
        reviews=[Review(who="Kim", when="2026-11-30", changed="all")],
    )


def caption_of(clip: Clip) -> Caption:
    items = ItemStore(Path("store/durable"), stage="generate", salt="s")
    if clip.clip_id == FAILED_ON:
        return Caption(system=SYSTEM, clip_id=clip.clip_id, key="none", outcome=Outcome.REFUSED, detail="no")
    page = items.get_or_make(SYSTEM, clip.clip_id, items.key("p"), lambda draft: draft.file("html").write_text("<p>page"))
    return Caption(system=SYSTEM, clip_id=clip.clip_id, key=page.key, outcome=Outcome.OK, html=page.files["html"])


def render_of(clip: Clip, caption: Caption) -> Render:
    if caption.outcome is not Outcome.OK:
        return Render(system=SYSTEM, clip_id=clip.clip_id, key="none", outcome=caption.outcome, detail=caption.detail)
    items, made = ItemStore(Path("store/bulk"), stage="render", salt="s"), {}

    def make(draft):
        made["is"] = spoiled.write(SYSTEM, clip, spoiled.shifted(clip, 0.05), draft.file("mp4")).certificate
        return {}

    item = items.get_or_make(SYSTEM, clip.clip_id, items.key(clip.sha256), make)
    told = {"mp4": item.files["mp4"], "certificate": made["is"], "protocol": "drawn here"}
    return Render(system=SYSTEM, clip_id=clip.clip_id, key=item.key, outcome=Outcome.OK, **told)


def tracks_of(clip: Clip, render: Render) -> ObjectTracks:
    if render.outcome is not Outcome.OK:
        return ObjectTracks(system=SYSTEM, clip_id=clip.clip_id, key="none", status=render.outcome)
    boxes = [(frame + 3.0, 10.0, frame + 19.0, 26.0) for frame in range(FRAMES)]
    track = ObjectTrack(name="tile", status="found", boxes_xyxy=boxes)
    return ObjectTracks(system=SYSTEM, clip_id=clip.clip_id, key="k", status="ok", tracks=[track], protocol="true", proxy=True)


def publish(config: dict) -> None:
    """All rows of a run, its comparison, and what it is checked by, in the working folder."""
    clips = [clip_of(1), clip_of(2)]
    write_clips(Path(config["clips"]), clips)
    [bucket] = plan.in_buckets(clips, config["buckets"])
    annotations = [annotation_of(clip) for clip in clips]
    captions = [caption_of(clip) for clip in clips]
    renders = [render_of(*both) for both in zip(clips, captions, strict=True)]
    tracks = [tracks_of(*both) for both in zip(clips, renders, strict=True)]
    shots = choice.shots(config)
    lane = Lane([choice.metric(config, name) for name in config["metrics"]], shots, Path("store/durable"), Path("store/bulk"))
    with session(Path("store/durable"), config["exchange"]):
        by_clip = [{row.clip_id: row for row in rows} for rows in (clips, annotations, tracks)]
        pages = {caption.clip_id: caption.html for caption in captions}
        scores = [row for rows in score_clips(renders, by_clip[0], {}, by_clip[1], by_clip[2], pages, lane) for row in rows]
    for annotation in annotations:
        write_record(Path("annotations") / f"{annotation.clip_id}.json", annotation)
    for place, rows in {
        "3_annotate/approved": annotations,
        f"4_generate/{SYSTEM}": captions,
        f"5_render/{SYSTEM}": renders,
        f"6_score/tracks/{SYSTEM}": tracks,
        f"6_score/cpu/{SYSTEM}": [row for row in scores if row.metric != "retention"],
        f"6_score/judge/{SYSTEM}": [row for row in scores if row.metric == "retention"],
    }.items():
        write_rows(RESULTS / place / f"{bucket}.jsonl", type(rows[0]), rows)
    tabulate(
        title="small",
        models={SYSTEM: {"harness": "vtrace"}},
        metrics=describe(config["metrics"]),
        clips=clips,
        annotations=annotations,
        captions=captions,
        renders=renders,
        scores=scores,
        out_dir=ARTEFACTS.parent,
        resamples=200,
    )
    shards = [RESULTS / "6_score" / "tracks" / SYSTEM / f"{bucket}.jsonl"]
    write_record(ARTEFACTS, seal(config, clips, annotations, shards))
    record(config)


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """The folder of the run; the judge's server is no more."""
    folder = tmp_path_factory.mktemp("finished")
    with Loopback() as server, contextlib.chdir(folder):
        judge = {"endpoint": {"api": "openai", "model": "judge-1", "base_url": server.base_url(), "key_env": None}}
        demo = configuration.load(configuration.PROJECT / "config" / "demo.yaml")["metrics"]
        metrics = {name: demo[name] for name in ("object_iou", "kss", "unique_frames", "code_size")}
        config = configuration.load(
            overrides={
                "clips": "clips.tsv",
                "annotations_folder": "annotations",
                "clips_folder": None,
                "buckets": 1,
                "systems": [SYSTEM],
                "exchange": {"tries": 1, "longest_wait_s": 1},
            }
        )
        config["metrics"] = {**metrics, "retention": {"lane": "judge", "judge": "mllm", "judges": {"mllm": judge}}}
        publish(config)
        assert server.account.calls == 2
    return folder


@pytest.fixture
def run(finished, tmp_path, monkeypatch) -> Path:
    """A copy of it, which is the working folder."""
    folder = shutil.copytree(finished, tmp_path / "run")
    monkeypatch.chdir(folder)
    return folder
