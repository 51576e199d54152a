"""SAM 2 and SAM 3 by transformers on small random checkpoints: loaded strictly, and the same masks as the library's own loop."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from codecap import registry
from codecap.records import ObjectPrompt, PromptFrame
from codecap.score.masks import rle
from codecap.score.segmenters import MaskSegmenter
from codecap.video import read_frames
from codecap.weights import WeightsMissing

tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("tiny.py"))))
NAMES = ("sam2", "sam3")


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    tiny.write_sam2(root / "sam2")
    tiny.write_sam3(root / "sam3")
    return {name: root / name for name in NAMES}


@pytest.fixture(scope="module")
def clip(tmp_path_factory) -> Path:
    return tiny.write_clip(tmp_path_factory.mktemp("clip") / "cards.mp4")


@pytest.fixture(scope="module", params=NAMES)
def segmenter(request, folders):
    return registry.make("score.segmenters", request.param, {"folder": str(folders[request.param]), "device": "cpu"})


def library_masks(segmenter, mp4: Path, prompt: ObjectPrompt, last: int) -> dict[int, np.ndarray]:
    """An object's masks, bool `(height, width)`, up to a last frame, by the library's own session over the whole video."""
    model, processor = segmenter.model, segmenter.processor
    video = np.stack([rgb for _, rgb in read_frames(mp4)])
    session = processor.init_video_session(video=video, inference_device="cpu", dtype=torch.float32)
    size = [[tiny.HEIGHT_PX, tiny.WIDTH_PX]]
    masks: dict[int, np.ndarray] = {}
    with torch.inference_mode():
        for item in prompt.frames:
            points = [list(point) for point in (*item.positive_xy, *item.negative_xy)]
            labels = [1] * len(item.positive_xy) + [0] * len(item.negative_xy)
            told = {"input_points": [[points]], "input_labels": [[labels]]} if points else {}
            processor.add_inputs_to_inference_session(
                session, frame_idx=item.frame, obj_ids=5, input_boxes=[[list(item.box_xyxy)]], **told
            )
            model(session, frame_idx=item.frame)
        onward = last - prompt.frames[0].frame
        for reverse, most in ((False, onward), (True, None)):
            for output in model.propagate_in_video_iterator(session, max_frame_num_to_track=most, reverse=reverse):
                found = processor.post_process_masks([output.pred_masks], original_sizes=size)[0][0, 0].numpy()
                masks.setdefault(output.frame_idx, found)  # the first prompted frame comes both ways
    return masks


def test_masks_and_boxes_are_those_of_the_library(segmenter, clip):
    found = segmenter.segment_masks(clip, tiny.FRAMES, tiny.prompts())
    assert isinstance(segmenter, MaskSegmenter)
    assert [track.status for track in found.tracks] == ["found", "absent", "ambiguous"]
    red, _, blue = tiny.prompts()
    assert found.tracks[1].boxes_xyxy == [None] * tiny.FRAMES and found.tracks[2].detail == "two look alike"
    for prompt, track, wanted in ((red, found.tracks[0], range(tiny.FRAMES)), (blue, found.tracks[2], range(1, 12))):
        masks = library_masks(segmenter, clip, prompt, wanted[-1])
        assert sorted(found.masks[prompt.name]) == list(wanted)
        for frame in range(tiny.FRAMES):
            assert track.boxes_xyxy[frame] == (rle.box_of(masks[frame]) if frame in wanted else None)
        for frame in wanted:
            mask = rle.decode(found.masks[prompt.name][frame], tiny.HEIGHT_PX, tiny.WIDTH_PX)
            assert (mask == masks[frame]).all()
    assert len(set(found.masks["red"].values())) == tiny.FRAMES  # else the comparison would say little


def test_an_object_depends_on_no_other(segmenter, clip):
    red, _, blue = tiny.prompts()
    both = segmenter.segment_masks(clip, tiny.FRAMES, [red, blue]).masks
    assert segmenter.segment_masks(clip, tiny.FRAMES, [blue]).masks["blue"] == both["blue"]


def test_objects_share_the_features_of_a_frame(segmenter, clip, monkeypatch):
    runs = []
    original = segmenter.model.get_image_features
    monkeypatch.setattr(segmenter.model, "get_image_features", lambda *a, **k: runs.append(1) or original(*a, **k))
    segmenter.segment(clip, tiny.FRAMES, tiny.prompts())
    prompted, onward, back = 3, tiny.FRAMES - 5, 7  # frames 4, 7 and 9; 5 to the end; 6 down to 0
    assert len(runs) == prompted + onward + back


def test_two_runs_are_equal_and_each_prompt_counts(segmenter, clip):
    first = segmenter.segment_masks(clip, tiny.FRAMES, tiny.prompts())
    again = segmenter.segment_masks(clip, tiny.FRAMES, tiny.prompts())
    assert first == again
    red, *others = tiny.prompts()
    item = red.frames[0]
    changes = (
        {"positive_xy": item.negative_xy, "negative_xy": item.positive_xy},
        {"negative_xy": []},
        {"box_xyxy": (0.0, 0.0, 30.0, 30.0)},
    )
    for change in changes:
        other = red.model_copy(update={"frames": [item.model_copy(update=change), red.frames[1]]})
        assert segmenter.segment_masks(clip, tiny.FRAMES, [other, *others]).masks["red"] != first.masks["red"]


def test_the_network_gets_corners_then_points_in_its_own_pixels(segmenter, clip, monkeypatch):
    told = []
    original = segmenter.model._single_frame_forward

    def watched(*args, **kwargs):
        if kwargs.get("input_points") is not None:
            told.append((kwargs["input_points"].clone(), kwargs["input_labels"].clone()))
        return original(*args, **kwargs)

    monkeypatch.setattr(segmenter.model, "_single_frame_forward", watched)
    segmenter.segment(clip, tiny.FRAMES, tiny.prompts())
    side_px = segmenter.processor.target_size
    grow = np.array([side_px / tiny.WIDTH_PX, side_px / tiny.HEIGHT_PX])
    x0, y0, x1, y1 = tiny.red_box(4)
    points, labels = told[0]
    assert labels.flatten().tolist() == [2, 3, 1, 1, 0]
    expected = np.array([(x0, y0), (x1, y1), (56, 55), (60, 60), (150, 20)]) * grow
    assert np.allclose(points.reshape(-1, 2).numpy(), expected, atol=1e-4)
    assert [told[k][1].flatten().tolist() for k in (1, 2)] == [[2, 3], [2, 3, 1]]


def test_a_long_clip_is_followed_in_bounded_memory(segmenter, tmp_path, monkeypatch):
    """Frames held, and outputs kept a frame, do not grow with the clip; the window of frames changes nothing."""
    from codecap.score.masks import frames as frames_module

    held, kept = [], []
    mp4 = tiny.write_clip(tmp_path / "long.mp4", 60)
    red = tiny.prompts()[0]

    def watched(self, frame: int) -> np.ndarray:
        rgb = original(self, frame)
        held.append(len(self._window))
        return rgb

    original = frames_module.Frames.rgb
    monkeypatch.setattr(frames_module.Frames, "rgb", watched)
    iterator = type(segmenter.model).propagate_in_video_iterator

    def counted(self, session, **settings) -> Iterator:
        for output in iterator(self, session, **settings):
            yield output
            kept.append(max(len(outputs["non_cond_frame_outputs"]) for outputs in session.output_dict_per_obj.values()))

    monkeypatch.setattr(type(segmenter.model), "propagate_in_video_iterator", counted)
    long = segmenter.segment_masks(mp4, 60, [red])
    assert max(held) == 48 and max(kept[30:60]) <= 2 * 16 + 1
    monkeypatch.setattr(frames_module, "KEYFRAME_INTERVAL", 5)
    assert segmenter.segment_masks(mp4, 60, [red]) == long
    assert max(held[-60:]) == 5


def test_a_suppressed_mask_is_an_absent_object(folders, clip):
    segmenter = registry.make("score.segmenters", "sam2", {"folder": str(folders["sam2"]), "device": "cpu"})
    with torch.no_grad():
        segmenter.model.mask_decoder.pred_obj_score_head.proj_out.bias.fill_(-50.0)
    red = segmenter.segment(clip, tiny.FRAMES, tiny.prompts()[:1])[0]
    assert red.status == "absent" and red.boxes_xyxy == [None] * tiny.FRAMES and "empty on all frames" in red.detail


def test_prompts_that_cannot_be_meant(segmenter, clip):
    late = PromptFrame(frame=tiny.FRAMES, box_xyxy=(0, 0, 9, 9))
    with pytest.raises(ValueError, match=f"'late': frame {tiny.FRAMES} in a video of {tiny.FRAMES} frames"):
        segmenter.segment(clip, 99, [ObjectPrompt(name="late", status="found", frames=[late])])
    with pytest.raises(ValueError, match="'none': found, but on no frame"):
        segmenter.segment(clip, tiny.FRAMES, [ObjectPrompt(name="none", status="found")])
    assert segmenter.segment(clip, tiny.FRAMES, []) == []


def test_tracks_of_a_shorter_and_a_longer_video(segmenter, clip):
    red = tiny.prompts()[0]
    longer = segmenter.segment(clip, tiny.FRAMES + 6, [red])[0].boxes_xyxy
    assert len(longer) == tiny.FRAMES + 6 and longer[tiny.FRAMES :] == [None] * 6 and all(longer[: tiny.FRAMES])
    assert len(segmenter.segment(clip, 10, [red])[0].boxes_xyxy) == 10


def test_the_protocol_says_how(segmenter):
    assert "fp32 on cpu" in segmenter.protocol and "sha256:" in segmenter.protocol and "px" in segmenter.protocol
    assert segmenter.proxy is False


@pytest.mark.parametrize("name", NAMES)
def test_bf16_is_near_fp32(name, folders, clip):
    settings = {"folder": str(folders[name]), "device": "cpu"}
    both = [registry.make("score.segmenters", name, {**settings, "dtype": dtype}) for dtype in ("fp32", "bf16")]
    assert "bf16 on cpu" in both[1].protocol
    assert agreement(*(one.segment_masks(clip, tiny.FRAMES, tiny.prompts()[:1]) for one in both)) > 0.9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU to compare with")
@pytest.mark.parametrize("name", NAMES)
def test_gpu_and_cpu_agree_as_far_as_bf16_allows(name, folders, clip):
    both = [registry.make("score.segmenters", name, {"folder": str(folders[name]), "device": where}) for where in ("cpu", "cuda")]
    assert "bf16 on cuda" in both[1].protocol
    assert agreement(*(one.segment_masks(clip, tiny.FRAMES, tiny.prompts()[:1]) for one in both)) > 0.9


def agreement(first, second) -> float:
    """Share of pixels that two runs call the same, over all frames: noise has no better measure, its boxes fill the picture."""
    masks = [
        np.stack([rle.decode(one.masks["red"][frame], tiny.HEIGHT_PX, tiny.WIDTH_PX) for frame in range(tiny.FRAMES)])
        for one in (first, second)
    ]
    return float((masks[0] == masks[1]).mean())


def test_cuda_asked_for_and_absent_is_an_error(folders, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(Exception, match="torch sees no GPU"):
        registry.make("score.segmenters", "sam2", {"folder": str(folders["sam2"]), "device": "cuda"})


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_checked(name):
    with pytest.raises(registry.Unavailable, match="no_such_setting"):
        registry.make("score.segmenters", name, {"no_such_setting": 1})


def spoiled(folder: Path, target: Path, change) -> Path:
    """A copy of a checkpoint with its tensors changed."""
    import shutil

    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, target)
    tensors = load_file(target / "model.safetensors")
    change(tensors)
    save_file(tensors, target / "model.safetensors", metadata={"format": "pt"})
    return target


def without(tensors: dict) -> None:
    del tensors[next(key for key in tensors if "mask_decoder.conv_s0.weight" in key)]


def with_one_more(tensors: dict) -> None:
    tensors["something.else.weight"] = torch.zeros(3)


def of_another_shape(tensors: dict) -> None:
    key = next(key for key in tensors if "mask_decoder.conv_s0.weight" in key)
    tensors[key] = torch.zeros(3, 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("change", "told"), [(without, "conv_s0"), (with_one_more, "something.else"), (of_another_shape, "conv_s0")]
)
def test_a_wrong_checkpoint_is_one_clear_error(name, change, told, folders, tmp_path):
    folder = spoiled(folders[name], tmp_path / "spoiled", change)
    with pytest.raises(WeightsMissing) as failed:
        registry.make("score.segmenters", name, {"folder": str(folder), "device": "cpu"})
    message = str(failed.value)
    assert str(folder) in message and told in message and "\n" not in message


@pytest.mark.parametrize("damage", ["truncated", "no weights", "no config", "config of another", "config no JSON", "nothing"])
def test_a_damaged_folder_is_one_clear_error(damage, folders, tmp_path):
    folder = tmp_path / "damaged"
    if damage != "nothing":
        spoiled(folders["sam2"], folder, lambda tensors: None)
    config, tensors = folder / "config.json", folder / "model.safetensors"
    if damage == "truncated":
        tensors.write_bytes(tensors.read_bytes()[:10_000])
    elif damage == "no weights":
        tensors.unlink()
    elif damage == "no config":
        config.unlink()
    elif damage == "config no JSON":
        config.write_text("{")
    elif damage == "config of another":
        config.write_text(json.dumps({**json.loads(config.read_text()), "model_type": "sam3_video"}))
    with pytest.raises(WeightsMissing) as failed:
        registry.make("score.segmenters", "sam2", {"folder": str(folder), "device": "cpu"})
    assert str(folder) in str(failed.value) and "\n" not in str(failed.value)


def test_sam3_is_found_in_a_checkpoint_of_the_whole_model(folders, clip, tmp_path):
    """`facebook/sam3` holds detector and tracker; the tracker shares the detector's image encoder."""

    def as_released(tensors: dict) -> None:
        renamed = {key.removeprefix("tracker_model.") if ".detector_model." in key or ".tracker_neck." in key else key: tensor
                   for key, tensor in tensors.items()}  # fmt: skip
        renamed["detector_model.text_encoder.weight"] = torch.zeros(2)
        tensors.clear()
        tensors.update(renamed)

    folder = spoiled(folders["sam3"], tmp_path / "released", as_released)
    config = json.loads((folder / "config.json").read_text())
    whole = {"model_type": "sam3_video", "architectures": ["Sam3VideoModel"], "tracker_config": config}
    (folder / "config.json").write_text(json.dumps(whole))
    masks = [
        registry.make("score.segmenters", "sam3", {"folder": str(one), "device": "cpu"})
        .segment_masks(clip, tiny.FRAMES, tiny.prompts()[:1])
        .masks
        for one in (folder, folders["sam3"])
    ]
    assert masks[0] == masks[1]


@pytest.mark.parametrize("name", ["sam2", "sam2_package", "sam3", "sam3_1"])
def test_nothing_of_an_embedded_segmenter_is_used(name):
    """Deleting the stand-ins breaks no real backend."""
    from codecap import fingerprint

    used = {path.relative_to(fingerprint.PACKAGE).as_posix() for path in fingerprint._closure(f"codecap.score.segmenters.{name}")}
    assert f"score/segmenters/{name}.py" in used
    assert not [
        path for path in used if "segmenting/" in path or path.endswith(("color.py", "efficientnet.py", "match.py", "lk.py"))
    ]


def test_a_video_of_one_frame(segmenter, tmp_path):
    mp4 = tiny.write_clip(tmp_path / "still.mp4", 1)
    first = PromptFrame(frame=0, box_xyxy=tiny.red_box(0))
    found = segmenter.segment_masks(mp4, 1, [ObjectPrompt(name="red", status="found", visible_s=[(0, 1)], frames=[first])])
    assert list(found.masks["red"]) == [0] and found.tracks[0].boxes_xyxy[0] is not None
