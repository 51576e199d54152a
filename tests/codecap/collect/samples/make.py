"""Makes the samples and the table of what their frames are. To be run by hand, from the project folder:

python tests/codecap/collect/samples/make.py films     makes the films anew: encoders differ, so all hashes change
python tests/codecap/collect/samples/make.py hashes    writes frame_hashes.tsv anew: a change of it goes into CHANGELOG.md
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

FOLDER = Path(__file__).parent
TABLE = FOLDER / "frame_hashes.tsv"
DELAYS_MS = [70, 560, 40, 130]


def scene(number: int, width_px: int = 96, height_px: int = 64) -> np.ndarray:
    """Colours, texture that moves by two pixels a picture, and a block that jumps. uint8 RGB."""
    y, x = np.mgrid[:height_px, :width_px]
    picture = np.stack([x * 255 // width_px, y * 255 // height_px, (x + 2 * number) * 37 % 256], -1).astype(np.uint8)
    left = number * 11 % (width_px - 16)
    picture[8:24, left : left + 16] = (250, 30, 60)
    return picture


def film(name: str, codec: str, options: dict[str, str], *, pix_fmt: str = "yuv420p", **more: Any) -> None:
    """Write a film. `more`: `pts` and `time_base`, `rate`, `size`, `colours` by H.273, `turned` in degrees, `aspect` of pixels."""
    rate, size = Fraction(more.get("rate", 30)), more.get("size", (96, 64))
    pts, time_base = more.get("pts", range(20)), more.get("time_base", 1 / rate)
    with av.open(str(FOLDER / name), "w", options={"fflags": "+bitexact"}) as target:
        stream = target.add_stream(codec, rate=rate, options=options)
        stream.width, stream.height = size
        stream.pix_fmt = pix_fmt
        stream.time_base = stream.codec_context.time_base = time_base
        if "aspect" in more:
            stream.codec_context.sample_aspect_ratio = more["aspect"]
        if "turned" in more:
            stream.set_display_rotation(more["turned"])
        matrix, primaries, transfer = more.get("colours", (1, 1, 1))
        context = stream.codec_context
        context.colorspace, context.color_primaries, context.color_trc = matrix, primaries, transfer
        for number, stamp in enumerate(pts):
            frame = av.VideoFrame.from_ndarray(scene(number, *size), format="rgb24")
            frame.pts, frame.time_base = stamp, time_base
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))


def make_films() -> None:
    x264 = "keyint=8:min-keyint=8:scenecut=0:open-gop=1:bframes=2:b-adapt=0:threads=1"
    stamps = [0, 100, 150, 400, 420, 700, 710, 900, 940, 1000, 1010, 1020, 1030, 1200]
    film("variable_rate.mp4", "libx264", {"x264-params": x264}, pts=stamps, time_base=Fraction(1, 1000))
    film("interlaced.ts", "libx264", {"x264-params": f"{x264}:interlaced=1:tff=1"}, rate=25)
    film("turned.mp4", "libx264", {"x264-params": x264}, pix_fmt="yuv444p", size=(65, 49), turned=90)
    film("pq.mp4", "libx265", {"x265-params": "log-level=none:keyint=8:pools=none"}, pix_fmt="yuv420p10le", colours=(9, 9, 16))
    film("hlg.webm", "libsvtav1", {"preset": "10", "g": "8"}, pix_fmt="yuv420p10le", colours=(9, 9, 18))
    film("ntsc.webm", "libvpx-vp9", {"cpu-used": "4", "g": "8"}, rate=Fraction(30000, 1001))
    film("vp8.webm", "libvpx", {"cpu-used": "4", "g": "8"})
    film("wide.ts", "mpeg2video", {"bf": "2", "g": "8", "b": "400k"}, aspect=Fraction(16, 15), rate=25)
    film("mpeg4.avi", "mpeg4", {"bf": "2", "g": "8", "b": "300k"})
    film("mjpeg.avi", "mjpeg", {"qscale": "6"}, pix_fmt="yuvj420p", rate=15, pts=range(8))
    film("prores.mov", "prores_ks", {"profile": "0"}, pix_fmt="yuv422p10le", pts=range(4))
    for name, options in {"delays.gif": {}, "delays.apng": {"format": "png"}, "delays.webp": {"quality": 60}}.items():
        pictures = [Image.fromarray(scene(number)) for number in range(len(DELAYS_MS))]
        pictures[0].save(FOLDER / name, save_all=True, append_images=pictures[1:], duration=DELAYS_MS, **options)


def films() -> list[Path]:
    return sorted(path for path in FOLDER.iterdir() if path.suffix not in (".py", ".tsv", ".pyc") and path.is_file())


def frame_hashes(path: Path) -> Iterator[tuple[str, str]]:
    """Frames of the 24 fps clock (`3-5`: 3 and 4) and the SHA-256 of the RGB that they show; last, that of the clip's file."""
    from codecap.collect.ingest import ingest_file
    from codecap.collect.onscreen import on_screen

    for one in on_screen(path):
        yield f"{one.start}-{one.stop}", hashlib.sha256(np.ascontiguousarray(one.rgb()).tobytes()).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        yield "clip", ingest_file(path, Path(folder) / "clip.mp4").sha256


def write_table() -> None:
    rows = [f"{path.name}\t{frames}\t{digest}" for path in films() for frames, digest in frame_hashes(path)]
    TABLE.write_text("\n".join(["film\tframes\tsha256", *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    {"films": make_films, "hashes": write_table}[sys.argv[1]]()
