"""A tiny Wan pipeline with random weights, in the real layout, drawn by the library itself."""

import json
import shutil
import sys

import numpy as np
import pytest
import torch

from codecap import registry, stopping
from codecap.generate.videos import Order
from codecap.generate.videos.diffusers import Settings, load, open_pipeline, write
from codecap.video import probe, read_frames
from codecap.weights import WeightsMissing

SMALL = {"steps": 2, "area_px": 64 * 32, "device": "cpu", "longest_frames": 9}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """As `save_pretrained` writes it."""
    diffusers = pytest.importorskip("diffusers", reason="it is the user's to install: pip install diffusers")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, UMT5Config, UMT5EncoderModel

    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in LETTERS)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    torch.manual_seed(0)
    parts = {
        "tokenizer": PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"),
        "text_encoder": UMT5EncoderModel(UMT5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4)),
        "vae": diffusers.AutoencoderKLWan(
            base_dim=3, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True]
        ),
        "transformer": diffusers.WanTransformer3DModel(
            patch_size=(1, 2, 2),
            num_attention_heads=2,
            attention_head_dim=12,
            in_channels=16,
            out_channels=16,
            text_dim=32,
            freq_dim=256,
            ffn_dim=32,
            num_layers=2,
            cross_attn_norm=True,
            qk_norm="rms_norm_across_heads",
            rope_max_seq_len=32,
        ),
        "scheduler": diffusers.UniPCMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0),
    }
    folder = tmp_path_factory.mktemp("wan")
    diffusers.WanPipeline(**parts).save_pretrained(folder)
    return folder


@pytest.fixture
def copy(checkpoint, tmp_path):
    return shutil.copytree(checkpoint, tmp_path / "copy")


@pytest.mark.slow  # to import the libraries
def test_a_video_of_the_clips_length_and_shape_the_same_each_time(checkpoint, tmp_path):
    order = Order("a red square moves", 0.55, 640, 330)
    made = [load({**SMALL, "folder": str(checkpoint)}).make(order, tmp_path / f"{number}.mp4") for number in range(2)]
    info = probe(tmp_path / "0.mp4")
    assert (info.width_px, info.height_px, info.frames) == (64, 32, 14)  # 9 frames at 16 a second, shown at 24
    assert (tmp_path / "0.mp4").read_bytes() == (tmp_path / "1.mp4").read_bytes()
    assert made[0]["frames_made"] == 9 and made[0]["cost_usd"] == 0.0
    maker = load({**SMALL, "folder": str(checkpoint)})
    maker.make(Order("something else", 0.55, 640, 330), tmp_path / "2.mp4")
    assert (tmp_path / "2.mp4").read_bytes() != (tmp_path / "0.mp4").read_bytes()


@pytest.mark.slow  # to import the libraries
def test_the_network_is_loaded_once_and_as_precisely_as_it_is_told(checkpoint, tmp_path):
    maker = load({**SMALL, "folder": str(checkpoint), "dtype": "bf16"})
    assert maker._pipeline is None
    maker.make(Order("a", 0.3, 64, 32), tmp_path / "a.mp4")
    first = maker._pipeline
    maker.make(Order("b", 0.3, 64, 32), tmp_path / "b.mp4")
    assert maker._pipeline is first
    assert (first.transformer.dtype, first.text_encoder.dtype, first.vae.dtype) == (torch.bfloat16, torch.bfloat16, torch.float32)


@pytest.mark.slow  # to import the libraries
def test_a_job_whose_grace_time_is_over_breaks_off(checkpoint, tmp_path, monkeypatch):
    maker = load({**SMALL, "folder": str(checkpoint)})
    monkeypatch.setattr(stopping, "broken_off", lambda: True)
    with pytest.raises(stopping.Stopped):
        maker.make(Order("a", 0.3, 64, 32), tmp_path / "a.mp4")


@pytest.mark.slow  # to import the libraries
def test_a_checkpoint_that_is_none_is_told(copy, tmp_path):
    with pytest.raises(WeightsMissing, match=r"correct the setting|not there"):
        open_pipeline(Settings(folder=tmp_path / "nothing", device="cpu"))
    weights = copy / "transformer" / "diffusion_pytorch_model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WeightsMissing, match="cannot be loaded"):
        open_pipeline(Settings(folder=copy, device="cpu"))
    from safetensors.torch import load_file, save_file

    weights.write_bytes(whole)
    tensors = load_file(weights)
    del tensors["blocks.0.attn1.to_q.weight"]
    save_file(tensors, weights, metadata={"format": "pt"})
    with pytest.raises(WeightsMissing, match=r"transformer: lacks blocks\.0\.attn1\.to_q\.weight"):
        open_pipeline(Settings(folder=copy, device="cpu"))
    index = copy / "model_index.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"_class_name": "WanImageToVideoPipeline"}))
    with pytest.raises(WeightsMissing, match="is of a WanImageToVideoPipeline, not of a WanPipeline"):
        open_pipeline(Settings(folder=copy, device="cpu"))


def test_without_the_library_it_says_how_to_get_it_and_only_when_it_is_needed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "diffusers", None)
    maker = load(SMALL)
    assert maker.identity["steps"] == 2
    with pytest.raises(registry.Unavailable, match=r"needs the package 'diffusers': pip install diffusers==0\.42\.1"):
        maker.make(Order("a", 1, 64, 32), tmp_path / "a.mp4")


def test_lengths_are_those_that_the_network_can_make():
    settings = Settings()
    assert [settings.frames(seconds) for seconds in (0.01, 0.3, 0.32, 1, 3.5, 5.06, 60)] == [5, 5, 5, 17, 57, 81, 81]
    assert all(frames % 4 == 1 for frames in map(settings.frames, np.linspace(0, 7, 50)))


@pytest.mark.parametrize(
    ("clip", "made"),
    [((1280, 720), (848, 480)), ((640, 640), (624, 624)), ((720, 1280), (480, 848)), ((4000, 20), (8944, 48))],
)
def test_sizes_have_the_clips_proportions(clip, made):
    assert Settings().size(*clip) == made


def test_frames_are_shown_as_long_as_they_last(tmp_path):
    levels = np.array([0, 60, 120, 180, 240], np.uint8)
    frames = np.broadcast_to(levels[:, None, None, None], (5, 32, 32, 3))
    write(frames, 16, tmp_path / "a.mp4")
    seen = [int(rgb[16, 16, 1]) for _, rgb in read_frames(tmp_path / "a.mp4")]
    # 16 a second shown at 24: of two frames the first is seen twice; frame i is the one of time i / 24
    assert np.allclose(seen, [0, 0, 60, 120, 120, 180, 240, 240], atol=3)


def test_what_is_asked_of_which_weights_is_the_identity(tmp_path):
    assert load({}).identity == load({"device": "cpu", "threads": 4}).identity
    assert load({}).identity != load({"seed": 1}).identity
    assert load({}).identity != load({"weights": "siglip2_base_224"}).identity
