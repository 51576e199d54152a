"""A clip and an annotation that use all that the formats can be asked for."""

import pytest

from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint


def clip_of(frames=48, width_px=640, height_px=480, clip_id="A_001"):
    return Clip(
        clip_id=clip_id, category="A", mp4=f"clips/{clip_id}.mp4", sha256="0", frames=frames, width_px=width_px, height_px=height_px
    )


@pytest.fixture
def make_clip():
    return clip_of


@pytest.fixture
def clip():
    return clip_of()


@pytest.fixture
def annotation():
    """Two seconds: an object that moves straight on and then bends, one that comes back twice, one of a single frame at the end."""
    ball = [
        (10 + 1.37 * t, 20.123456, 40 + 1.37 * t, 51.5) if t < 30 else (51.1, 20 + t * t / 100, 81.1, 55 + t * t / 100)
        for t in range(48)
    ]
    back = [(0.0, 0.0, 640.0, 480.0) if t in (0, 1, 2, 10, 20, 21) else None for t in range(48)]
    last = [None] * 47 + [(600.25, 470.0, 640.0, 480.0)]
    return Annotation(
        clip_id="A_001",
        objects=[
            AnnotatedObject(
                name='ball "β" & <co>', description="A red ball\nwith ‘quotes’ & <marks>", boxes_xyxy=ball, visible_s=[(0.0, 2.0)]
            ),
            AnnotatedObject(name="window", boxes_xyxy=back, visible_s=[(0.0, 0.5), (20 / 24, 22 / 24)]),
            AnnotatedObject(name="pixel", description="x", boxes_xyxy=last, visible_s=[(47 / 24, 2.0)]),
        ],
        focal_points=[
            FocalPoint(
                focal_id="bounce",
                kind="dynamic",
                description="It bends\nthen falls",
                start_s=0.5,
                end_s=2.0,
                objects=['ball "β" & <co>'],
            ),
            FocalPoint(
                focal_id="p2", kind="static", description="The window", start_s=0.0, end_s=1 / 24, objects=["window", "pixel"]
            ),
        ],
        proposer="embedded 1",
    )
