"""Is a clip's file what the clips table says it is?"""

from __future__ import annotations

from codecap.records import Clip
from codecap.video import VideoError, file_sha256, probe


def check_file(clip: Clip) -> None:
    """Called before anything is made of a clip: what is stored under its digest must come from that very file.

    Raises:
        VideoError: the file is missing, cannot be read, or is not the one of the table; the message says how they differ.
    """
    try:
        sha256 = file_sha256(clip.mp4)
    except OSError as error:
        raise VideoError(f"{clip.mp4}: {error.strerror}; put the clip's file there, or correct the clips table") from error
    if sha256 != clip.sha256:
        raise VideoError(f"{clip.mp4}: is not the file of the clips table (its sha256 differs); ingest it again or mend the table")
    info = probe(clip.mp4)
    told, found = (clip.frames, clip.width_px, clip.height_px), (info.frames, info.width_px, info.height_px)
    if told != found:
        described = ["{} frames of {}x{} px".format(*facts) for facts in (found, told)]
        raise VideoError(f"{clip.mp4}: has {described[0]}, the clips table says {described[1]}; mend the table")
