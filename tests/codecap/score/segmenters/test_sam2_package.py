"""SAM 2 by the package `sam2` on a small random checkpoint: the same masks as the package's own loop over a folder of frames."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from codecap import registry
from codecap.records import ObjectPrompt
from codecap.score.masks import rle
from codecap.score.segmenters import MaskSegmenter
from codecap.video import read_frames
from codecap.weights import WeightsMissing

pytest.importorskip("sam2", reason="the package sam2 is an extra: pip install 'codecap[sam2]'")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("tiny.py"))))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "sam2.1_tiny.pt"
    tiny.write_package_checkpoint(path)
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory) -> Path:
    return tiny.write_clip(tmp_path_factory.mktemp("clip") / "cards.mp4")


def make(checkpoint: Path, **settings):
    network = {"network": tiny.PACKAGE_NETWORK, "overrides": tiny.PACKAGE_OVERRIDES, "device": "cpu", **settings}
    return registry.make("score.segmenters", "sam2_package", {"checkpoint": str(checkpoint), **network})


@pytest.fixture(scope="module")
def segmenter(checkpoint):
    return make(checkpoint)


def package_masks(predictor, mp4: Path, folder: Path, prompt: ObjectPrompt, last: int) -> dict[int, np.ndarray]:
    """An object's masks by the package's own loop; its loader tells a format by the content, so the frames are without loss."""
    for frame, rgb in read_frames(mp4):
        Image.fromarray(rgb).save(folder / f"{frame}.jpg", format="PNG")
    state = predictor.init_state(str(folder))
    for item in prompt.frames:
        points = [*item.positive_xy, *item.negative_xy]
        labels = [1] * len(item.positive_xy) + [0] * len(item.negative_xy)
        told = {"points": points, "labels": labels} if points else {}
        predictor.add_new_points_or_box(state, frame_idx=item.frame, obj_id=5, box=item.box_xyxy, **told)
    masks: dict[int, np.ndarray] = {}
    onward = last - prompt.frames[0].frame
    for reverse, most in ((False, onward), (True, None)):
        for frame, _, logits in predictor.propagate_in_video(state, max_frame_num_to_track=most, reverse=reverse):
            masks.setdefault(frame, (logits[0, 0] > 0).numpy())  # the first prompted frame comes both ways
    return masks


def test_masks_and_boxes_are_those_of_the_package(segmenter, clip, tmp_path):
    assert isinstance(segmenter, MaskSegmenter)
    found = segmenter.segment_masks(clip, tiny.FRAMES, tiny.prompts())
    assert [track.status for track in found.tracks] == ["found", "absent", "ambiguous"]
    red, _, blue = tiny.prompts()
    assert found.tracks[1].boxes_xyxy == [None] * tiny.FRAMES
    for prompt, track, wanted in ((red, found.tracks[0], range(tiny.FRAMES)), (blue, found.tracks[2], range(1, 12))):
        masks = package_masks(segmenter.predictor, clip, tmp_path, prompt, wanted[-1])
        assert sorted(found.masks[prompt.name]) == list(wanted)
        for frame in range(tiny.FRAMES):
            assert track.boxes_xyxy[frame] == (rle.box_of(masks[frame]) if frame in wanted else None)
        for frame in wanted:
            mask = rle.decode(found.masks[prompt.name][frame], tiny.HEIGHT_PX, tiny.WIDTH_PX)
            assert (mask == masks[frame]).all()
    assert len(set(found.masks["red"].values())) == tiny.FRAMES  # else the comparison would say little


def test_two_runs_are_equal_and_an_object_depends_on_no_other(segmenter, clip):
    red, _, blue = tiny.prompts()
    both = segmenter.segment_masks(clip, tiny.FRAMES, [red, blue])
    assert segmenter.segment_masks(clip, tiny.FRAMES, [red, blue]) == both
    assert segmenter.segment_masks(clip, tiny.FRAMES, [blue]).masks["blue"] == both.masks["blue"]


def test_a_frame_is_made_ready_as_the_package_does(segmenter, clip, tmp_path):
    from codecap.score.segmenters.sam2_package import prepared

    (_, rgb), *_ = read_frames(clip, 3, 4)
    Image.fromarray(rgb).save(tmp_path / "0.jpg", format="PNG")
    theirs = segmenter.predictor.init_state(str(tmp_path))["images"][0]
    assert torch.equal(prepared(rgb, tiny.PACKAGE_SIDE_PX), theirs)


def share_in_common(found) -> float:
    """Share of pixels that two runs call the same, over all frames."""
    size = (tiny.HEIGHT_PX, tiny.WIDTH_PX)
    masks = [np.stack([rle.decode(one.masks["red"][frame], *size) for frame in range(tiny.FRAMES)]) for one in found]
    return float((masks[0] == masks[1]).mean())


def test_bf16_is_near_fp32(segmenter, checkpoint, clip):
    rough = make(checkpoint, dtype="bf16")
    assert "bf16 on cpu" in rough.protocol
    assert share_in_common([one.segment_masks(clip, tiny.FRAMES, tiny.prompts()[:1]) for one in (segmenter, rough)]) > 0.9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU to compare with")
def test_gpu_and_cpu_agree_as_far_as_bf16_allows(segmenter, checkpoint, clip):
    on_gpu = make(checkpoint, device="cuda")
    assert "bf16 on cuda" in on_gpu.protocol
    assert share_in_common([one.segment_masks(clip, tiny.FRAMES, tiny.prompts()[:1]) for one in (segmenter, on_gpu)]) > 0.9


def test_what_is_kept_does_not_grow_with_the_clip(segmenter, tmp_path, monkeypatch):
    mp4 = tiny.write_clip(tmp_path / "long.mp4", 60)
    kept = []
    original = segmenter.predictor.propagate_in_video

    def counted(state, **settings):
        for told in original(state, **settings):
            yield told
            kept.append(max(len(outputs["non_cond_frame_outputs"]) for outputs in state["output_dict_per_obj"].values()))

    monkeypatch.setattr(segmenter.predictor, "propagate_in_video", counted)
    segmenter.segment(mp4, 60, tiny.prompts()[:1])
    assert max(kept[30:56]) <= 2 * 16 + 1


def test_the_protocol_and_the_settings(segmenter):
    assert "package sam2" in segmenter.protocol and f"{tiny.PACKAGE_SIDE_PX} px, fp32 on cpu" in segmenter.protocol
    with pytest.raises(registry.Unavailable, match="no_such_setting"):
        registry.make("score.segmenters", "sam2_package", {"no_such_setting": 1})


def test_a_network_that_the_package_has_not(checkpoint):
    with pytest.raises(registry.Unavailable, match=r"network 'configs/none\.yaml'"):
        make(checkpoint, network="configs/none.yaml", overrides=[])


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("missing", "not there"),
        ("truncated", "is damaged"),
        ("no torch", "is damaged"),
        ("no model", "no tensors"),
        ("lacking", "lacks maskmem_tpos_enc"),
        ("surplus", "no place for something"),
        ("shape", "another shape for maskmem_tpos_enc"),
    ],
)
def test_a_wrong_checkpoint_is_one_clear_error(damage, told, checkpoint, tmp_path):
    path = tmp_path / "wrong.pt"
    held = torch.load(checkpoint, weights_only=True)["model"]
    if damage == "truncated":
        path.write_bytes(checkpoint.read_bytes()[:50_000])
    elif damage == "no torch":
        path.write_text("<html>404</html>")
    elif damage == "no model":
        torch.save({"model": [1, 2]}, path)
    elif damage == "lacking":
        torch.save({"model": {key: value for key, value in held.items() if key != "maskmem_tpos_enc"}}, path)
    elif damage == "surplus":
        torch.save({"model": {**held, "something": torch.zeros(1)}}, path)
    elif damage == "shape":
        torch.save({"model": {**held, "maskmem_tpos_enc": torch.zeros(3)}}, path)
    with pytest.raises(WeightsMissing) as failed:
        make(path)
    message = str(failed.value)
    assert str(path) in message and "\n" not in message
    assert told in message or damage == "missing"


def test_a_checkpoint_runs_no_code(checkpoint, tmp_path):
    """A pickle may name any function; the loader takes tensors only."""
    path, proof = tmp_path / "evil.pt", tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return Path.touch, (proof,)

    torch.save({"model": Evil()}, path)
    with pytest.raises(WeightsMissing, match=r"evil\.pt"):
        make(path)
    assert not proof.exists()
