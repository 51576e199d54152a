"""SAM 3.1 against a stand-in for Meta's package that has its entry points and follows a colour: so prompts, boxes, frames and
the checkpoint's layout are checked, and the network is not."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from codecap import registry
from codecap.score.masks import rle
from codecap.score.segmenters import MaskSegmenter
from codecap.weights import WeightsMissing

HERE = Path(__file__).parent
tiny = SimpleNamespace(**runpy.run_path(str(HERE / "tiny.py")))
stand_in = SimpleNamespace(**runpy.run_path(str(HERE / "stand_ins" / "sam3_package.py")))


@pytest.fixture
def code(tmp_path, monkeypatch) -> Path:
    """A checkout of the stand-in, which is forgotten after the test."""
    folder = stand_in.write(tmp_path / "checkout")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield folder
    for name in [name for name in sys.modules if name == "sam3" or name.startswith("sam3.")]:
        del sys.modules[name]


def tensors(**changes: torch.Tensor | None) -> dict[str, torch.Tensor]:
    """A merged checkpoint: detector, with the backbone that the tracker shares, and tracker."""
    held = {
        "detector.backbone.vision_backbone.weight": torch.randn(3, 2),
        "detector.backbone.vision_backbone.bias": torch.randn(3),
        "detector.backbone.vision_backbone.freqs_cis": torch.zeros(4, dtype=torch.complex64),
        "detector.backbone.language_backbone.weight": torch.zeros(2),
        "detector.transformer.weight": torch.zeros(2),
        "tracker.model.maskmem_backbone.weight": torch.randn(3, 3),
        "tracker.model.maskmem_backbone.bias": torch.randn(3),
    }
    held.update({key.replace("__", "."): value for key, value in changes.items()})
    return {key: value for key, value in held.items() if value is not None}


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    path = tmp_path / "sam3.1_multiplex.pt"
    torch.save(tensors(), path)
    return path


@pytest.fixture
def segmenter(code, checkpoint):
    return registry.make("score.segmenters", "sam3_1", {"code": str(code), "checkpoint": str(checkpoint), "device": "cpu"})


def test_prompts_become_the_boxes_of_what_they_frame(segmenter, tmp_path):
    clip = tiny.write_clip(tmp_path / "cards.mp4")
    found = segmenter.segment_masks(clip, tiny.FRAMES, tiny.prompts())
    assert isinstance(segmenter, MaskSegmenter)
    red, nowhere, blue = found.tracks
    assert [track.status for track in found.tracks] == ["found", "absent", "ambiguous"]
    assert nowhere.boxes_xyxy == [None] * tiny.FRAMES
    for frame in range(tiny.FRAMES):  # its masks are a fifth coarser than the video, and not of its shape
        assert np.allclose(red.boxes_xyxy[frame], tiny.red_box(frame), atol=2)
    seen = [frame for frame, box in enumerate(blue.boxes_xyxy) if box is not None]
    assert seen == list(range(1, 12))
    for frame in seen:
        assert np.allclose(blue.boxes_xyxy[frame], tiny.blue_box(frame), atol=2)
        mask = rle.decode(found.masks["blue"][frame], tiny.HEIGHT_PX, tiny.WIDTH_PX)
        assert rle.box_of(mask) == blue.boxes_xyxy[frame] and mask.mean() < 0.08


def test_box_and_points_go_in_as_shares_of_the_picture_with_their_labels(segmenter, tmp_path):
    segmenter.segment(tiny.write_clip(tmp_path / "cards.mp4"), tiny.FRAMES, tiny.prompts())
    told = segmenter.tracker.prompted
    assert [frame for frame, _, _, _ in told] == [4, 7, 9]
    size = torch.tensor([tiny.WIDTH_PX, tiny.HEIGHT_PX])
    x0, y0, x1, y1 = tiny.red_box(4)
    assert torch.allclose(told[0][2] * size, torch.tensor([(x0, y0), (x1, y1), (56, 55), (60, 60), (150, 20)]).float())
    assert [labels.tolist() for _, _, _, labels in told] == [[2, 3, 1, 1, 0], [2, 3], [2, 3, 1]]


def test_objects_share_the_features_of_a_frame(segmenter, tmp_path):
    segmenter.segment(tiny.write_clip(tmp_path / "cards.mp4"), tiny.FRAMES, tiny.prompts())
    runs = segmenter.tracker.backbone_runs
    onward, back = list(range(4, tiny.FRAMES)), list(range(7, -1, -1))
    assert runs == [4, 7, 9, *onward, *back]


def test_a_long_clip_drops_what_is_never_read_again(segmenter, tmp_path):
    """The stand-in fails where an output is dropped too early; here none may stay too long."""
    frames = 80
    red = tiny.prompts()[0]
    late = red.model_copy(update={"frames": [item.model_copy(update={"frame": item.frame + 40}) for item in red.frames]})
    states = []
    original = segmenter.tracker.init_state
    segmenter.tracker.init_state = lambda **settings: states.append(original(**settings)) or states[-1]
    track = segmenter.segment(tiny.write_clip(tmp_path / "long.mp4", frames), frames, [late])[0]
    assert all(track.boxes_xyxy[: tiny.FRAMES])
    for outputs in (states[0]["output_dict"], states[0]["output_dict_per_obj"][0]):
        assert len(outputs["non_cond_frame_outputs"]) <= 17


def test_the_protocol_tells_weights_code_and_computing(segmenter, code):
    assert "SAM 3.1 multiplex sha256:" in segmenter.protocol and "160 px, fp32 on cpu" in segmenter.protocol
    from codecap import weights

    digest = weights.digest(code / "sam3")[:12]
    assert f"package sam3 {digest}" in segmenter.protocol


def test_every_tensor_of_the_tracker_comes_from_the_checkpoint(segmenter, checkpoint):
    held = torch.load(checkpoint, weights_only=True)
    filled = segmenter.tracker.state_dict()
    assert torch.equal(filled["backbone.vision_backbone.weight"], held["detector.backbone.vision_backbone.weight"])
    assert torch.equal(filled["maskmem_backbone.bias"], held["tracker.model.maskmem_backbone.bias"])


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (tensors(tracker__model__maskmem_backbone__bias=None), "lacks maskmem_backbone.bias"),
        (tensors(detector__backbone__vision_backbone__weight=None), "lacks backbone.vision_backbone.weight"),
        (tensors(tracker__model__other=torch.zeros(1)), "no place for other"),
        (tensors(tracker__model__maskmem_backbone__bias=torch.zeros(4)), "another shape for maskmem_backbone.bias"),
        ({"model": [1]}, "no tensors"),
    ],
)
def test_a_wrong_checkpoint_is_one_clear_error(held, told, code, tmp_path):
    """The package itself loads what fits and prints the rest."""
    path = tmp_path / "wrong.pt"
    torch.save(held, path)
    with pytest.raises(WeightsMissing) as failed:
        registry.make("score.segmenters", "sam3_1", {"code": str(code), "checkpoint": str(path), "device": "cpu"})
    assert str(path) in str(failed.value) and told in str(failed.value)


def test_without_the_package_it_says_how_to_get_it(checkpoint):
    if "sam3" in sys.modules:
        pytest.skip("the package is installed here")
    with pytest.raises(registry.Unavailable, match=r"needs the package 'sam3'.*facebookresearch/sam3.*sam3 or sam2"):
        registry.make("score.segmenters", "sam3_1", {"checkpoint": str(checkpoint), "device": "cpu"})


def test_an_older_package_is_told_from_a_missing_one(code, checkpoint):
    (code / "sam3" / "model_builder.py").write_text("def build_sam3_video_model(): ...")
    with pytest.raises(registry.Unavailable, match=r"older than SAM 3\.1"):
        registry.make("score.segmenters", "sam3_1", {"code": str(code), "checkpoint": str(checkpoint), "device": "cpu"})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_the_default_is_an_error(code, checkpoint):
    with pytest.raises(Exception, match="torch sees no GPU"):
        registry.make("score.segmenters", "sam3_1", {"code": str(code), "checkpoint": str(checkpoint)})
