"""A stand-in for the checkout of V-JEPA 2.1, and training checkpoints in the layout of its release."""

from pathlib import Path

import pytest
import torch

HUBCONF = '''
"""A stand-in for facebookresearch/vjepa2: the same entry points, input and output; a small network."""
dependencies = ["torch"]
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, drop):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(dim), nn.MultiheadAttention(dim, 2, dropout=drop, batch_first=True)
        self.norm2, self.mlp = nn.LayerNorm(dim), nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, dim, depth, patch=64):
        super().__init__()
        drops = [x.item() for x in torch.linspace(0, 0.0, depth)]
        self.patch_embed = nn.Conv3d(3, dim, kernel_size=(2, patch, patch), stride=(2, patch, patch))
        self.video_mod_embed = nn.Parameter(torch.zeros(1, 1, dim))
        nn.init.normal_(self.video_mod_embed, std=1e-6)
        self.blocks = nn.ModuleList([Block(dim, drop) for drop in drops])
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = x + self.video_mod_embed
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def _made(dim, depth, pretrained):
    assert not pretrained, "would download"
    return Encoder(dim, depth), nn.Linear(dim, dim)


def vjepa2_1_vit_gigantic_384(*, pretrained=True):
    return _made(32, 3, pretrained)


def vjepa2_1_vit_large_384(*, pretrained=True):
    return _made(16, 2, pretrained)


def vjepa2_1_vit_base_384(*, pretrained=True):
    return _made(8, 1, pretrained)
'''


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder that torch.hub can load the V-JEPA 2.1 entries from."""
    folder = tmp_path / "vjepa2"
    folder.mkdir()
    (folder / "hubconf.py").write_text(HUBCONF)
    return folder


def hub_encoder(checkout: Path, entry: str = "vjepa2_1_vit_gigantic_384", seed: int = 0) -> torch.nn.Module:
    """The network by the library's own way, with random weights that bfloat16 holds exactly."""
    torch.manual_seed(seed)
    encoder, _ = torch.hub.load(str(checkout), entry, source="local", pretrained=False)
    for parameter in encoder.parameters():
        parameter.data = (parameter.data + 0.02 * torch.randn_like(parameter)).bfloat16().float()
    return encoder.eval()


def release(encoder: torch.nn.Module, path: Path, key: str = "target_encoder") -> Path:
    """A training checkpoint as Meta publishes it: more than the encoder, its names under two prefixes."""
    tensors = {f"module.backbone.{name}": tensor.clone() for name, tensor in encoder.state_dict().items()}
    other = {name: torch.zeros_like(tensor) for name, tensor in tensors.items()}
    torch.save({"encoder": other, key: tensors, "predictor": {}, "opt": {"state": {}}, "epoch": 40, "loss": 0.5}, path)
    return path


@pytest.fixture
def vjepa(checkout, tmp_path, monkeypatch):
    """Checkout, network and released checkpoint, in a weights folder of the test's own."""
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "weights"))
    encoder = hub_encoder(checkout)
    return checkout, encoder, release(encoder, tmp_path / "vjepa2_1_vitG_384.pt")


@pytest.fixture
def released():
    return release


@pytest.fixture
def by_hub():
    return hub_encoder
