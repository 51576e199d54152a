"""SigLIP 2 against transformers' own processor and `get_image_features`, one picture at a time."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from codecap.score.encoders import siglip2
from codecap.weights import WeightsMissing


def by_library(folder, picture: np.ndarray) -> np.ndarray:
    from transformers import AutoImageProcessor, AutoModel

    processor, model = AutoImageProcessor.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        vector = model.get_image_features(**processor(picture, return_tensors="pt")).pooler_output[0]
    return (vector / vector.norm()).numpy()


def load(folder, **settings):
    return siglip2.load({"folder": str(folder), "device": "cpu", **settings})


def test_equals_the_library(siglip_folder, frames):
    encoder = load(siglip_folder, batch=2)
    shown = frames(3)
    found = encoder.embed_frames([encoder.prepare(rgb) for rgb in shown])
    assert found.dtype == np.float32 and found.shape == (3, 32) and not encoder.proxy
    assert found == pytest.approx(np.stack([by_library(siglip_folder, rgb) for rgb in shown]), abs=1e-5)


def test_batches_change_nothing(siglip_folder, frames):
    one, many = load(siglip_folder, batch=1), load(siglip_folder, batch=8)
    small = [one.prepare(rgb) for rgb in frames(5)]
    assert one.embed_frames(small) == pytest.approx(many.embed_frames(small), abs=1e-5)
    assert (many.embed_frames(small) == many.embed_frames(small)).all()


def test_bf16_is_near_fp32(siglip_folder, frames):
    exact, coarse = load(siglip_folder), load(siglip_folder, dtype="bf16")
    small = [exact.prepare(rgb) for rgb in frames(3)]
    assert (exact.embed_frames(small) * coarse.embed_frames(small)).sum(axis=1).min() > 0.999


def test_a_video_is_the_mean_of_its_frames(siglip_folder, frames):
    encoder = load(siglip_folder)
    small = [encoder.prepare(rgb) for rgb in frames(2)]
    mean = encoder.embed_frames(small).mean(axis=0)
    assert encoder.embed_video(small) == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda tensors: tensors.pop("vision_model.post_layernorm.weight"), r"lacks .*post_layernorm.weight"),
        (lambda tensors: tensors.update(surplus=torch.zeros(1)), "has no place for surplus"),
        (lambda tensors: tensors.update({"vision_model.post_layernorm.weight": torch.zeros(7)}), "post_layernorm.weight"),
    ],
)
def test_another_checkpoint_is_refused(siglip_folder, edit, message):
    tensors = load_file(siglip_folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, siglip_folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsMissing, match=message):
        load(siglip_folder)


def test_a_missing_file_is_told(siglip_folder):
    (siglip_folder / "model.safetensors").unlink()
    with pytest.raises(WeightsMissing, match=r"siglip2: cannot be loaded"):
        load(siglip_folder)


def test_the_revision_is_that_of_the_file(siglip_folder):
    first = load(siglip_folder).protocol
    tensors = load_file(siglip_folder / "model.safetensors")
    save_file(
        {name: tensor * 1.01 for name, tensor in tensors.items()}, siglip_folder / "model.safetensors", metadata={"format": "pt"}
    )
    assert load(siglip_folder, threads=2).protocol != first
