"""Tracks of a shard: kept in the store with their masks, by one load of the segmenter."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from codecap.fingerprint import code_digest
from codecap.records import Clip, ObjectPrompts, Outcome, Render
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import segment_shard
from codecap.score.masks import kept, rle
from codecap.score.segmenters import color, sam2
from codecap.store import verify
from codecap.video import CanonicalWriter, file_sha256, read_frames

tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "segmenters" / "tiny.py")))


@pytest.fixture
def shard(tmp_path):
    """Prompts, renders and clips of a shard of two clips."""
    mp4 = tiny.write_clip(tmp_path / "cards.mp4")
    clips, renders, asked = {}, {}, []
    for clip_id in ("F_001", "F_002"):
        size = {"width_px": tiny.WIDTH_PX, "height_px": tiny.HEIGHT_PX}
        clips[clip_id] = Clip(clip_id=clip_id, category="F", mp4=mp4, sha256=file_sha256(mp4), frames=tiny.FRAMES, **size)
        renders[clip_id] = Render(system="s", clip_id=clip_id, key="r", outcome=Outcome.OK, mp4=mp4)
        asked.append(ObjectPrompts(system="s", clip_id=clip_id, key=clip_id, status="ok", prompts=tiny.prompts(), protocol="p"))
    return asked, renders, clips


@pytest.fixture
def loads(monkeypatch) -> list[str]:
    """Names of segmenters that were loaded."""
    told = []
    for module in (color, sam2):
        original, name = module.load, module.__name__.rsplit(".", 1)[-1]
        monkeypatch.setattr(module, "load", lambda settings, o=original, n=name: told.append(n) or o(settings))
    return told


def choice(name: str, **settings) -> Choice:
    return Choice(name, settings, code_digest(f"codecap.score.segmenters.{name}"))


def test_masks_are_kept_beside_the_tracks_and_the_segmenter_is_loaded_once(shard, loads, tmp_path):
    tiny.write_sam2(tmp_path / "sam2")
    chosen = choice("sam2", folder=str(tmp_path / "sam2"), device="cpu")
    first = list(segment_shard(*shard, chosen, tmp_path / "store"))
    assert loads == ["sam2"]
    assert (
        [row.status for row in first] == ["ok", "ok"] and not first[0].proxy and first[0].protocol.startswith("p | SAM 2.1 sha256:")
    )
    told = json.loads(kept.read_text(first[0].masks))
    assert sorted(told["objects"]) == ["blue", "red"] and (told["width_px"], told["height_px"]) == (tiny.WIDTH_PX, tiny.HEIGHT_PX)
    for track in first[0].tracks:
        masks = [mask for count, mask in told["objects"].get(track.name, []) for _ in range(count)]
        masks += [None] * (tiny.FRAMES - len(masks))
        for box, mask in zip(track.boxes_xyxy, masks, strict=True):
            assert box == (None if mask is None else rle.box_of(rle.decode(mask, tiny.HEIGHT_PX, tiny.WIDTH_PX)))
    assert list(verify(tmp_path / "store")) == []

    assert list(segment_shard(*shard, chosen, tmp_path / "store")) == first and loads == ["sam2"]  # a full hit loads nothing
    first[1].masks.unlink()  # an item without its file is made again
    assert list(segment_shard(*shard, chosen, tmp_path / "store")) == first and loads == ["sam2", "sam2"]


def test_a_segmenter_without_masks_goes_on_as_before(shard, loads, tmp_path):
    rows = list(segment_shard(*shard, choice("color"), tmp_path / "store"))
    assert [row.status for row in rows] == ["ok", "ok"] and all(row.masks is None and row.proxy for row in rows)
    assert loads == ["color"] and len(rows[0].tracks) == 3


def test_a_render_that_cannot_be_read_is_tried_again_and_then_followed(shard, tmp_path):
    asked, renders, clips = shard
    gone = tmp_path / "gone.mp4"
    renders["F_001"] = renders["F_001"].model_copy(update={"mp4": gone})
    rows = list(segment_shard(asked, renders, clips, choice("color"), tmp_path / "store"))
    assert [(row.status == "ok", row.retry) for row in rows] == [(False, True), (True, False)]
    assert "gone.mp4" in rows[0].status and rows[0].key == "none"
    gone.write_bytes(clips["F_001"].mp4.read_bytes())
    again = list(segment_shard(asked, renders, clips, choice("color"), tmp_path / "store"))
    assert [(row.status, row.retry) for row in again] == [("ok", False)] * 2 and again[1] == rows[1]


def test_prompts_that_could_not_be_had_this_time_leave_tracks_to_be_tried_again(shard, tmp_path):
    asked, renders, clips = shard
    told = {"status": "quota used up", "prompts": [], "key": "none"}
    asked = [asked[0].model_copy(update=told | {"retry": True}), asked[1].model_copy(update=told)]
    rows = list(segment_shard(asked, renders, clips, choice("color"), tmp_path / "store"))
    assert [(row.status, row.retry) for row in rows] == [("quota used up", True), ("quota used up", False)]


@pytest.mark.parametrize("error", [MemoryError("a mask"), torch.OutOfMemoryError("CUDA out of memory")])
def test_out_of_memory_costs_one_clip_and_is_tried_again(shard, tmp_path, monkeypatch, error):
    segment, left = color.ColorSegmenter.segment, [error]
    monkeypatch.setattr(color.ColorSegmenter, "segment", lambda *told: raised(left.pop()) if left else segment(*told))
    rows = list(segment_shard(*shard, choice("color"), tmp_path / "store"))
    assert [(row.status, row.retry) for row in rows] == [(f"out of memory: {error}", True), ("ok", False)]
    assert [row.status for row in segment_shard(*shard, choice("color"), tmp_path / "store")] == ["ok", "ok"]


def raised(error):
    raise error


@pytest.mark.parametrize("name", ["color", "sam2"])
def test_a_prompt_after_the_candidates_end_is_told_and_the_others_go_on(shard, tmp_path, name):
    """The first candidate ends after 5 frames; its prompts are further on."""
    tiny.write_sam2(tmp_path / "sam2")
    chosen = choice("sam2", folder=str(tmp_path / "sam2"), device="cpu") if name == "sam2" else choice("color")
    asked, renders, clips = shard
    with CanonicalWriter(tmp_path / "short.mp4", tiny.WIDTH_PX, tiny.HEIGHT_PX) as writer:
        for _, rgb in read_frames(clips["F_001"].mp4, stop=5):
            writer.add(rgb)
    renders["F_001"] = renders["F_001"].model_copy(update={"mp4": tmp_path / "short.mp4"})
    late = max(item.frame for prompt in asked[0].prompts for item in prompt.frames if prompt.status != "absent")
    assert late >= 5
    rows = list(segment_shard(asked, renders, clips, chosen, tmp_path / "store"))
    assert re.fullmatch(r"prompt '\w+': frame \d+ in a video of 5 frames", rows[0].status) and not rows[0].retry
    assert rows[1].status == "ok"


def test_an_object_that_is_found_on_no_frame_is_told(shard, tmp_path):
    asked, renders, clips = shard
    nowhere = asked[0].prompts[0].model_copy(update={"status": "found", "frames": []})
    asked[0] = asked[0].model_copy(update={"prompts": [nowhere]})
    rows = list(segment_shard(asked, renders, clips, choice("color"), tmp_path / "store"))
    assert rows[0].status == f"prompt {nowhere.name!r}: found, but on no frame" and rows[1].status == "ok"
