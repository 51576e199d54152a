"""A clip and a page's render at the same times: as pictures for a model, and as a number that says how near they are.

The number looks at no annotation: it chooses among a model's own revisions, and must know nothing of what is scored later.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from codecap import video
from codecap.records import Clip
from codecap.showing.album import GROUND, Album
from codecap.showing.sheets import GAP_PX, Sheet, arrange
from codecap.showing.showing import Showing

LONGEST_PX = 640  # longest side of the frames that are compared
Criterion = Literal["ssim", "frame_similarity"]


class Likeness(Protocol):
    """How alike two videos are, frame by frame."""

    def see(self, reference: np.ndarray, render: np.ndarray) -> None:
        """Take two frames, uint8 RGB `(height, width, 3)` of one shape."""
        ...

    def value(self) -> float:
        """The mean over what was seen; higher is better, 1 for equal videos."""
        ...


class StructuralLikeness:
    """SSIM (Wang et al. 2004) of frames scaled down to 640 px."""

    told = f"mean SSIM at {LONGEST_PX} px"

    def __init__(self) -> None:
        self._values: list[float] = []

    def see(self, reference: np.ndarray, render: np.ndarray) -> None:
        from codecap.score.kss import ssim

        self._values.append(ssim(_small(reference), _small(render)))

    def value(self) -> float:
        return float(np.mean(self._values))


class EmbeddedLikeness:
    """Cosine of the embedded encoder's features, as in the metric `frame_similarity` with that encoder."""

    told = "mean cosine of EfficientNet features of frames"

    def __init__(self) -> None:
        from codecap import registry

        self._encoder = registry.make("score.encoders", "efficientnet", {})
        self._reference: list[np.ndarray] = []
        self._render: list[np.ndarray] = []

    def see(self, reference: np.ndarray, render: np.ndarray) -> None:
        self._reference.append(self._encoder.prepare(reference))
        self._render.append(self._encoder.prepare(render))

    def value(self) -> float:
        from codecap.score.visual_similarity import cosines

        embedded = [self._encoder.embed_frames(frames) for frames in (self._reference, self._render)]
        return float(cosines(*embedded).mean())


CRITERIA = {"ssim": StructuralLikeness, "frame_similarity": EmbeddedLikeness}


def _small(rgb: np.ndarray) -> np.ndarray:
    import cv2

    height_px, width_px = rgb.shape[:2]
    scale = min(LONGEST_PX / max(height_px, width_px), 1.0)
    size_px = (max(round(width_px * scale), 1), max(round(height_px * scale), 1))
    return rgb if scale == 1.0 else cv2.resize(rgb, size_px, interpolation=cv2.INTER_AREA)


def pair_sheets(clip: Clip, frames: Sequence[int], settings: Showing) -> list[Sheet]:
    """Pictures of pairs: the clip on the left, the render on the right."""
    return arrange([frames], (2 * clip.width_px + GAP_PX, clip.height_px), settings.endpoint.images, settings.limits)[0]


def pairs(clip: Clip, render_mp4: Path, sheets: Sequence[Sheet], settings: Showing, likeness: Likeness) -> Album:
    """Draw the pairs and tell `likeness` of them, in one pass over both videos.

    Args:
        render_mp4: of the clip's size and length.

    Raises:
        video.VideoError: one cannot be decoded.
    """
    album = Album(sheets, settings.picture)
    last = max(album.wanted) + 1
    left, right = video.decode(clip.mp4, stop=last), video.decode(render_mp4, stop=last)
    for (index, of_clip), (_, of_render) in zip(left, right, strict=True):
        if index in album.wanted:
            reference, render = video.to_rgb(of_clip), video.to_rgb(of_render)
            likeness.see(reference, render)
            gap = np.full((clip.height_px, GAP_PX, 3), GROUND, np.uint8)
            album.see(index, np.hstack([reference, gap, render]))
    return album
