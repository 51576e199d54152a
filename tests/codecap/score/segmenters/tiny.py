"""Checkpoints of small random networks in the real file layouts, and the clip that they are shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from codecap.records import ObjectPrompt, PromptFrame
from codecap.video import CanonicalWriter

WIDTH_PX, HEIGHT_PX, FRAMES = 200, 120, 14  # not square, and more frames than the 7 masks that the networks look back
HIDDEN = 128  # the rotary tables and the fuser need it; memory is 64
MEMORY = {
    "memory_attention_hidden_size": HIDDEN,
    "memory_attention_feed_forward_hidden_size": 64,
    "memory_attention_num_layers": 2,
    "memory_encoder_hidden_size": HIDDEN,
    "memory_encoder_output_channels": 64,
    "mask_downsampler_embed_dim": HIDDEN,
    "memory_fuser_embed_dim": HIDDEN,
    "memory_fuser_intermediate_dim": 64,
}
PACKAGE_NETWORK = "configs/sam2.1/sam2.1_hiera_t.yaml"
PACKAGE_SIDE_PX = 128
PACKAGE_OVERRIDES = (
    f"++model.image_size={PACKAGE_SIDE_PX}",
    "model.image_encoder.trunk.embed_dim=16",
    "model.image_encoder.trunk.num_heads=1",
    "model.image_encoder.trunk.stages=[1,1,2,1]",
    "model.image_encoder.trunk.global_att_blocks=[3]",
    "++model.image_encoder.trunk.window_spec=[8,4,8,4]",
    "model.image_encoder.neck.backbone_channel_list=[128,64,32,16]",
    f"model.image_encoder.neck.d_model={HIDDEN}",
    f"model.image_encoder.neck.position_encoding.num_pos_feats={HIDDEN}",
    f"model.memory_attention.d_model={HIDDEN}",
    f"model.memory_attention.layer.d_model={HIDDEN}",
    "model.memory_attention.layer.dim_feedforward=64",
    "model.memory_attention.num_layers=2",
    f"model.memory_attention.layer.self_attention.embedding_dim={HIDDEN}",
    f"model.memory_attention.layer.cross_attention.embedding_dim={HIDDEN}",
    "model.memory_attention.layer.self_attention.feat_sizes=[8,8]",
    "model.memory_attention.layer.cross_attention.feat_sizes=[8,8]",
    f"++model.memory_encoder.in_dim={HIDDEN}",
    f"++model.memory_encoder.mask_downsampler.embed_dim={HIDDEN}",
    f"model.memory_encoder.fuser.layer.dim={HIDDEN}",
)


def randomise(network: torch.nn.Module, score_bias: torch.nn.Parameter) -> None:
    """Weights large enough that each input changes the masks, and an object score that suppresses no mask."""
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.05)
        score_bias.fill_(5.0)


def write_sam2(folder: Path) -> torch.nn.Module:
    """A SAM 2 video model and its processor, 128 px."""
    from transformers import Sam2ImageProcessor, Sam2VideoConfig, Sam2VideoModel, Sam2VideoProcessor, Sam2VideoVideoProcessor

    torch.manual_seed(0)
    side, sizes = 128, [[32, 32], [16, 16], [8, 8]]
    backbone = {
        "model_type": "sam2_hiera_det_model",
        "hidden_size": 16,
        "image_size": [side, side],
        "blocks_per_stage": [1, 1, 2, 1],
        "embed_dim_per_stage": [16, 32, 64, 128],
        "num_attention_heads_per_stage": [1, 2, 4, 8],
        "window_size_per_stage": [8, 4, 8, 4],
        "global_attention_blocks": [3],
    }
    vision = {
        "model_type": "sam2_vision_model",
        "backbone_config": backbone,
        "backbone_channel_list": [128, 64, 32, 16],
        "backbone_feature_sizes": sizes,
        "fpn_hidden_size": HIDDEN,
    }
    config = Sam2VideoConfig(
        vision_config=vision,
        prompt_encoder_config={"hidden_size": HIDDEN, "image_size": side},
        mask_decoder_config={"hidden_size": HIDDEN, "mlp_dim": 64, "iou_head_hidden_dim": HIDDEN},
        image_size=side,
        memory_attention_rope_feat_sizes=[8, 8],
        **MEMORY,
    )
    model = Sam2VideoModel(config).eval()
    randomise(model, model.mask_decoder.pred_obj_score_head.proj_out.bias)
    model.save_pretrained(folder)
    square = {"height": side, "width": side}
    Sam2VideoProcessor(
        image_processor=Sam2ImageProcessor(size=square, mask_size={"height": 32, "width": 32}),
        video_processor=Sam2VideoVideoProcessor(size=square),
    ).save_pretrained(folder)
    return model


def write_sam3(folder: Path) -> torch.nn.Module:
    """A SAM 3 tracker and its processor, 112 px."""
    from transformers import (
        Sam2VideoVideoProcessor,
        Sam3ImageProcessor,
        Sam3TrackerVideoConfig,
        Sam3TrackerVideoModel,
        Sam3TrackerVideoProcessor,
    )

    torch.manual_seed(0)
    side, patch, grid = 112, 14, 8
    backbone = {
        "model_type": "sam3_vit_model",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": side,
        "patch_size": patch,
        "window_size": 4,
        "global_attn_indexes": [1],
        "pretrain_image_size": 56,
    }
    vision = {
        "model_type": "sam3_vision_model",
        "backbone_config": backbone,
        "fpn_hidden_size": HIDDEN,
        "backbone_feature_sizes": [[4 * grid, 4 * grid], [2 * grid, 2 * grid], [grid, grid]],
    }
    config = Sam3TrackerVideoConfig(
        vision_config=vision,
        prompt_encoder_config={"hidden_size": HIDDEN, "image_size": side, "patch_size": patch},
        mask_decoder_config={"hidden_size": HIDDEN, "mlp_dim": 64, "iou_head_hidden_dim": HIDDEN},
        memory_attention_rope_feat_sizes=[grid, grid],
        **MEMORY,
    )
    config.image_size = side
    model = Sam3TrackerVideoModel(config).eval()
    randomise(model, model.mask_decoder.pred_obj_score_head.proj_out.bias)
    model.save_pretrained(folder)
    square = {"height": side, "width": side}
    Sam3TrackerVideoProcessor(
        image_processor=Sam3ImageProcessor(size=square, mask_size={"height": 4 * grid, "width": 4 * grid}),
        video_processor=Sam2VideoVideoProcessor(size=square),
    ).save_pretrained(folder)
    return model


def write_package_checkpoint(path: Path) -> None:
    """A checkpoint as Meta publishes SAM 2's: a file of torch with the tensors under `model`."""
    from sam2.build_sam import build_sam2_video_predictor

    torch.manual_seed(0)
    network = build_sam2_video_predictor(PACKAGE_NETWORK, None, device="cpu", hydra_overrides_extra=list(PACKAGE_OVERRIDES))
    randomise(network, network.sam_mask_decoder.pred_obj_score_head.layers[-1].bias)
    torch.save({"model": network.state_dict()}, path)


RED, BLUE = (200, 30, 30), (20, 40, 200)


def red_box(frame: int) -> tuple[int, int, int, int]:
    return (20 + 4 * frame, 40, 60 + 4 * frame, 70)


def blue_box(frame: int) -> tuple[int, int, int, int]:
    return (150 - 3 * frame, 80, 190 - 3 * frame, 110)


def write_clip(mp4: Path, frames: int = FRAMES) -> Path:
    """A red and a blue card that pass each other, without loss."""
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX, codec="lossless") as writer:
        for frame in range(frames):
            rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 230, np.uint8)
            for (x0, y0, x1, y1), colour in ((red_box(frame), RED), (blue_box(frame), BLUE)):
                rgb[y0:y1, max(x0, 0) : x1] = colour
            writer.add(rgb)
    return mp4


def prompts() -> list[ObjectPrompt]:
    """Two objects that are first prompted on different frames, one of them twice, one without points; and one that is absent."""
    red = [
        PromptFrame(frame=4, box_xyxy=red_box(4), positive_xy=[(56, 55), (60, 60)], negative_xy=[(150, 20)]),
        PromptFrame(frame=9, box_xyxy=red_box(9), positive_xy=[(76, 50)]),
    ]
    blue = [PromptFrame(frame=7, box_xyxy=blue_box(7))]
    return [
        ObjectPrompt(name="red", status="found", visible_s=[(0.0, 10.0)], frames=red),
        ObjectPrompt(name="nowhere", status="absent"),
        ObjectPrompt(name="blue", status="ambiguous", visible_s=[(1 / 24, 12 / 24)], frames=blue, detail="two look alike"),
    ]
