"""Segmenter `sam2_package`: SAM 2.1 by Meta's own code, from the package `sam2`, with a checkpoint as Meta publishes it.

The package's state is used as it is, with two exceptions. It wants a folder of numbered JPEGs, which it reads whole into memory;
here it gets the frames as they are decoded, by its own arithmetic and without the losses of a JPEG. And what it will never read
again is dropped (see `masks.following`). It fills no holes in the masks: that needs a compiled extension, which PyPI's has not.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from PIL import Image
from pydantic import Field

from codecap import weights
from codecap.records import ObjectPrompt, ObjectTrack, PromptFrame, Row
from codecap.registry import Unavailable
from codecap.score.encoding.running import Hardware
from codecap.score.masks.aims import signed_points
from codecap.score.masks.checkpoints import fill, tensors
from codecap.score.masks.following import PROCEDURE, SharedFeatures, Way, follow
from codecap.score.masks.frames import Frames
from codecap.score.segmenters import Segmented

PACKAGE = "sam2"  # imported when it is loaded
INSTALL = "pip install 'codecap[sam2]'; it is an upload of Meta's code by others: take no other version than the extra names"
OBJECT = 1  # its number in its state
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # the package's, of ImageNet


class Settings(Row):
    """Keys of the config.

    Attributes:
        weights: entry of the table of weights.
        checkpoint: a file of your own instead, with the tensors under the key `model`.
        network: the package's description of the network that fits the checkpoint.
        overrides: changes of that description, as hydra writes them, for a network of your own.
        device: `cpu`, `cuda` (an error where there is none), or `auto`: cuda where there is one; the protocol tells which it was.
        dtype: `fp32`, `bf16`, or `auto`: bf16 on cuda, fp32 on the CPU. bf16 is torch's autocast, as Meta's examples run it.
        threads: CPU threads of torch; numbers are compared across machines only with the same count.
    """

    weights: str = "sam2_1_hiera_large_pt"
    checkpoint: Path | None = None
    network: str = "configs/sam2.1/sam2.1_hiera_l.yaml"
    overrides: tuple[str, ...] = ()
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    threads: int = Field(default=1, ge=1)


def load(settings: Mapping[str, Any]) -> PackageSegmenter:
    """Build the network and fill it, every tensor of the checkpoint and nothing else; once a shard.

    Raises:
        Unavailable: the package is not installed, or has no such network.
        WeightsMissing: there is no checkpoint, or it is not whole or not of this network.
    """
    chosen = Settings.model_validate(dict(settings))
    found = weights.find(chosen.weights, chosen.checkpoint)
    cure = "correct the setting checkpoint" if chosen.checkpoint else f"run codecap weights fetch {chosen.weights}"
    hardware = Hardware.of(chosen)
    torch.set_num_threads(chosen.threads)
    predictor = _built(chosen)
    fill(predictor, tensors(found.path, cure), found.path, cure)
    predictor.requires_grad_(False).to(hardware.device)
    return PackageSegmenter(predictor, hardware, f"SAM 2.1 {found.revision}")


def _built(settings: Settings) -> Any:
    try:
        import sam2.sam2_video_predictor
        import sam2.utils.misc
        from hydra.errors import HydraException
        from sam2.build_sam import build_sam2_video_predictor
        from tqdm import tqdm
    except ModuleNotFoundError as error:
        raise Unavailable(f"segmenter sam2_package needs the package {error.name!r}: {INSTALL}") from error
    for module in (sam2.sam2_video_predictor, sam2.utils.misc):  # they draw bars into the log, and have no switch
        module.tqdm = partial(tqdm, disable=True)
    try:
        predictor = build_sam2_video_predictor(
            settings.network, ckpt_path=None, device="cpu", hydra_overrides_extra=list(settings.overrides)
        )
    except HydraException as error:
        raise Unavailable(f"segmenter sam2_package: network {settings.network!r}: {' '.join(str(error).split())[:300]}") from error
    predictor.fill_hole_area = 0
    return predictor


class PackageSegmenter:
    """Objects of a clip, each in a state of the package."""

    proxy = False

    def __init__(self, predictor: Any, hardware: Hardware, said: str) -> None:
        self.predictor, self.hardware = predictor, hardware
        self.protocol = f"{said} (package sam2), {predictor.image_size} px, {hardware}, {PROCEDURE}"

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        """Follow each prompt through a canonical clip; see the protocol in `segmenters`."""
        return self.segment_masks(mp4, frames, prompts).tracks

    def segment_masks(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> Segmented:
        """As `segment`, with the masks.

        Raises:
            ValueError: a prompt that is not absent has no frame with a box, or one after the video's end.
        """
        ready = partial(prepared, side_px=self.predictor.image_size)
        with self.hardware.computing():
            return follow(mp4, frames, prompts, ready, self._begin)

    def _begin(self, pictures: Frames, objects: int) -> list[_Session]:
        with tempfile.TemporaryDirectory(prefix="codecap-sam2-") as folder:  # one black frame: it takes the size from it
            Image.new("RGB", (pictures.width_px, pictures.height_px)).save(Path(folder) / "0.jpg")
            blank = self.predictor.init_state(folder, offload_video_to_cpu=True)
        blank.update(images=None, num_frames=len(pictures), cached_features={})
        features = SharedFeatures()
        states = [{**copy.deepcopy(blank), "images": pictures} for _ in range(objects)]
        return [_Session(self.predictor, state, features) for state in states]


def prepared(rgb: np.ndarray, side_px: int) -> torch.Tensor:
    """A frame as the package makes it ready: float32 `(3, side, side)` from uint8 RGB `(height, width, 3)`."""
    scaled = np.array(Image.fromarray(rgb).resize((side_px, side_px))) / 255.0
    picture = torch.from_numpy(scaled).permute(2, 0, 1).to(torch.float32)
    return (picture - torch.tensor(MEAN)[:, None, None]) / torch.tensor(DEVIATION)[:, None, None]


class _Session:
    """One object in a state of the package; `features` of a frame are shared with the clip's other objects."""

    def __init__(self, predictor: Any, state: dict[str, Any], features: SharedFeatures) -> None:
        self._predictor, self._state, self._features = predictor, state, features
        stride = predictor.memory_temporal_stride_for_eval
        self.reach = max((predictor.num_maskmem - 1) * stride, predictor.max_obj_ptrs_in_encoder)

    @property
    def memory(self) -> Iterable[Mapping[str, dict[int, Any]]]:
        return self._state["output_dict_per_obj"].values()

    def prompt(self, frame: int, anchor: PromptFrame) -> None:
        points, labels = signed_points(anchor)
        with self._features.lent(self._state):
            self._predictor.add_new_points_or_box(
                self._state,
                frame_idx=frame,
                obj_id=OBJECT,
                box=list(anchor.box_xyxy),
                points=points or None,
                labels=labels or None,
            )

    def propagate(self, start: int, most: int, reverse: bool) -> Way:
        way = self._predictor.propagate_in_video(self._state, start_frame_idx=start, max_frame_num_to_track=most, reverse=reverse)
        for frame, _, logits in self._features.stepped(self._state, way):
            yield frame, (logits[0, 0] > 0).cpu().numpy()
