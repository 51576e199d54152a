"""A small clip whose frames say their number, a draft of it, and the review server over both, in a thread of the test's own."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

import httpx2
import numpy as np

from codecap import config as configuration
from codecap.clips_table import write_clips
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint, write_record
from codecap.review.desk import Desk
from codecap.review.drafts import find
from codecap.review.serving import make_ready
from codecap.video import CanonicalWriter, file_sha256

FRAMES, WIDTH_PX, HEIGHT_PX = 120, 96, 64
BITS, BIT_PX = 8, 8  # the number of a frame in its first row of squares, white for 1


def picture(frame: int) -> np.ndarray:
    """A grey ground, the frame's number, and a red square that goes to the right, one pixel every second frame."""
    rgb = np.full((HEIGHT_PX, WIDTH_PX, 3), 90, np.uint8)
    for bit in range(BITS):
        rgb[:BIT_PX, bit * BIT_PX : (bit + 1) * BIT_PX] = 255 if frame >> bit & 1 else 0
    rgb[24:44, 10 + frame // 4 : 30 + frame // 4] = (220, 30, 30)
    return rgb


def number_in(rgb: np.ndarray) -> int:
    """The number that a frame says."""
    middle = BIT_PX // 2
    return sum(int(rgb[middle, bit * BIT_PX + middle].mean() > 127) << bit for bit in range(BITS))


def drafted(clip_id: str = "A_001") -> Annotation:
    boxes = [(10.0 + frame // 4, 24.0, 30.0 + frame // 4, 44.0) for frame in range(FRAMES)]
    still = [(0.0, 0.0, 64.0, 8.0)] * FRAMES
    return Annotation(
        clip_id=clip_id,
        objects=[
            AnnotatedObject(name="square", description="a red square", visible_s=[(0.0, 5.0)], boxes_xyxy=boxes),
            AnnotatedObject(name="code", description="black and white bits", visible_s=[(0.0, 5.0)], boxes_xyxy=still),
        ],
        focal_points=[
            FocalPoint(focal_id="f1", kind="static", description="the ground is grey", start_s=0.0, end_s=1.0),
            FocalPoint(
                focal_id="f2", kind="dynamic", description="the square goes right", start_s=0.0, end_s=5.0, objects=["square"]
            ),
        ],
        proposer="embedded 2",
    )


def film_to(mp4: Path) -> Clip:
    with CanonicalWriter(mp4, WIDTH_PX, HEIGHT_PX) as writer:
        for frame in range(FRAMES):
            writer.add(picture(frame))
    facts = {"frames": FRAMES, "width_px": WIDTH_PX, "height_px": HEIGHT_PX}
    return Clip(clip_id="A_001", category="A", mp4=mp4, sha256=file_sha256(mp4), **facts)


def run_in(folder: Path, clip: Clip) -> dict:
    """The configuration of a run whose two clips have drafts; nobody reviews a clip twice."""
    clips = [clip.model_copy(update={"clip_id": name}) for name in ("A_001", "A_002")]
    write_clips(folder / "clips.tsv", clips)
    for name in ("A_001", "A_002"):
        write_record(folder / "drafts" / f"{name}.json", drafted(name))
    own = {
        "clips": str(folder / "clips.tsv"),
        "clips_folder": None,
        "annotations_folder": str(folder / "approved"),
        "store": {"durable": str(folder / "store"), "bulk": str(folder / "store"), "scratch": None},
        "review": {"folder": str(folder / "reviews"), "twice": 0},
    }
    return configuration.load(configuration.PROJECT / "config" / "demo.yaml", overrides=own)


class Opened:
    """A server that runs in a thread, and a browser's part in asking it."""

    def __init__(self, config: dict, who: str = "ann") -> None:
        self.addresses: list[str] = []
        self.drafts: dict[str, str] = {}
        self.desk = Desk(config, find(config, Path(config["clips"]).parent / "drafts"), who)
        self.ready = make_ready(self.desk, 0, self.addresses.append)
        self.host = self.addresses[0].split("/")[2]
        self.client = httpx2.Client(base_url=f"http://{self.host}", headers={"Origin": f"http://{self.host}"}, timeout=60)
        self.thread = threading.Thread(target=self.ready.run, daemon=True)
        self.thread.start()

    def enter(self) -> Opened:
        assert self.client.get(self.addresses[-1]).status_code == 200
        return self

    def get(self, path: str, **options):
        return self.client.get(path, **options)

    def post(self, path: str, **body):
        return self.client.post(path, json=body)

    def edit(self, clip_id: str, revision: int, *edits: tuple[str, object], tab: str = "one", **more):
        told = {"tab": tab, "draft": self.draft(clip_id), "revision": revision, "batch": secrets.token_hex(8)}
        listed = [{"path": path, "value": value} for path, value in edits]
        return self.post(f"/api/clips/{clip_id}/edits", **{**told, "edits": listed, **more})

    def decide(self, clip_id: str, revision: int, decision: str, tab: str = "one", **more):
        told = {"tab": tab, "draft": self.draft(clip_id), "revision": revision, "decision": decision}
        return self.post(f"/api/clips/{clip_id}/decide", **{**told, **more})

    def draft(self, clip_id: str) -> str:
        """The draft that was there when it was asked for first."""
        if clip_id not in self.drafts:
            self.drafts[clip_id] = self.get(f"/api/clips/{clip_id}").json()["draft"]
        return self.drafts[clip_id]

    def close(self) -> None:
        self.client.close()
        self.ready.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()
