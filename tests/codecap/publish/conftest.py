"""A small data set that was cut out of two originals, and other copies of these, as a site may give them out a year later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from codecap import config as configuration
from codecap.clock import FPS
from codecap.collect.ingest import ingest_file, source_mark
from codecap.publish.about import About
from codecap.publish.export import Material, export
from codecap.records import AnnotatedObject, Annotation, Candidate, Clip, FocalPoint, LedgerEntry
from codecap.video import file_sha256

WIDTH_PX, HEIGHT_PX = 192, 108
SECONDS = 12
CUTS = {"A_site-one_f000036": ("A_site-one", 36, 132), "A_site-one_f000168": ("A_site-one", 168, 264), "F_own": ("F_own", 0, None)}


def picture(frame: int, hue: int = 0) -> np.ndarray:
    """A page with a card that slides, a bar that grows, and a ground that changes every two seconds. uint8 RGB."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), ((40 + hue, 70, 120), (230, 225, 210), (90, 160, 130 - hue))[frame // 48 % 3], np.uint8)
    left = 8 + (frame * 3) % 130
    rgb[20:60, left : left + 44] = (240, 180, 60)
    rgb[80:96, 10 : 12 + frame * 170 // (SECONDS * FPS)] = (200, 40, 60)
    rgb[4:14, 4 + 8 * (frame // 12 % 20) : 10 + 8 * (frame // 12 % 20)] = 20
    return rgb


def write_film(
    path: Path,
    frames: Sequence[int],
    *,
    rate: int = FPS,
    size_px: tuple[int, int] = (WIDTH_PX, HEIGHT_PX),
    crf: int = 20,
    paint: Callable[[int], np.ndarray] = picture,
) -> Path:
    """An H.264 file whose k-th picture is that of frame `frames[k]`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": str(crf), "preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = *size_px, "yuv420p"
        for number, frame in enumerate(frames):
            rgb = cv2.resize(paint(frame), size_px, interpolation=cv2.INTER_AREA)
            shown = av.VideoFrame.from_ndarray(rgb, format="rgb24")
            shown.pts, shown.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(shown))
        container.mux(stream.encode(None))
    return path


def write_annotation(clip: Clip) -> Annotation:
    boxes = [(10.0, 20.0, 50.0, 60.0)] * clip.frames
    seconds = clip.frames / FPS
    thing = AnnotatedObject(name="card", description="A yellow card", visible_s=[(0.0, seconds)], boxes_xyxy=boxes)
    point = FocalPoint(focal_id="slides", kind="dynamic", description="The card slides", start_s=0.5, end_s=1.5, objects=["card"])
    still = FocalPoint(focal_id="bar", kind="static", description="A bar lies below", start_s=0.0, end_s=1.0)
    return Annotation(clip_id=clip.clip_id, objects=[thing], focal_points=[point, still])


@dataclass(frozen=True)
class Collected:
    """Originals by candidate id, and what there is to publish of them."""

    originals: dict[str, Path]
    material: Material


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    """Two clips of a video of a site without a licence, and one that is free."""
    folder = tmp_path_factory.mktemp("collected")
    originals = {
        "A_site-one": write_film(folder / "A_site-one.mp4", range(SECONDS * FPS)),
        "F_own": write_film(folder / "F_own.mp4", range(0, 240, 2)),
    }
    clips, entries = [], []
    for clip_id, (candidate_id, start, stop) in CUTS.items():
        path = originals[candidate_id]
        facts = ingest_file(path, folder / "clips" / f"{clip_id}.mp4", start=start or None, stop=stop)
        clips.append(
            Clip(
                clip_id=clip_id,
                category=clip_id[0],
                mp4=folder / "clips" / f"{clip_id}.mp4",
                sha256=facts.sha256,
                frames=facts.frames,
                width_px=facts.width_px,
                height_px=facts.height_px,
                source=source_mark(path, file_sha256(path)),
                licence="CC BY 4.0" if candidate_id == "F_own" else "",
                source_start_s=start / FPS,
                source_end_s=None if stop is None else stop / FPS,
            )
        )
    for candidate_id, locator in (("A_site-one", "http://127.0.0.1:9/one.mp4"), ("F_own", "/home/ada/private/F_own.mp4")):
        path = originals[candidate_id]
        entries.append(
            LedgerEntry(
                candidate=Candidate(
                    candidate_id=candidate_id,
                    source="site" if candidate_id == "A_site-one" else "mine",
                    locator=locator,
                    category=candidate_id[0],
                    title="A title\twith a tab",
                    uploader="Ada",
                    whole=candidate_id == "F_own",
                ),
                status="fetched",
                sha256=file_sha256(path),
                size_bytes=path.stat().st_size,
                clips=[clip_id for clip_id, cut in CUTS.items() if cut[0] == candidate_id],
            )
        )
    config = configuration.load() | {
        "sources": {
            "site": {
                "plugin": "http",
                "urls": ["http://127.0.0.1:9/one.mp4"],
                "proxy_env": "SECRET_PROXY",
                "cookies_file": "me.txt",
            },
            "mine": {"plugin": "local", "paths": ["/home/ada/private"], "licence": "CC BY 4.0"},
        }
    }
    annotations = {clip.clip_id: write_annotation(clip) for clip in clips}
    points = [point.model_copy(update={"objects": []}) for point in annotations["F_own"].focal_points]
    annotations["F_own"] = annotations["F_own"].model_copy(update={"objects": [], "focal_points": points})
    return Collected(originals, Material(clips, annotations, entries, {}, config))


@pytest.fixture(scope="session")
def published_folder(collected: Collected, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `codecap dataset export` writes it; one of three videos is in it. Not to be changed: copy it."""
    about = About(
        name="Three clips", url="https://clips.example", creators=("Ada",), citation="@misc{three}", published="2026-11-30"
    )
    folder = tmp_path_factory.mktemp("published") / "set"
    export(collected.material, about, folder)
    return folder


@pytest.fixture(scope="session")
def folder_without_videos(collected: Collected, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for a publisher who gives no video away. Not to be changed: copy it."""
    folder = tmp_path_factory.mktemp("bare") / "set"
    export(collected.material, About(media_licences=()), folder)
    return folder


@pytest.fixture
def film() -> Callable[..., Path]:
    return write_film


@pytest.fixture
def paint() -> Callable[..., np.ndarray]:
    return picture
