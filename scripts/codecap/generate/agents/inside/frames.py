"""frames (--at SECONDS ... | --every SECONDS) [--from SECONDS] [--to SECONDS] [-o FOLDER]

Writes frames of the reference video as FOLDER/<seconds>.png: what is on screen at that time. FOLDER is `frames` by default.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path

from asking import seconds

FPS = 24
MOST = 2000


def main() -> int:
    parser = argparse.ArgumentParser("frames", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--at", nargs="+", type=seconds, action="extend", metavar="SECONDS")
    which.add_argument("--every", type=seconds, metavar="SECONDS")
    parser.add_argument("--from", dest="start", type=seconds, default=0.0, metavar="SECONDS")
    parser.add_argument("--to", dest="stop", type=seconds, default=math.inf, metavar="SECONDS")
    parser.add_argument("-o", "--out", default="frames", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    if asked.every is not None and not asked.every >= 1 / FPS:
        parser.error(f"--every must be at least 1/{FPS} s")
    return write_frames(asked)


def write_frames(asked: argparse.Namespace) -> int:
    import av

    video = os.environ.get("CODECAP_VIDEO", "/input/video.mp4")
    try:
        container = av.open(video)
    except (OSError, av.FFmpegError) as error:
        sys.exit(f"{video}: {error}")
    with container:
        wanted = indices(asked, container.streams.video[0].frames)
        asked.out.mkdir(parents=True, exist_ok=True)
        for index, frame in enumerate(container.decode(video=0)):
            if index > wanted[-1]:
                break
            if index in wanted:
                place = asked.out / f"{index / FPS:.3f}.png"
                picture_of(frame).save(place)
                print(place)
    return 0


def picture_of(frame):
    """A frame of a canonical clip (BT.709, limited range) as the scores see it."""
    from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

    exact = Interpolation.BICUBIC | Interpolation.FULL_CHR_H_INT | Interpolation.FULL_CHR_H_INP | Interpolation.ACCURATE_RND
    spaces = {"src_colorspace": Colorspace.ITU709, "dst_colorspace": Colorspace.DEFAULT}
    ranges = {"src_color_range": ColorRange.MPEG, "dst_color_range": ColorRange.JPEG}
    return VideoReformatter().reformat(frame, format="rgb24", **spaces, **ranges, interpolation=exact, threads=1).to_image()


def indices(asked: argparse.Namespace, frames: int) -> list[int]:
    """Numbers of the frames that are asked for, in order; ends the program where there are too many."""
    last_s = (frames - 1) / FPS
    if asked.at is not None:
        times = asked.at
    else:
        start_s, stop_s = max(asked.start, 0.0), min(asked.stop, last_s)
        times = [start_s + k * asked.every for k in range(math.floor((stop_s - start_s) / asked.every + 1e-6) + 1)]
    found = sorted({min(max(math.floor(at * FPS + 1e-6), 0), frames - 1) for at in times})
    if not found:
        sys.exit("no frames lie there")
    if len(found) > MOST:
        sys.exit(f"{len(found)} frames are too many at once; at most {MOST}")
    return found


if __name__ == "__main__":
    sys.exit(main())
