"""Video segmenters of the library `transformers`: SAM 2 and SAM 3's tracker have the same session and the same processor.

The session is the library's own. Three things differ from its example loop: the frames are decoded when the session asks for them,
objects share the features of a frame, and what will never be read again is dropped (see `following`). None changes a bit of the
masks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from codecap import weights
from codecap.records import ObjectPrompt, ObjectTrack, PromptFrame, Row
from codecap.score.encoding.pretrained import load_pretrained, opening
from codecap.score.encoding.running import Hardware
from codecap.score.masks.aims import signed_points
from codecap.score.masks.following import PROCEDURE, Way, follow
from codecap.score.masks.frames import Frames
from codecap.score.segmenters import Segmented
from codecap.weights import WeightsMissing

OBJECT = 1  # its number in its session


class VideoSettings(Row):
    """Keys of the config that both have.

    Attributes:
        weights: entry of the table of weights.
        folder: a folder of your own instead, as `save_pretrained` writes it.
        device: `cpu`, `cuda` (an error where there is none), or `auto`: cuda where there is one; the protocol tells which it was.
        dtype: `fp32`, `bf16`, or `auto`: bf16 on cuda, fp32 on the CPU.
        threads: CPU threads of torch; numbers are compared across machines only with the same count.
    """

    weights: str
    folder: Path | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    threads: int = Field(default=1, ge=1)


@dataclass(frozen=True)
class Kind:
    """One of the library's video segmenters.

    Attributes:
        name: as a person says it.
        model, processor: names of the library's classes.
        model_types: what `config.json` may say that the checkpoint is.
    """

    name: str
    model: str
    processor: str
    model_types: tuple[str, ...]


def load(kind: Kind, settings: VideoSettings) -> TransformersSegmenter:
    """Load a checkpoint, every tensor of it and nothing else.

    Raises:
        WeightsMissing: there is none, or it is not whole or not of this kind.
    """
    import transformers

    found = weights.find(settings.weights, settings.folder)
    cure = "correct the setting folder" if settings.folder else f"run codecap weights fetch {settings.weights}"
    _check_type(kind, found.path, cure)
    model = load_pretrained(getattr(transformers, kind.model), found, cure)
    with opening(found.path, cure):
        processor = getattr(transformers, kind.processor).from_pretrained(found.path, local_files_only=True)
    hardware = Hardware.of(settings)
    return TransformersSegmenter(hardware.place(model), processor, hardware, f"{kind.name} {found.revision}")


def _check_type(kind: Kind, folder: Path, cure: str) -> None:
    """A checkpoint of another network loads into random weights with no more than a warning, if its names happen to fit."""
    path = folder / "config.json"
    try:
        said = json.loads(path.read_text(encoding="utf-8")).get("model_type")
    except FileNotFoundError as error:
        raise WeightsMissing(f"{path}: the file is missing; {cure}") from error
    except (OSError, ValueError, AttributeError) as error:
        raise WeightsMissing(f"{path}: is no JSON object; {cure}") from error
    if said not in kind.model_types:
        raise WeightsMissing(f"{path}: is of a {said!r}, not of {kind.name} ({' or '.join(kind.model_types)}); {cure}")


class TransformersSegmenter:
    """Objects of a clip, each in a session of the library.

    Args:
        model, processor: as the library loads them.
        said: the network and its weights, for the protocol.
    """

    proxy = False

    def __init__(self, model: Any, processor: Any, hardware: Hardware, said: str) -> None:
        self.model, self.processor, self.hardware = model, processor, hardware
        self.protocol = f"{said} (transformers), {processor.target_size} px, {hardware}, {PROCEDURE}"

    def segment(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> list[ObjectTrack]:
        """Follow each prompt through a canonical clip; see the protocol in `segmenters`."""
        return self.segment_masks(mp4, frames, prompts).tracks

    def segment_masks(self, mp4: Path, frames: int, prompts: Sequence[ObjectPrompt]) -> Segmented:
        """As `segment`, with the masks.

        Raises:
            ValueError: a prompt that is not absent has no frame with a box, or one after the video's end.
        """
        torch.set_num_threads(self.hardware.threads)
        with torch.inference_mode():
            return follow(mp4, frames, prompts, self._ready, self._begin)

    def _begin(self, pictures: Frames, objects: int) -> list[_Session]:
        cache = _open(self).cache
        return [_Session(self, pictures, cache) for _ in range(objects)]

    def _ready(self, rgb: np.ndarray) -> torch.Tensor:
        """What the processor makes of a frame: `(3, side, side)`, in the network's precision."""
        picture = torch.from_numpy(rgb).permute(2, 0, 1)[None]
        made = self.processor.video_processor(videos=[picture], device=self.hardware.device, return_tensors="pt")
        return made.pixel_values_videos[0, 0].to(self.hardware.dtype)


class _Session:
    """One object in a session of the library.

    Args:
        cache: of the features of one frame, which the sessions of a clip share.
    """

    def __init__(self, segmenter: TransformersSegmenter, pictures: Frames, cache: Any) -> None:
        self._model, self._processor = segmenter.model, segmenter.processor
        self._size = (pictures.height_px, pictures.width_px)
        self._session = _open(segmenter)
        self._session.video_height, self._session.video_width = self._size
        self._session.processed_frames = pictures
        self._session.cache = cache
        config = self._model.config
        self.reach = max(config.num_maskmem - 1, config.max_object_pointers_in_encoder)

    @property
    def memory(self) -> Iterable[Mapping[str, dict[int, Any]]]:
        return self._session.output_dict_per_obj.values()

    def prompt(self, frame: int, anchor: PromptFrame) -> None:
        points, labels = signed_points(anchor)
        self._processor.add_inputs_to_inference_session(
            self._session,
            frame_idx=frame,
            obj_ids=OBJECT,
            input_boxes=[[list(anchor.box_xyxy)]],
            input_points=[[[list(point) for point in points]]] if points else None,
            input_labels=[[labels]] if points else None,
        )
        self._model(self._session, frame_idx=frame)

    def propagate(self, start: int, most: int, reverse: bool) -> Way:
        found = self._model.propagate_in_video_iterator(
            self._session, start_frame_idx=start, max_frame_num_to_track=most, reverse=reverse
        )
        for output in found:
            self._drop_large(output.frame_idx)
            masks = self._processor.post_process_masks([output.pred_masks], original_sizes=[list(self._size)])[0]
            yield output.frame_idx, masks[0, 0].cpu().numpy()

    def _drop_large(self, frame: int) -> None:
        """The masks at the network's full size are read while their frame is current, and kept by the library for ever."""
        for kinds in self.memory:
            for outputs in kinds.values():
                outputs.get(frame, {}).pop("high_res_masks", None)


def _open(segmenter: TransformersSegmenter) -> Any:
    hardware = segmenter.hardware
    return segmenter.processor.init_video_session(inference_device=hardware.device, dtype=hardware.dtype)
