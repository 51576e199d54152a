"""V-JEPA 2 of transformers against its own processor and model, one clip at a time."""

import json

import numpy as np
import pytest
import torch

from codecap.score.encoders import vjepa2
from codecap.weights import WeightsMissing


def by_library(folder, frames: list[np.ndarray]) -> np.ndarray:
    """The model card's example, and the mean of the tokens."""
    from transformers import AutoModel, AutoVideoProcessor

    processor, model = AutoVideoProcessor.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    video = torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)
    with torch.inference_mode():
        tokens = model(**processor(video, return_tensors="pt")).last_hidden_state
    mean = tokens[0].mean(0)
    return (mean / mean.norm()).numpy()


def load(folder, **settings):
    return vjepa2.load({"folder": str(folder), "device": "cpu", **settings})


@pytest.mark.parametrize("size", [(90, 160), (160, 90), (24, 40)])
def test_equals_the_library(vjepa2_folder, frames, size):
    encoder = load(vjepa2_folder)
    shown = frames(4, *size)
    found = encoder.embed_video([encoder.prepare(rgb) for rgb in shown])
    assert found == pytest.approx(by_library(vjepa2_folder, shown), abs=1e-5)
    assert found.dtype == np.float32 and not encoder.proxy


def test_several_clips_at_once_change_nothing(vjepa2_folder, frames):
    one, two = load(vjepa2_folder), load(vjepa2_folder, clips=2)
    videos = [[one.prepare(rgb) for rgb in frames(4, seed=seed)] for seed in range(3)]
    alone = np.stack([one.embed_video(video) for video in videos])
    assert two.embed_videos(videos) == pytest.approx(alone, abs=1e-5)


def test_a_frame_is_a_still_video(vjepa2_folder, frames):
    encoder = load(vjepa2_folder)
    small = encoder.prepare(frames(1)[0])
    assert encoder.embed_frames([small])[0] == pytest.approx(encoder.embed_video([small, small]), abs=1e-5)


def test_what_is_wrong_with_a_folder_is_told(vjepa2_folder):
    (vjepa2_folder / "model.safetensors").write_bytes((vjepa2_folder / "model.safetensors").read_bytes()[:-100])
    with pytest.raises(WeightsMissing, match=r"vjepa2_hf: cannot be loaded .*correct the setting that names it"):
        load(vjepa2_folder)


def test_a_checkpoint_of_another_size_is_refused(vjepa2_folder):
    config = json.loads((vjepa2_folder / "config.json").read_text())
    (vjepa2_folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(WeightsMissing, match=r"is no checkpoint of VJEPA2Model: lacks encoder.layer.2"):
        load(vjepa2_folder)
