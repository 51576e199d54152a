"""What a person saw who scored a focal point, as one digest: when it changes, the score is of something else."""

from __future__ import annotations

from codecap.records import Clip, FocalPoint, Render
from codecap.store import digest_of


def shown_digest(clip: Clip, render: Render, point: FocalPoint) -> str:
    """Digest of the clip, the render's video, and what the focal point says."""
    video = render.certificate.mp4_sha256 if render.certificate and render.certificate.mp4_sha256 else render.key
    words = point.model_dump(mode="json", include={"kind", "description", "start_s", "end_s"})
    return digest_of([clip.sha256, video, words])
