"""Pictures as a viewer sees them: against the BT.601 and BT.709 equations, numpy's turns, and geometry by hand."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest

from codecap.collect.picture import ToneCurve, Viewer, on_white, square_size

BT601 = (0.299, 0.114)
BT709 = (0.2126, 0.0722)
UNSPECIFIED = 2


def yuv_of(rgb: tuple[int, int, int], weights: tuple[float, float], full: bool) -> list[int]:
    """ITU-R BT.601 and BT.709: 8-bit Y, Cb, Cr of an RGB colour."""
    red, green, blue = (channel / 255 for channel in rgb)
    kr, kb = weights
    luma = kr * red + (1 - kr - kb) * green + kb * blue
    cb, cr = (blue - luma) / (2 * (1 - kb)), (red - luma) / (2 * (1 - kr))
    scale, foot, swing = (255, 0, 255) if full else (219, 16, 224)
    return [round(luma * scale + foot), round(cb * swing + 128), round(cr * swing + 128)]


def flat(yuv: list[int], height_px: int, width_px: int, colorspace: int = UNSPECIFIED, full: bool = False) -> av.VideoFrame:
    planes = np.empty((3, height_px, width_px), np.uint8)
    planes[:] = np.array(yuv, np.uint8)[:, None, None]
    frame = av.VideoFrame.from_ndarray(planes, format="yuv444p")
    frame.colorspace, frame.color_range = colorspace, 2 if full else 1
    return frame


@pytest.mark.parametrize(
    ("weights", "colorspace", "height_px", "full"),
    [
        (BT601, UNSPECIFIED, 32, False),  # small and untagged
        (BT601, UNSPECIFIED, 576, False),
        (BT709, UNSPECIFIED, 578, False),  # large and untagged
        (BT709, 1, 32, False),
        (BT601, 6, 720, False),
        (BT601, 5, 720, True),
        (BT709, 1, 720, True),
    ],
)
def test_colours_follow_the_tags(weights, colorspace, height_px, full):
    colour = (200, 60, 30)
    frame = flat(yuv_of(colour, weights, full), height_px, 32, colorspace, full)
    shown = Viewer(frame, None, ToneCurve()).rgb(frame)
    assert shown.shape == (height_px, 32, 3)
    assert np.abs(shown.astype(int) - colour).max() <= 2  # 8-bit YUV cannot do better


def test_transparent_pixels_lie_on_white():
    rgba = np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 0, 0, 128]]], np.uint8)
    frame = av.VideoFrame.from_ndarray(np.repeat(np.repeat(rgba, 4, 0), 4, 1), format="rgba")
    shown = Viewer(frame, None, ToneCurve()).rgb(frame)
    assert shown[0, ::4].tolist() == [[10, 20, 30], [255, 255, 255], [127, 127, 127]]


def test_opaque_pixels_stay_as_they_are():
    rgba = np.random.default_rng(0).integers(0, 256, (8, 8, 4), np.uint8)
    rgba[..., 3] = 255
    assert (on_white(rgba) == rgba[..., :3]).all()


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
@pytest.mark.parametrize("mirror", [None, "hflip", "vflip"])
def test_turned_and_mirrored_films_stand_upright(film, quarters, mirror):
    blocks = np.random.default_rng(1).integers(0, 256, (3, 5, 3), np.uint8).repeat(16, 0).repeat(16, 1)
    flips = {mirror: True} if mirror else {}
    path = film(
        "turned.mp4",
        [0, 1],
        pictures=[blocks, blocks],
        options={"crf": "4"},
        set_up=lambda stream: stream.set_display_rotation(90 * quarters, **flips),
    )
    wanted = np.rot90(blocks, quarters)  # counter-clockwise, then mirrored
    wanted = {None: wanted, "hflip": wanted[:, ::-1], "vflip": wanted[::-1]}[mirror]
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        viewer = Viewer(frame, None, ToneCurve())
        shown = viewer.rgb(frame)
    assert shown.shape == wanted.shape == (viewer.height_px, viewer.width_px, 3)
    inside = np.s_[4::16, 4::16]  # away from the blocks' edges, where 4:2:0 mixes colours
    assert np.abs(shown[inside].astype(int) - wanted[inside]).mean() < 12


@pytest.mark.parametrize(
    ("stored", "aspect", "shown"),
    [
        ((720, 576), Fraction(16, 15), (768, 576)),  # PAL 4:3
        ((720, 576), Fraction(64, 45), (1024, 576)),  # PAL 16:9
        ((1440, 1080), Fraction(4, 3), (1920, 1080)),  # HDV
        ((720, 480), Fraction(8, 9), (720, 540)),  # NTSC 4:3, no column lost
        ((640, 480), Fraction(1), (640, 480)),
        ((640, 480), None, (640, 480)),
    ],
)
def test_pixels_become_square(stored, aspect, shown):
    assert square_size(*stored, aspect) == shown
    frame = flat([128, 128, 128], stored[1], stored[0])
    assert Viewer(frame, aspect, ToneCurve()).rgb(frame).shape == (shown[1], shown[0], 3)


@pytest.mark.parametrize(("transfer", "signal"), [(16, 0.5807), (18, 0.75)])
def test_diffuse_white_of_both_hdr_systems_is_the_same_grey(transfer, signal):
    """BT.2408: 203 cd/m2 is 58 % of PQ and 75 % of HLG."""
    planes = np.empty((3, 16, 16), np.uint16)
    planes[:] = np.array([round(64 + 876 * signal), 512, 512], np.uint16)[:, None, None]
    frame = av.VideoFrame(16, 16, "yuv444p10le")
    for plane, values in zip(frame.planes, planes, strict=True):
        rows = np.zeros((16, plane.line_size // 2), np.uint16)
        rows[:, :16] = values
        plane.update(rows.tobytes())
    frame.colorspace, frame.color_range, frame.color_trc, frame.color_primaries = 9, 1, transfer, 9
    shown = Viewer(frame, None, ToneCurve()).rgb(frame)
    # the Möbius curve from 0.3 to 1000 / 203 takes 1 to 0.6786; BT.1886: 255 * 0.6786 ** (1 / 2.4) = 217
    assert np.abs(shown.astype(int) - 217).max() <= 2
