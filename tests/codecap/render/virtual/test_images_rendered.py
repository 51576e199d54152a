"""Animated pictures in videos: frames that Pillow wrote, at times computed by hand."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

ENGINES = ["beginframe", "playwright"]
STILL = "<script>window.seek = () => {}</script>"
UNEVEN_MS = [40, 250, 90, 10, 20]
UNEVEN_SHOWN_MS = [40, 250, 90, 100, 20]  # a frame of at most 10 ms is shown for 100 ms, as browsers do


def page_of(address: str) -> str:
    return f"<!doctype html><body style='margin:0'><img src='{address}' width=160 height=96 style='display:block'>{STILL}"


def numbers(frames: list[np.ndarray], off_by: int = 0) -> list[int]:
    """Which frame of the picture each frame of the video shows, all over it; its level is told to `off_by` steps."""
    shown = [round((float(rgb.mean()) - 10) / 20) for rgb in frames]
    for number, rgb in zip(shown, frames, strict=True):
        assert (abs(rgb.astype(int) - 10 - 20 * number) <= off_by).all()
    return shown


def due(count: int, shown_ms: list[int]) -> list[int]:
    """The frame of the picture that is due at each of the first frames of 24 in a second, in whole microseconds."""
    ends_us = np.cumsum(shown_ms) * 1000
    return [int(np.searchsorted(ends_us, round(index * 1e6 / 24) % ends_us[-1], side="right")) for index in range(count)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "AVIF"])
def test_each_frame_is_shown_at_its_time_forwards_and_backwards(render, address_of, kind, engine):
    how = {"AVIF": {"range": "limited"}, "WEBP": {"lossless": True, "loop": 0}}.get(kind, {"loop": 0})
    page = page_of(address_of(kind, 5, UNEVEN_MS, **how))
    done = render(page, 14, engine=engine, codec="lossless", repeat_samples=3)
    assert done.certificate.seek_repeatable is True
    assert numbers(done.frames(), 3 if kind == "AVIF" else 0) == due(14, UNEVEN_SHOWN_MS)
    again = render(page, 14, engine=engine, codec="lossless", name="again")
    assert again.certificate.frames_sha256 == done.certificate.frames_sha256


def test_images_in_shadow_roots_and_in_frames_of_the_page_follow(render, address_of):
    address = address_of("GIF", 4, 100, loop=0)
    image = f"<img src={address} style=width:80px;height:96px;display:block>"
    page = f"""<!doctype html><body style="margin:0;display:flex"><div id=host></div>
        <iframe srcdoc="<body style=margin:0>{image}" style="border:0;width:80px;height:96px"></iframe>
        <script>host.attachShadow({{ mode: 'closed' }}).innerHTML = '{image}'</script>{STILL}"""
    for engine in ENGINES:
        assert numbers(render(page, 8, engine=engine, codec="lossless").frames()) == due(8, [100] * 4)


def test_still_or_moving_it_is_drawn_to_the_pixel_as_a_still_png(render):
    picture = Image.fromarray(np.random.default_rng(3).integers(0, 255, (24, 40, 3), dtype=np.uint8)).quantize(64)
    other = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    hashes = set()
    for kind in ("GIF", "PNG"):
        still, moving = io.BytesIO(), io.BytesIO()
        picture.save(still, kind)
        picture.save(moving, kind, save_all=True, append_images=[other], duration=10_000, loop=0)
        for file in (still, moving):
            address = f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"
            hashes.add(render(page_of(address), 2, codec="lossless").certificate.frames_sha256)
    assert len(hashes) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_found_in_the_page_is_its_own_picture_only(render, address_of, engine):
    page = page_of(address_of("GIF", 4, 100, loop=0))
    told = [finding for finding in render(page, 8, engine=engine).certificate.purity if "at run time" in finding]
    assert told == ["at run time: made an image of its own data (image/gif)"]
