"""Tracks of a shard: kept in the store with their masks, by one load of the segmenter."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from codecap.fingerprint import code_digest
from codecap.records import Clip, ObjectPrompts, Outcome, Render
from codecap.score.engine.choice import Choice
from codecap.score.engine.objects import segment_shard
from codecap.score.masks import kept, rle
from codecap.score.segmenters import color, sam2
from codecap.store import verify
from codecap.video import file_sha256

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
