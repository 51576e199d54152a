"""DreamSim against the package's own example, from a checkpoint in the layout of its cache; nothing is downloaded."""

import numpy as np
import pytest
import torch
from PIL import Image

from codecap.score.encoders import dreamsim as backend
from codecap.weights import Found, WeightsMissing

SETTINGS = {"weights": "dreamsim_open_clip_vitb32", "device": "cpu"}


@pytest.fixture
def no_network(monkeypatch):
    def download(url, *_args, **_kwargs):
        raise AssertionError(f"would download {url}")

    monkeypatch.setattr(torch.hub, "download_url_to_file", download)


def test_equals_the_package(dreamsim_folder, frames, no_network):
    from dreamsim import dreamsim

    encoder = backend.load({**SETTINGS, "folder": str(dreamsim_folder), "batch": 2})
    shown = [*frames(2), np.zeros((90, 160, 3), np.uint8)]
    found = encoder.embed_frames([encoder.prepare(rgb) for rgb in shown])
    model, preprocess = dreamsim(pretrained=True, device="cpu", cache_dir=str(dreamsim_folder), dreamsim_type="open_clip_vitb32")
    with torch.inference_mode():
        pictures = [preprocess(Image.fromarray(rgb)) for rgb in shown]
        known = torch.cat([model.embed(picture) for picture in pictures]).numpy()
        distance = float(model(pictures[0], pictures[2]))
    assert found == pytest.approx(known, abs=1e-5)
    assert found.dtype == np.float32 and not encoder.proxy
    assert 1 - float(found[0] @ found[2]) == pytest.approx(distance, abs=1e-5)
    assert distance > 1e-3  # the random network tells pictures apart
    alone = backend.load({**SETTINGS, "folder": str(dreamsim_folder), "batch": 1})
    assert alone.embed_frames([encoder.prepare(rgb) for rgb in shown]) == pytest.approx(found, abs=1e-5)
    coarse = backend.load({**SETTINGS, "folder": str(dreamsim_folder), "dtype": "bf16"})
    assert (coarse.embed_frames([encoder.prepare(rgb) for rgb in shown]) * found).sum(axis=1).min() > 0.99


def test_a_missing_file_is_named_before_the_package_downloads(dreamsim_folder, no_network):
    (dreamsim_folder / "open_clip_vitb32_pretrain.pth.tar").unlink()
    with pytest.raises(WeightsMissing, match=r"open_clip_vitb32_pretrain.pth.tar: DreamSim's open_clip_vitb32 needs it"):
        backend.load({**SETTINGS, "folder": str(dreamsim_folder)})


def test_a_truncated_file_is_told(dreamsim_folder, no_network):
    file = dreamsim_folder / "open_clip_vitb32_pretrain.pth.tar"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(WeightsMissing, match="cannot be loaded"):
        backend.load({**SETTINGS, "folder": str(dreamsim_folder)})


def test_tensors_of_another_network_are_told(dreamsim_folder, no_network):
    file = dreamsim_folder / "open_clip_vitb32_pretrain.pth.tar"
    held = torch.load(file, weights_only=True)
    held["state_dict"]["surplus"] = torch.zeros(1)
    torch.save(held, file)
    with pytest.raises(WeightsMissing, match="surplus"):
        backend.load({**SETTINGS, "folder": str(dreamsim_folder)})


@pytest.mark.slow
def test_the_ensemble_builds_its_three_networks_offline(tmp_path, no_network, frames, stored_small):
    """Its DINO comes by torch.hub from the folder beside; here a stand-in checkout that gives the package's own ViT."""
    from dreamsim.feature_extraction.vision_transformer import DINOHead, vit_base
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    folder = tmp_path / "ensemble"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "facebookresearch_dino_main").mkdir()
    (folder / "facebookresearch_dino_main/hubconf.py").write_text(
        "dependencies = ['torch']\nimport torch\n"
        "def dino_vitb16(pretrained=True):\n"
        "    from dreamsim.feature_extraction.vision_transformer import vit_base\n"
        "    model = vit_base(patch_size=16)\n"
        "    url = 'https://dl.fbaipublicfiles.com/dino/dino_vitbase16_pretrain/dino_vitbase16_pretrain.pth'\n"
        "    model.load_state_dict(torch.hub.load_state_dict_from_url(url, map_location='cpu'), strict=True)\n"
        "    return model\n"
    )

    def random(tensors):
        return {name: stored_small(tuple(tensor.shape)) for name, tensor in tensors.items()}

    network = vit_base(patch_size=16)
    torch.save(random(network.state_dict()), folder / "checkpoints/dino_vitbase16_pretrain.pth")
    head = {f"module.head.{name}": tensor for name, tensor in random(DINOHead(768, 2048).state_dict()).items()}
    head["module.head.last_layer.weight"] = stored_small((2048, 256))
    torch.save({"student": head}, folder / "dino_vitb16_pretrain.pth")
    network.pos_drop = torch.nn.LayerNorm(768)
    for name in ("clip", "open_clip"):
        tensors = {**random(network.state_dict()), "proj": torch.randn(768, 512) * 0.03}
        torch.save({"state_dict": tensors}, folder / f"{name}_vitb16_pretrain.pth.tar")
    holder = torch.nn.Module()
    holder.extractor_list = torch.nn.ModuleList([torch.nn.Module() for _ in range(3)])
    for extractor in holder.extractor_list:
        extractor.model = vit_base(patch_size=16)
    config = LoraConfig(r=2, lora_alpha=1.0, lora_dropout=0.3, bias="none", target_modules=["qkv"])
    get_peft_model(holder, config).save_pretrained(folder / "ensemble_lora")

    before = sorted(str(path) for path in folder.rglob("*"))
    hub = torch.hub.get_dir()
    encoder = backend.load({"weights": "dreamsim_ensemble", "folder": str(folder), "device": "cpu"})
    (vector,) = encoder.embed_frames([encoder.prepare(frames(1)[0])])
    assert vector.shape == (768 + 512 + 512,)
    assert torch.hub.get_dir() == hub
    assert sorted(str(path) for path in folder.rglob("*") if "__pycache__" not in str(path)) == before  # a read-only folder will do


def test_objects_other_than_tensors_are_not_loaded(dreamsim_folder, no_network, monkeypatch):
    """torch.hub, which DINO is loaded by, would unpickle anything."""

    def unsafe(*_args, **_kwargs):
        return torch.load(dreamsim_folder / "evil.pth", weights_only=False)

    class Evil:
        def __reduce__(self):
            return (print, ("unpickled",))

    torch.save({"a": Evil()}, dreamsim_folder / "evil.pth")
    monkeypatch.setattr("dreamsim.dreamsim", unsafe)
    with pytest.raises(WeightsMissing, match="Weights only load failed"):
        backend.build(Found(dreamsim_folder, "x"), "open_clip_vitb32", "mend it")
