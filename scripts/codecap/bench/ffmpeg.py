"""The ffmpeg program that the compared commands encode with. This project itself encodes in its own process."""

from __future__ import annotations

import shutil
from pathlib import Path

from codecap.errors import UserError


def find_ffmpeg() -> Path:
    """The one that the package imageio-ffmpeg brings, else the one on PATH.

    Raises:
        UserError: there is none.
    """
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        found = shutil.which("ffmpeg")
        if found is None:
            raise UserError(
                "bench render: the commands to compare with need ffmpeg: `pip install imageio-ffmpeg`, or an ffmpeg on PATH"
            ) from None
        return Path(found)
    return Path(imageio_ffmpeg.get_ffmpeg_exe())
