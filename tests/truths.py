"""True boxes of real clips: the demo's, whose pages report them, and third-party ones in a folder that the environment names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np

from codecap import boxes
from codecap.clips_table import read_clips
from codecap.clock import FPS
from codecap.collect.ingest import ingest_file
from codecap.config import PROJECT
from codecap.records import Clip
from codecap.video import file_sha256, probe, read_frames

DEMO = PROJECT / "resources" / "demo"
EXTRA = os.environ.get("CODECAP_EXTRA_CLIPS")  # folder of videos NAME.mp4, each with its boxes in NAME.boxes.json
LEAST_SIDE_PX = 24
ALIKE = 0.8  # correlation of two objects' pictures, from which they are look-alikes


@dataclass(frozen=True)
class Truth:
    name: str
    rigid: bool
    visible: list
    covered: bool
    twins: frozenset

    @property
    def large(self) -> bool:
        box = boxes.as_array(self.visible)
        return bool(min(np.nanmedian(box[:, 2] - box[:, 0]), np.nanmedian(box[:, 3] - box[:, 1])) >= LEAST_SIDE_PX)

    @property
    def fit(self) -> bool:
        return self.rigid and self.large and not self.covered and not self.twins

    @property
    def prompt_frame(self) -> int:
        """In the middle of the frames where it is seen whole."""
        area = np.nan_to_num(boxes.area(boxes.as_array(self.visible)))
        whole = np.flatnonzero(area >= 0.98 * area.max())
        return int(whole[len(whole) // 2])

    def twin_in_sight(self, others: dict) -> bool:
        return any(others[name].visible[self.prompt_frame] is not None for name in self.twins)


def demo_clips() -> list[Clip]:
    return read_clips(DEMO / "clips.tsv")


def known_demo_clips() -> list[Clip]:
    """Those of which there is a truth."""
    return [clip for clip in demo_clips() if (DEMO / "truth" / f"{clip.clip_id}.json").exists()]


def extra_clips(out: Path) -> Iterator[tuple[Clip, dict[str, Truth]]]:
    """Third-party clips as canonical ones in a folder `out`, each with its truth."""
    for told in sorted(Path(EXTRA).glob("*.boxes.json")):
        stem = told.name.removesuffix(".boxes.json")
        mp4 = out / f"{stem}.mp4"
        ingest_file(Path(EXTRA) / f"{stem}.mp4", mp4)
        info = probe(mp4)
        size = {"frames": info.frames, "width_px": info.width_px, "height_px": info.height_px}
        clip = Clip(clip_id=stem, category=stem[0], mp4=mp4, sha256=file_sha256(mp4), **size)
        yield clip, extra_truth(Path(EXTRA), stem, mp4)


def demo_truth(clip: Clip) -> dict[str, Truth]:
    """The page's own report. Covered: for more than a tenth of its time, less is seen than what lies in the picture."""
    told = json.loads((DEMO / "truth" / f"{clip.clip_id}.json").read_text())
    found = {}
    for item in told["objects"]:
        pairs = [(v, a) for v, a in zip(item["visible_xyxy"], item["amodal_xyxy"], strict=True) if v is not None]
        covered = 0
        for visible, amodal in pairs:
            inside = boxes.clipped(amodal, clip.width_px, clip.height_px)
            covered += inside is None or bool(np.abs(np.array(inside) - visible).max() > 1.5)
        found[item["name"]] = Truth(
            item["name"], item["rigid"], item["visible_xyxy"], covered > 0.1 * len(pairs), frozenset(item["twins"])
        )
    return found


def extra_truth(folder: Path, stem: str, mp4: Path) -> dict[str, Truth]:
    """Third-party truth, brought to the 24 fps clock by the source's own timestamps. Rigidity, cover and likeness are measured."""
    told = json.loads((folder / f"{stem}.boxes.json").read_text())["objects"]
    with av.open(str(folder / f"{stem}.mp4")) as container:
        stream = container.streams.video[0]
        shown_s = np.array(
            sorted(float(packet.pts * stream.time_base) for packet in container.demux(stream) if packet.pts is not None)
        )
    info = probe(mp4)
    source = [int(np.searchsorted(shown_s - shown_s[0], k / FPS + 1e-6, side="right")) - 1 for k in range(info.frames)]
    tracks = {item["name"]: [item["boxes"][min(k, len(item["boxes"]) - 1)] for k in source] for item in told}
    tracks = {name: track for name, track in tracks.items() if sum(box is not None for box in track) >= 12}
    arrays = {name: boxes.as_array(track) for name, track in tracks.items()}
    crops = _crops(mp4, tracks)
    found = {}
    for name, box in arrays.items():
        inner = box[(box[:, 0] > 1) & (box[:, 1] > 1) & (box[:, 2] < info.width_px - 1) & (box[:, 3] < info.height_px - 1)]
        size = inner[:, 2:] - inner[:, :2]
        rigid = len(size) > 0 and bool((size.max(axis=0) - size.min(axis=0)).max() <= 2)
        touched = [np.nan_to_num(boxes.iou(box, other)) > 0 for key, other in arrays.items() if key != name]
        covered = bool(np.any(touched, axis=0).sum() > 0.1 * (~np.isnan(box[:, 0])).sum())
        twins = frozenset(key for key in arrays if key != name and _alike(crops[name], crops[key]))
        found[name] = Truth(name, rigid, tracks[name], covered, twins)
    return found


def _crops(mp4: Path, tracks: dict) -> dict[str, np.ndarray]:
    frames = {}
    for name, track in tracks.items():
        frames.setdefault(Truth(name, True, track, False, frozenset()).prompt_frame, []).append(name)
    crops = {}
    for frame, rgb in read_frames(mp4):
        for name in frames.get(frame, []):
            x0, y0, x1, y1 = (round(edge) for edge in tracks[name][frame])
            crops[name] = rgb[max(y0, 0) : max(y1, y0 + 2), max(x0, 0) : max(x1, x0 + 2)]
    return crops


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Of about the same size, and the same picture at one size, or much the same in the same colours."""
    ratio = np.array(a.shape[:2]) / np.array(b.shape[:2])
    if (np.maximum(ratio, 1 / ratio) > 1.3).any():
        return False
    small = [cv2.resize(crop, (16, 16), interpolation=cv2.INTER_AREA).astype(np.float64) for crop in (a, b)]
    same_colour = np.abs(small[0].mean(axis=(0, 1)) - small[1].mean(axis=(0, 1))).max() < 30
    correlation = np.corrcoef(small[0].ravel(), small[1].ravel())[0, 1]
    return bool(correlation > ALIKE or (same_colour and not correlation < ALIKE - 0.4))  # not a number: of one colour
