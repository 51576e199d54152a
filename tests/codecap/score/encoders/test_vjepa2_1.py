"""V-JEPA 2.1 from a released checkpoint to a vector, against the checkout's own network; a stand-in checkout, and a real one."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from codecap.score.encoders import vjepa2_1
from codecap.weights import WeightsMissing
from codecap.weights import vjepa2_1 as preparing

REAL = os.environ.get("CODECAP_TEST_VJEPA2_1_CODE", "")
MEAN, DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


def made(vjepa, **settings) -> vjepa2_1.VJEPA21Encoder:
    checkout, _, checkpoint = vjepa
    prepared = preparing.prepare("vjepa2_1_vitG_384", checkpoint, checkout)
    return vjepa2_1.load({"checkpoint": str(prepared), "code": str(checkout), "device": "cpu", **settings})


def by_library(network: torch.nn.Module, prepared: list[np.ndarray]) -> np.ndarray:
    """The release's example, one clip at a time: normalise, (1, 3, frames, height, width), tokens, their mean."""
    pixels = (torch.from_numpy(np.stack(prepared)).float() / 255 - MEAN) / DEVIATION
    with torch.inference_mode():
        tokens = network(pixels.permute(3, 0, 1, 2)[None])
    mean = tokens[0].mean(0)
    return (mean / mean.norm()).numpy()


def test_equals_the_checkouts_own_network(vjepa, frames):
    encoder = made(vjepa)
    prepared = [encoder.prepare(rgb) for rgb in frames(4)]
    found = encoder.embed_video(prepared)
    assert found.shape == (32,) and found.dtype == np.float32
    assert found == pytest.approx(by_library(vjepa[1], prepared), abs=1e-5)
    assert not encoder.proxy


def test_several_clips_at_once_change_nothing(vjepa, frames):
    videos = [frames(4, 384, 384, seed) for seed in range(3)]
    one, two = made(vjepa), made(vjepa, clips=2)
    alone = np.stack([one.embed_video(video) for video in videos])
    assert two.embed_videos(videos) == pytest.approx(alone, abs=1e-5)


def test_a_frame_is_a_still_video(vjepa, frames):
    encoder = made(vjepa)
    (rgb,) = frames(1, 384, 384)
    assert encoder.embed_frames([rgb])[0] == pytest.approx(encoder.embed_video([rgb, rgb]), abs=1e-5)


def test_crop_takes_the_centre_and_squash_takes_all(vjepa):
    wide = np.zeros((438, 780, 3), np.uint8)
    wide[:, :100] = 255
    wide[27:411, 198:582] = np.arange(384, dtype=np.uint8)[:, None, None]
    assert (made(vjepa).prepare(wide) == wide[27:411, 198:582]).all()  # its short side needs no scaling
    assert made(vjepa, preprocess="squash").prepare(wide)[200, 10, 0] == 255


@pytest.mark.parametrize("size", [(1080, 1920), (360, 640), (640, 360), (438, 438), (90, 91)])
def test_pictures_of_every_size_become_384(vjepa, size):
    picture = made(vjepa).prepare(np.zeros((*size, 3), np.uint8))
    assert picture.shape == (384, 384, 3) and picture.flags.c_contiguous


def test_bf16_is_near_fp32(vjepa, frames):
    exact, coarse = made(vjepa), made(vjepa, dtype="bf16")
    prepared = [exact.prepare(rgb) for rgb in frames(4)]
    first, second = exact.embed_video(prepared), coarse.embed_video(prepared)
    assert float(first @ second) > 0.999
    assert "bf16 on cpu" in coarse.protocol and "fp32 on cpu" in exact.protocol


def test_the_protocol_tells_weights_code_and_preprocessing(vjepa):
    told = made(vjepa).protocol
    assert "sha256:" in told and "crop 384px bilinear" in told and "mean of tokens" in told
    assert made(vjepa, preprocess="squash").protocol != told


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_that_is_not_there_is_an_error(vjepa):
    with pytest.raises(Exception, match="device: cuda is asked for, but torch sees no GPU"):
        made(vjepa, device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_agrees_with_cpu(vjepa, frames):
    prepared = [made(vjepa).prepare(rgb) for rgb in frames(4)]
    there = made(vjepa, device="cuda", dtype="fp32").embed_video(prepared)
    assert float(there @ made(vjepa).embed_video(prepared)) > 0.99999
    assert float(made(vjepa, device="cuda").embed_video(prepared) @ there) > 0.999


def test_without_weights_the_message_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path))
    with pytest.raises(WeightsMissing, match="codecap weights fetch vjepa2_1_code"):
        vjepa2_1.load({"device": "cpu"})


def test_only_a_prepared_file_is_taken(vjepa):
    checkout, _, checkpoint = vjepa
    with pytest.raises(WeightsMissing, match=r"vjepa2_1_vitG_384.pt: cannot be read .*codecap weights prepare"):
        vjepa2_1.load({"checkpoint": str(checkpoint), "code": str(checkout), "device": "cpu"})


@pytest.mark.skipif(not REAL, reason="CODECAP_TEST_VJEPA2_1_CODE names no checkout of facebookresearch/vjepa2")
def test_the_real_checkout(tmp_path, monkeypatch, by_hub, released, frames):
    """The distilled base network, random; slow on a CPU, so with few frames."""
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "weights"))
    network = by_hub(Path(REAL), "vjepa2_1_vit_base_384")
    checkpoint = released(network, tmp_path / "b.pt", "ema_encoder")
    prepared = preparing.prepare("vjepa2_1_vitb_384", checkpoint, Path(REAL))
    settings = {"checkpoint": str(prepared), "code": REAL, "device": "cpu"}
    encoder = vjepa2_1.load(settings)
    pictures = frames(4, 1080, 1920)
    small = [encoder.prepare(rgb) for rgb in pictures]
    assert encoder.embed_video(small) == pytest.approx(by_library(network, small), abs=1e-5)
    assert float(vjepa2_1.load({**settings, "dtype": "bf16"}).embed_video(small) @ encoder.embed_video(small)) > 0.99
    own = torch.hub.load(REAL, "vjepa2_preprocessor", source="local", crop_size=384)(pictures)[0]  # (3, frames, 384, 384)
    ours = (torch.from_numpy(np.stack(small)).float() / 255 - MEAN) / DEVIATION
    assert ours.permute(3, 0, 1, 2).numpy() == pytest.approx(own.numpy(), abs=1e-5)
