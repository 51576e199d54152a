"""What a user would write from the examples of the libraries: one picture or one clip at a time, in float32.

`codecap bench score` measures ours against these. Each takes the pictures that a metric looks at, uint8 RGB `(height, width, 3)`,
and gives float64 vectors `(n, dimensions)`: one a picture, or one for the video.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np

from codecap import weights

if TYPE_CHECKING:
    import torch

Loop = Callable[[list[np.ndarray], bool], np.ndarray]  # pictures, whether they are one video


def read_all(mp4: Path) -> list[np.ndarray]:
    """All frames of a video in memory, as PyAV's example has it."""
    with av.open(str(mp4)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def loop_of(encoder: str, settings: Mapping[str, Any]) -> Loop:
    """The plain loop for one of `ENCODERS`, its network loaded, with as many threads as the encoder's own settings say."""
    import torch

    torch.set_num_threads(settings.get("threads", 1))
    device = torch.device("cuda" if torch.cuda.is_available() and settings.get("device", "auto") != "cpu" else "cpu")
    return ENCODERS[encoder](settings, device)


def _one_by_one(embed: Callable[[np.ndarray], torch.Tensor]) -> Loop:
    import torch

    def loop(pictures: list[np.ndarray], video: bool) -> np.ndarray:
        with torch.no_grad():
            vectors = np.stack([embed(rgb).double().cpu().numpy().ravel() for rgb in pictures])
        return vectors.mean(axis=0, keepdims=True) if video else vectors

    return loop


def _efficientnet(settings: Mapping[str, Any], device: torch.device) -> Loop:
    import torch

    from codecap.score.encoders import efficientnet

    network = efficientnet.network().to(device)
    encoder = efficientnet.load({**settings})

    def features(rgb: np.ndarray) -> torch.Tensor:
        small = encoder.prepare(rgb)
        pixels = (torch.from_numpy(small).permute(2, 0, 1)[None].float() / 255 - 0.5) / 0.5
        return network(pixels.to(device))

    plain = _one_by_one(features)

    def loop(pictures: list[np.ndarray], video: bool) -> np.ndarray:
        vectors = plain(pictures, False)
        if not video:
            return vectors
        return np.concatenate([vectors.mean(axis=0), efficientnet.CHANGE_WEIGHT * vectors.std(axis=0)])[None]

    return loop


def _dreamsim(settings: Mapping[str, Any], device: torch.device) -> Loop:
    import torch
    from PIL import Image

    from codecap.score.encoders import dreamsim

    told = dreamsim.Settings.model_validate(dict(settings))
    kind = next(kind for kind, name in dreamsim.WEIGHTS.items() if name == told.weights)
    found = weights.find(told.weights, told.folder)
    model = dreamsim.build(found, kind, weights.cure(told.weights, told.folder), merged=False).to(device)
    for extractor in model.extractor_list:
        extractor.device = device

    def embed(rgb: np.ndarray) -> torch.Tensor:
        small = np.asarray(Image.fromarray(rgb).resize((224, 224), Image.Resampling.BICUBIC))
        return model.embed((torch.from_numpy(small.copy()).permute(2, 0, 1)[None].float() / 255).to(device))

    return _one_by_one(embed)


def _siglip2(settings: Mapping[str, Any], device: torch.device) -> Loop:
    from transformers import AutoImageProcessor, AutoModel

    from codecap.score.encoders import siglip2

    told = siglip2.Settings.model_validate(dict(settings))
    folder = weights.find(told.weights, told.folder).path
    processor = AutoImageProcessor.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval().to(device)
    return _one_by_one(lambda rgb: model.get_image_features(**processor(rgb, return_tensors="pt").to(device)).pooler_output)


def _vjepa2(settings: Mapping[str, Any], device: torch.device) -> Loop:
    import torch
    from transformers import AutoModel, AutoVideoProcessor

    from codecap.score.encoders import vjepa2

    told = vjepa2.Settings.model_validate(dict(settings))
    folder = weights.find(told.weights, told.folder).path
    processor = AutoVideoProcessor.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval().to(device)

    def embed(video: np.ndarray) -> torch.Tensor:
        shown = processor(torch.from_numpy(video).permute(0, 3, 1, 2), return_tensors="pt").to(device)
        return model(**shown).last_hidden_state.mean(dim=1)

    return _by_video(embed)


def _vjepa2_1(settings: Mapping[str, Any], device: torch.device) -> Loop:
    import torch

    from codecap.score.encoders import vjepa2_1

    encoder = vjepa2_1.load({**settings, "dtype": "fp32"})
    network = encoder.network

    def embed(video: np.ndarray) -> torch.Tensor:
        small = np.stack([encoder.prepare(rgb) for rgb in video])
        pixels = (torch.from_numpy(small).float() / 255 - torch.tensor(vjepa2_1.MEAN)) / torch.tensor(vjepa2_1.DEVIATION)
        return network(pixels.permute(3, 0, 1, 2)[None].to(device)).mean(dim=1)

    return _by_video(embed)


def _by_video(embed: Callable[[np.ndarray], torch.Tensor]) -> Loop:
    import torch

    def loop(pictures: list[np.ndarray], video: bool) -> np.ndarray:
        clips = [np.stack(pictures)] if video else [np.stack([rgb, rgb]) for rgb in pictures]
        with torch.no_grad():
            return np.concatenate([embed(clip).double().cpu().numpy() for clip in clips])

    return loop


ENCODERS = {
    "efficientnet": _efficientnet,
    "dreamsim": _dreamsim,
    "siglip2": _siglip2,
    "vjepa2": _vjepa2,
    "vjepa2_1": _vjepa2_1,
}
