"""Checkpoints of the encoders in the layout of their releases, tiny and random, written where the tests ask for them."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch


@pytest.fixture
def frames():
    """Random pictures, uint8 RGB."""

    def make(count: int, height_px: int = 90, width_px: int = 160, seed: int = 0) -> list[np.ndarray]:
        return list(np.random.default_rng(seed).integers(0, 256, (count, height_px, width_px, 3), np.uint8))

    return make


@pytest.fixture
def siglip_folder(tmp_path) -> Path:
    """A SigLIP 2 checkpoint of both sides, as `google/siglip2-*-patch*` are."""
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel

    torch.manual_seed(0)
    side = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = SiglipConfig(
        text_config={**side, "vocab_size": 100, "max_position_embeddings": 8},
        vision_config={**side, "image_size": 32, "patch_size": 8},
    )
    folder = tmp_path / "siglip2"
    SiglipModel(config).save_pretrained(folder)
    SiglipImageProcessor(size={"height": 32, "width": 32}, image_mean=[0.5] * 3, image_std=[0.5] * 3, resample=2).save_pretrained(
        folder
    )
    return folder


@pytest.fixture
def vjepa2_folder(tmp_path) -> Path:
    """A V-JEPA 2 checkpoint of transformers, as `facebook/vjepa2-*` are."""
    from transformers import VJEPA2Config, VJEPA2Model, VJEPA2VideoProcessor

    torch.manual_seed(0)
    config = VJEPA2Config(
        crop_size=32, frames_per_clip=4, hidden_size=48, num_attention_heads=2, num_hidden_layers=2, pred_hidden_size=24,
        pred_num_attention_heads=2, pred_num_hidden_layers=1,
    )  # fmt: skip
    folder = tmp_path / "vjepa2_hf"
    VJEPA2Model(config).save_pretrained(folder)
    VJEPA2VideoProcessor(crop_size=32).save_pretrained(folder)
    return folder


def small_storage(shape: tuple[int, ...], scale: float = 0.05) -> torch.Tensor:
    """Random, every row the one before moved by one: the networks of DreamSim have no small form, and take 350 MB otherwise."""
    return torch.as_strided(torch.randn(max(sum(shape), 1)) * scale, shape, [1] * len(shape))


@pytest.fixture
def stored_small():
    return small_storage


@pytest.fixture
def dreamsim_folder(tmp_path) -> Path:
    """DreamSim's open_clip_vitb32 in the layout of its cache: the network's tensors and projection, and a LoRA adapter."""
    from dreamsim.feature_extraction.vision_transformer import vit_base
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    folder = tmp_path / "dreamsim"
    folder.mkdir()
    network = vit_base(patch_size=32)
    network.pos_drop = torch.nn.LayerNorm(network.embed_dim)
    tensors = {name: small_storage(tensor.shape) for name, tensor in network.state_dict().items()}
    tensors["proj"] = torch.randn(768, 512) * 0.03
    torch.save({"state_dict": tensors}, folder / "open_clip_vitb32_pretrain.pth.tar")

    class Holder(torch.nn.Module):  # the adapter's names begin where the package's model begins
        def __init__(self) -> None:
            super().__init__()
            self.extractor_list = torch.nn.ModuleList([torch.nn.Module()])
            self.extractor_list[0].model = network

    config = LoraConfig(r=4, lora_alpha=1.0, lora_dropout=0.3, bias="none", target_modules=["qkv"], init_lora_weights=False)
    get_peft_model(Holder(), config).save_pretrained(folder / "open_clip_vitb32_single_lora")
    told = json.loads((folder / "open_clip_vitb32_single_lora/adapter_config.json").read_text())
    assert told["target_modules"] == ["qkv"]
    return folder
