"""A small finished run: clips whose pictures carry their frame's number, renders of three systems, a task that failed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codecap.humans.material import Material
from codecap.records import Certificate, Clip, FocalPoint, Outcome, Render
from codecap.video import CanonicalWriter, file_sha256

SYSTEMS = ("zebrafinch", "nightjar", "floorless")  # words that occur nowhere else
FRAMES, WIDTH_PX, HEIGHT_PX = 48, 128, 72


def write_video(mp4: Path, shade: int, codec: str = "h264") -> None:
    """Frame i is grey `shade + i` but for a band that brightens with i."""
    mp4.parent.mkdir(parents=True, exist_ok=True)
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX, codec=codec) as writer:
        for frame in range(FRAMES):
            rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), shade, np.uint8)
            rgb[-16:] = 16 + 4 * frame
            writer.add(rgb)


def make_material(folder: Path, clip_ids: tuple[str, ...] = ("A_one", "A_two", "B_one")) -> Material:
    clips, points, renders = {}, {}, {}
    for number, clip_id in enumerate(clip_ids):
        mp4 = folder / "originals" / f"{clip_id}.mp4"
        write_video(mp4, 40 + 20 * number, codec="h264_small")
        size = {"frames": FRAMES, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
        clips[clip_id] = Clip(clip_id=clip_id, category=clip_id[0], mp4=mp4, sha256=file_sha256(mp4), **size)
        points[clip_id] = {
            "still_band": FocalPoint(focal_id="still_band", kind="static", description="A band lies below", start_s=0, end_s=2),
            "brighter_f2": FocalPoint(
                focal_id="brighter_f2", kind="dynamic", description="The band brightens <b>evenly</b>", start_s=0.5, end_s=1.0
            ),
        }
        for step, system in enumerate(SYSTEMS):
            made = folder / "made" / system / f"{clip_id}.mp4"
            write_video(made, 50 + 20 * number + 7 * step)
            seal = Certificate(outcome=Outcome.OK, mp4_sha256=file_sha256(made))
            renders[system, clip_id] = Render(
                system=system, clip_id=clip_id, key="k", outcome=Outcome.OK, mp4=made, certificate=seal
            )
    failed = Render(system=SYSTEMS[1], clip_id=clip_ids[-1], key="k", outcome=Outcome.RUNTIME_ERROR, detail="no")
    renders[failed.system, failed.clip_id] = failed
    systems = {name: {"label": name, "harness": "single"} for name in SYSTEMS}
    systems[SYSTEMS[2]]["role"] = "floor"
    return Material(systems, clips, points, renders)


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return make_material(tmp_path_factory.mktemp("run"))
