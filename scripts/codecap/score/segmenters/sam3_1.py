"""Segmenter `sam3_1`: the multiplex tracker of SAM 3.1, the paper's segmenter, by Meta's own package `sam3` where it is installed.

The package is in no registry and its weights are gated, so this is written to its published entry points: the builder
`sam3.model_builder.build_sam3_multiplex_video_model`, and of what it builds `init_state`, `add_new_points`, `propagate_in_video`.
A box goes in as its two corners with the labels 2 and 3, ahead of the points, as these networks are trained. Each object has a
state of its own, as in Meta's predictor for objects that are prompted by points. The checkpoint is checked tensor by tensor,
because the package only prints what does not fit.
"""

from __future__ import annotations

import importlib
import sys
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
from codecap.score.masks.checkpoints import check, tensors
from codecap.score.masks.following import PROCEDURE, SharedFeatures, Way, follow
from codecap.score.masks.frames import Frames
from codecap.score.segmenters import Segmented

PACKAGE = "sam3"  # imported when it is loaded
INSTALL = (
    "it needs Python 3.12 and Meta's repository: pip install git+https://github.com/facebookresearch/sam3, or set `code` to the "
    "folder of a checkout; without it take segmenter sam3 or sam2"
)
FILE = "sam3.1_multiplex.pt"
OBJECT = 1  # its number in its state
BOX_LABELS = [2, 3]  # upper left and lower right corner
PARTS = {"tracker.model.": "", "detector.backbone.": "backbone."}  # of the checkpoint, and where the tracker has them


class Settings(Row):
    """Keys of the config.

    Attributes:
        weights: entry of the table of weights.
        checkpoint: a file of your own instead.
        code: folder of a checkout of the package, where it is not installed.
        device: the package computes on `cuda` only; `cpu` is for a copy of it that was changed for that.
        dtype: `fp32`, `bf16` (torch's autocast, as the package's own predictor does), or `auto`: bf16 on cuda.
        threads: CPU threads of torch.
    """

    weights: str = "sam3_1"
    checkpoint: Path | None = None
    code: Path | None = None
    device: Literal["cuda", "cpu"] = "cuda"
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    threads: int = Field(default=1, ge=1)


def load(settings: Mapping[str, Any]) -> MultiplexSegmenter:
    """Build the tracker and fill it, every tensor of it; once a shard.

    Raises:
        Unavailable: the package is not there, or is of a version without this tracker.
        NoDevice: there is no GPU.
        WeightsMissing: there is no checkpoint, or it is not whole or not of this network.
    """
    chosen = Settings.model_validate(dict(settings))
    hardware = Hardware.of(chosen)
    builder, loader = _package(chosen.code)
    found = weights.find(chosen.weights, chosen.checkpoint)
    path = found.path / FILE if found.path.is_dir() else found.path
    cure = "correct the setting checkpoint" if chosen.checkpoint else f"run codecap weights fetch {chosen.weights}"
    torch.set_num_threads(chosen.threads)
    tracker = builder(checkpoint_path=None, use_fa3=False, device=hardware.device.type)
    _fill(tracker, tensors(path, cure), path, cure)
    tracker.eval().requires_grad_(False).to(hardware.device)
    said = f"SAM 3.1 multiplex {found.revision} (package sam3 {_version()})"
    return MultiplexSegmenter(tracker, loader, hardware, said)


def _package(code: Path | None) -> tuple[Any, Any]:
    """The package's builder of the tracker, and its loader of frames."""
    if code is not None and str(code) not in sys.path:
        sys.path.insert(0, str(code))
    try:
        builder = importlib.import_module("sam3.model_builder").build_sam3_multiplex_video_model
        pictures = importlib.import_module("sam3.model.io_utils")
    except ModuleNotFoundError as error:
        raise Unavailable(f"segmenter sam3_1 needs the package {error.name!r}: {INSTALL}") from error
    except AttributeError as error:
        raise Unavailable(f"segmenter sam3_1: the installed sam3 is older than SAM 3.1: {INSTALL}") from error
    pictures.tqdm = lambda steps, **_: steps  # it draws a bar for every frame into the log, and has no switch
    return builder, pictures.load_video_frames


def _version() -> str:
    """Which code of Meta's it is: its releases do not change the version, so a digest of the package's files tells."""
    return weights.digest(Path(sys.modules["sam3"].__file__).parent)[: weights.SHOWN]


def _fill(tracker: torch.nn.Module, held: Mapping[str, torch.Tensor], path: Path, cure: str) -> None:
    """Of the merged checkpoint of detector and tracker, the tracker's tensors and the backbone's that it shares."""
    wanted = tracker.state_dict()
    mine = {}
    for key, tensor in held.items():
        for prefix, instead in PARTS.items():
            name = instead + key.removeprefix(prefix)
            if key.startswith(prefix) and (name in wanted or prefix == "tracker.model."):
                mine[name] = tensor
    mine = {key: tensor for key, tensor in mine.items() if not _is_computed(key)}
    check(tracker, mine, path, cure, computed=_is_computed)
    tracker.load_state_dict(mine, strict=False)  # not strict for what is computed


def _is_computed(key: str) -> bool:
    """Tables of rotary position embeddings follow from the network's size; the file has them in another form."""
    return "freqs_cis" in key


class MultiplexSegmenter:
    """All objects of a clip, each in a state of the package.

    Args:
        loader: the package's function from a folder of pictures to frames as the network takes them.
    """

    proxy = False

    def __init__(self, tracker: Any, loader: Any, hardware: Hardware, said: str) -> None:
        self.tracker, self.loader, self.hardware = tracker, loader, hardware
        self.protocol = f"{said}, {tracker.image_size} px, {hardware}, {PROCEDURE}"

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        """Follow each prompt through a canonical clip; see the protocol in `segmenters`."""
        return self.segment_masks(mp4, frames, prompts).tracks

    def segment_masks(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> Segmented:
        """As `segment`, with the masks.

        Raises:
            ValueError: a prompt that is not absent has no frame with a box, or one after the video's end.
        """
        with self.hardware.computing(), tempfile.TemporaryDirectory(prefix="codecap-sam3-") as folder:
            ready = partial(self._ready, folder=Path(folder))
            return follow(mp4, frames, prompts, ready, partial(self._begin, Path(folder)))

    def _begin(self, folder: Path, pictures: Frames, objects: int) -> list[_Session]:
        Image.new("RGB", (pictures.width_px, pictures.height_px)).save(folder / "0.png")  # it takes the size from it
        features = SharedFeatures()
        sessions = []
        for _ in range(objects):
            state = self.tracker.init_state(video_path=str(folder), offload_video_to_cpu=True, offload_state_to_cpu=False)
            state.update(images=pictures, num_frames=len(pictures))
            sessions.append(_Session(self.tracker, state, features))
        return sessions

    def _ready(self, rgb: np.ndarray, folder: Path) -> torch.Tensor:
        """A frame as the package loads it, `(3, side, side)`: its loader reads files, here one without losses."""
        Image.fromarray(rgb).save(folder / "0.png", compress_level=1)
        pictures, _, _ = self.loader(video_path=str(folder), image_size=self.tracker.image_size, offload_video_to_cpu=True)
        return pictures[0]


class _Session:
    """One object in a state of the package; `features` of a frame are shared with the clip's other objects."""

    def __init__(self, tracker: Any, state: dict[str, Any], features: SharedFeatures) -> None:
        self._tracker, self._state, self._features = tracker, state, features
        self._size = np.array([state["video_width"], state["video_height"]], np.float32)
        self.reach = max(tracker.num_maskmem, tracker.max_obj_ptrs_in_encoder)

    @property
    def memory(self) -> Iterable[Mapping[str, dict[int, Any]]]:
        return [self._state["output_dict"], *self._state["output_dict_per_obj"].values()]

    def prompt(self, frame: int, anchor: PromptFrame) -> None:
        points, labels = signed_points(anchor)
        corners = [anchor.box_xyxy[:2], anchor.box_xyxy[2:]]
        with self._features.lent(self._state):
            self._tracker.add_new_points(
                self._state,
                frame_idx=frame,
                obj_id=OBJECT,
                points=torch.from_numpy(np.array([*corners, *points], np.float32) / self._size),
                labels=torch.tensor([*BOX_LABELS, *labels], dtype=torch.int32),
                clear_old_points=True,
                rel_coordinates=True,
            )

    def propagate(self, start: int, most: int, reverse: bool) -> Way:
        with self._features.lent(self._state):
            self._tracker.propagate_in_video_preflight(self._state)
        way = self._tracker.propagate_in_video(self._state, start, most, reverse, tqdm_disable=True)
        for frame, _, _, logits in self._features.stepped(self._state, way):
            yield frame, (logits[0, 0] > 0).cpu().numpy()
