"""The photographs and textures that scikit-image ships with its package, cut to size."""

from __future__ import annotations

import cv2
import numpy as np

COLOUR = ("astronaut", "chelsea", "coffee", "rocket", "immunohistochemistry")
DIM = ("hubble_deep_field", "retina", "stereo_motorcycle", "moon", "cell", "coins", "camera")  # with large dark or plain areas
TEXTURE = ("brick", "grass", "gravel")


def photograph(name: str, width_px: int, height_px: int) -> np.ndarray:
    """The picture's middle, scaled to fill, as uint8 RGB `(height_px, width_px, 3)`."""
    from skimage import data

    picture = getattr(data, name)()
    picture = np.asarray(picture[0] if isinstance(picture, tuple) else picture)  # of a stereo pair the left one
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    scale = max(width_px / picture.shape[1], height_px / picture.shape[0])
    size = (max(width_px, round(picture.shape[1] * scale)), max(height_px, round(picture.shape[0] * scale)))
    picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    left, top = (picture.shape[1] - width_px) // 2, (picture.shape[0] - height_px) // 2
    return np.ascontiguousarray(picture[top : top + height_px, left : left + width_px])
