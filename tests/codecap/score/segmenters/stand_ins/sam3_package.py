"""A stand-in for Meta's package `sam3`, with the entry points and the state of its multiplex tracker, that follows a colour.

It stores what it finds under the same keys as the real one, and refuses to go on when the outputs that the real one would read
(the last 7 masks, the last 16 object pointers) are not there. `write(folder)` makes a checkout of it.
"""

from pathlib import Path

BUILDER = """
import torch
from torch import nn

from sam3.model.io_utils import load_video_frames

REACH = 16


class Tracker(nn.Module):
    image_size, num_maskmem, max_obj_ptrs_in_encoder = 160, 7, REACH

    def __init__(self):
        super().__init__()
        self.backbone = nn.Module()
        self.backbone.vision_backbone = nn.Linear(2, 3)
        self.backbone.vision_backbone.register_buffer("freqs_cis_real", torch.zeros(4))
        self.maskmem_backbone = nn.Linear(3, 3)
        self.backbone_runs, self.prompted = [], []

    def init_state(self, video_path, offload_video_to_cpu, offload_state_to_cpu, async_loading_frames=False):
        images, height, width = load_video_frames(video_path, self.image_size, offload_video_to_cpu)
        empty = lambda: {"cond_frame_outputs": {}, "non_cond_frame_outputs": {}}
        return {
            "images": images, "num_frames": len(images), "video_height": height, "video_width": width, "cached_features": {},
            "output_dict": empty(), "output_dict_per_obj": {0: empty()}, "preflight": False,
        }

    def _features(self, state, frame):
        if frame not in state["cached_features"]:
            self.backbone_runs.append(frame)
            state["cached_features"] = {frame: state["images"][frame].float()}
        return state["cached_features"][frame]

    def add_new_points(self, inference_state, frame_idx, obj_id, points, labels, clear_old_points, rel_coordinates=True):
        assert labels[:2].tolist() == [2, 3] and rel_coordinates and clear_old_points and points.dtype == torch.float32
        self.prompted.append((frame_idx, obj_id, points.clone(), labels.clone()))
        image = self._features(inference_state, frame_idx)
        inside = points[labels == 1]
        x, y = (inside[0] if len(inside) else points[:2].mean(0)) * self.image_size
        inference_state["colour"] = image[:, int(y), int(x)]
        self._keep(inference_state, "cond_frame_outputs", frame_idx, self._mask(inference_state, frame_idx))

    def _mask(self, state, frame):
        far = (self._features(state, frame) - state["colour"][:, None, None]).abs().amax(0)
        return (0.05 - far)[None, None]

    def _keep(self, state, kind, frame, mask):
        state["output_dict"][kind][frame] = {"pred_masks": mask}
        state["output_dict_per_obj"][0][kind][frame] = {"pred_masks": mask}

    def propagate_in_video_preflight(self, inference_state, run_mem_encoder=True):
        inference_state["preflight"] = True

    def propagate_in_video(self, inference_state, start_frame_idx, max_frame_num_to_track, reverse, tqdm_disable=False):
        state, kept = inference_state, inference_state["output_dict"]
        assert state["preflight"] and kept["cond_frame_outputs"] and tqdm_disable
        last = max(start_frame_idx - max_frame_num_to_track, 0) if reverse else start_frame_idx + max_frame_num_to_track
        step = -1 if reverse else 1
        seen = []
        for frame in range(start_frame_idx, min(last, state["num_frames"] - 1) + step, step):
            there = kept["non_cond_frame_outputs"].keys() | kept["cond_frame_outputs"].keys()
            lost = [one for one in seen[-REACH:] if one not in there]
            assert not lost, f"frame {frame}: frames {lost} were dropped too early"
            mask = self._mask(state, frame)
            if frame not in kept["cond_frame_outputs"]:
                self._keep(state, "non_cond_frame_outputs", frame, mask)
            seen.append(frame)
            size = (state["video_height"], state["video_width"])
            yield frame, [0], mask, nn.functional.interpolate(mask, size, mode="bilinear", align_corners=False)


def build_sam3_multiplex_video_model(checkpoint_path=None, multiplex_count=16, use_fa3=True, device="cuda", compile=False):
    assert checkpoint_path is None and not use_fa3
    return Tracker().to(device)
"""
LOADER = """
import os

import numpy as np
import torch
from PIL import Image
from tqdm import tqdm


def load_video_frames(video_path, image_size, offload_video_to_cpu, img_mean=(0.5, 0.5, 0.5), img_std=(0.5, 0.5, 0.5)):
    names = sorted(os.listdir(video_path), key=lambda name: int(name.split(".")[0]))
    images = torch.zeros(len(names), 3, image_size, image_size, dtype=torch.float16)
    for place, name in enumerate(tqdm(names)):
        picture = Image.open(os.path.join(video_path, name)).convert("RGB")
        width, height = picture.size
        scaled = np.array(picture.resize((image_size, image_size), Image.BILINEAR)) / 255.0
        images[place] = torch.from_numpy(scaled).permute(2, 0, 1)
    return (images - 0.5) / 0.5, height, width
"""


def write(folder: Path) -> Path:
    """A checkout of the stand-in; its package is `sam3`."""
    package = folder / "sam3"
    (package / "model").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "model/__init__.py": "",
        "model_builder.py": BUILDER,
        "model/io_utils.py": LOADER,
    }.items():
        (package / name).write_text(text)
    return folder
