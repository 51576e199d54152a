"""CoTracker3: loading and the way in and out, on a stand-in checkout with the same entry point; the real one where there is one.

The stand-in moves every point by its weights, so that what comes out can be worked out by hand.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from codecap import registry
from codecap.score import mps
from codecap.score.trackers import cotracker3
from codecap.weights import WeightsMissing

REAL = "CODECAP_COTRACKER3_CODE"  # folder of a checkout of facebookresearch/co-tracker
STAND_IN = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step_px = torch.nn.Parameter(torch.zeros(2))

class Predictor(torch.nn.Module):
    interp_shape = (24, 33)

    def __init__(self):
        super().__init__()
        self.model = Model()

    @torch.no_grad()
    def forward(self, video, queries=None, segm_mask=None, grid_size=0, grid_query_frame=0, backward_tracking=False):
        batch, frames, channels, height, width = video.shape
        assert video.dtype == torch.float32 and channels == 3 and 0 <= video.min() and video.max() <= 255
        assert queries.shape[0] == batch and queries.shape[2] == 3 and (queries[..., 0] == 0).all()
        tracks = torch.zeros(batch, frames, queries.shape[1], 2)
        if frames > 3:  # the real one gives no motion on three frames
            steps = torch.arange(frames)[None, :, None, None] * self.model.step_px
            tracks = queries[:, None, :, 1:] + steps
        far = torch.tensor([width - 1, height - 1])
        return tracks, ((tracks >= 0) & (tracks <= far)).all(dim=-1)

def cotracker3_offline(*, pretrained=True, **kwargs):
    assert not pretrained, "would download"
    return Predictor()
"""


@pytest.fixture
def checkout(tmp_path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "hubconf.py").write_text(STAND_IN)
    return tmp_path / "code"


@pytest.fixture
def tracker(checkout, tmp_path):
    """With weights that move every point by (1.6, -0.46) px a frame: 5 and -2 hundredths of the frame."""
    torch.save({"step_px": torch.tensor([1.6, -0.46])}, tmp_path / "scaled_offline.pth")
    return cotracker3.load({"folder": checkout, "checkpoint": tmp_path / "scaled_offline.pth", "grid": 3, "device": "cpu"})


def frames(count: int, size=(48, 66)) -> list[np.ndarray]:
    return [np.full((*size, 3), level, np.uint8) for level in range(count)]


def test_points_move_as_the_weights_say_in_units_of_the_frame(tracker):
    prepared = [tracker.prepare(rgb) for rgb in frames(9)]
    points = tracker.seed(prepared[0])
    tracks, seen = tracker.track(prepared, points)
    assert tracks.shape == (9, 9, 2) and tracks.dtype == np.float32
    assert seen.shape == (9, 9) and seen.dtype == bool
    assert tracks == pytest.approx(points + np.arange(9)[:, None, None] * np.array([0.05, -0.02]), abs=1e-6)
    assert (seen == ((tracks >= 0) & (tracks <= 1)).all(axis=2)).all()


def test_the_grid_fills_the_frame_evenly(tracker):
    points = tracker.seed(tracker.prepare(frames(1)[0]))
    sixth, half = 1 / 6, 1 / 2
    assert points == pytest.approx(np.array([[x, y] for y in (sixth, half, 1 - sixth) for x in (sixth, half, 1 - sixth)]))
    assert cotracker3.Settings().grid == 20


def test_frames_are_kept_in_the_size_in_which_they_are_tracked(tracker):
    ramp = np.repeat(np.arange(66, dtype=np.uint8)[None, :, None], 48, axis=0).repeat(3, axis=2)
    prepared = tracker.prepare(ramp)
    assert prepared.shape == (3, 24, 33) and prepared.dtype == np.float32
    assert prepared[0, 5] == pytest.approx(np.linspace(0, 65, 33), abs=1e-4)  # the outermost pixels stay where they are


def test_scaling_leaves_no_value_out_of_range(tracker):
    """White, whose weighted mean rounds to more than 255, and noise: the library's scaling but for that rounding."""
    white, noise = np.full((48, 66, 3), 255, np.uint8), np.random.default_rng(0).integers(0, 256, (48, 66, 3), np.uint8)
    for rgb, leaves in ((white, True), (noise, False)):
        picture = torch.from_numpy(rgb).permute(2, 0, 1)[None].float()
        own = functional.interpolate(picture, (24, 33), mode="bilinear", align_corners=True)[0].numpy()
        assert (own.max() > 255) == leaves
        prepared = tracker.prepare(rgb)
        assert prepared.max() <= 255 and np.abs(prepared - own).max() <= (2e-5 if leaves else 0)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_short_span_is_continued_and_cut_again(tracker, count):
    prepared = [tracker.prepare(rgb) for rgb in frames(count)]
    tracks, seen = tracker.track(prepared, tracker.seed(prepared[0]))
    assert tracks.shape == (count, 9, 2) and seen.shape == (count, 9)
    assert np.diff(tracks, axis=0) == pytest.approx(np.broadcast_to([0.05, -0.02], (count - 1, 9, 2)), abs=1e-6)


def test_one_frame_and_no_points(tracker):
    prepared = [tracker.prepare(rgb) for rgb in frames(4)]
    points = tracker.seed(prepared[0])
    tracks, seen = tracker.track(prepared[:1], points)
    assert (tracks[0] == points).all() and seen.all()
    tracks, seen = tracker.track(prepared, points[:0])
    assert tracks.shape == (4, 0, 2) and seen.shape == (4, 0)


def test_mps_by_it(tracker, measure):
    """In both videos every point moves alike: 1. A video of more than a second is followed in spans that bound the memory."""
    metric = mps.MotionPatternSimilarity(tracker, mps.Settings(tracker="cotracker3"))
    assert not metric.proxy
    held = []
    track = tracker.track
    tracker.track = lambda prepared, points: held.append(len(prepared)) or track(prepared, points)
    found = measure(metric, frames(75), frames(75))
    assert [row.value for row in found] == [1.0, 1.0]
    assert held == [25, 25, 25, 3] * 2


def test_the_protocol_names_weights_code_and_what_changes_numbers(tracker, checkout, tmp_path):
    for what in ("sha256:", "code sha256:", "grid 3x3 at 33x24 px", "8 frames or more", "fp32 on cpu"):
        assert what in tracker.protocol
    torch.save({"step_px": torch.tensor([0.0, 0.0])}, tmp_path / "other.pth")
    other = cotracker3.load({"folder": checkout, "checkpoint": tmp_path / "other.pth", "grid": 3, "device": "cpu"})
    assert other.protocol != tracker.protocol


def test_loaded_once(checkout, tracker, tmp_path):
    again = {"folder": str(checkout), "checkpoint": str(tmp_path / "scaled_offline.pth"), "grid": 3, "device": "cpu"}
    assert cotracker3.load(again) is tracker


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ({}, "Missing key"),
        ({"step_px": torch.zeros(2), "more": torch.zeros(1)}, "Unexpected key"),
        ({"step_px": torch.zeros(3)}, "size mismatch"),
        ("text", "not the weights"),
        ("truncated", "not the weights"),
        ([1, 2], "not the weights"),
    ],
)
def test_wrong_weights_name_the_file(checkout, tmp_path, tensors, says):
    wrong = tmp_path / "wrong.pth"
    torch.save({"step_px": torch.zeros(2)} if isinstance(tensors, str) else tensors, wrong)
    if tensors == "text":
        wrong.write_text("<html>not found</html>")
    elif tensors == "truncated":
        wrong.write_bytes(wrong.read_bytes()[:-200])
    with pytest.raises(WeightsMissing, match=says) as raised:
        cotracker3.load({"folder": checkout, "checkpoint": wrong, "device": "cpu"})
    assert str(wrong) in str(raised.value)


def test_what_is_missing_is_named_with_its_cure(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "empty"))
    with pytest.raises(WeightsMissing, match="codecap weights fetch cotracker3_code"):
        cotracker3.load({"device": "cpu"})
    with pytest.raises(WeightsMissing, match="codecap weights fetch cotracker3_offline"):
        cotracker3.load({"folder": checkout, "device": "cpu"})
    torch.save({}, tmp_path / "any.pth")
    (tmp_path / "no_checkout").mkdir()
    with pytest.raises(WeightsMissing, match="no hubconf.py"):
        cotracker3.load({"folder": tmp_path / "no_checkout", "checkpoint": tmp_path / "any.pth", "device": "cpu"})
    (checkout / "hubconf.py").write_text("def cotracker2(): pass")
    with pytest.raises(WeightsMissing, match="gives no cotracker3_offline"):
        cotracker3.load({"folder": checkout, "checkpoint": tmp_path / "any.pth", "device": "cpu"})


def test_loading_leaves_the_seed_of_torch_alone(checkout, tmp_path):
    (checkout / "hubconf.py").write_text("import torch\ntorch.manual_seed(0)\n" + STAND_IN)
    torch.save({"step_px": torch.zeros(2)}, tmp_path / "zero.pth")
    torch.manual_seed(77)
    expected = torch.rand(1)
    torch.manual_seed(77)
    cotracker3.load({"folder": checkout, "checkpoint": tmp_path / "zero.pth", "device": "cpu"})
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_an_error(checkout, tmp_path):
    torch.save({"step_px": torch.zeros(2)}, tmp_path / "zero.pth")
    with pytest.raises(registry.Unavailable, match="no GPU"):
        cotracker3.load({"folder": checkout, "checkpoint": tmp_path / "zero.pth", "device": "cuda"})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_the_stand_in_gives_the_same_on_cpu_and_gpu(checkout, tmp_path, tracker):
    told = {"folder": checkout, "checkpoint": tmp_path / "scaled_offline.pth", "grid": 3, "device": "cuda"}
    on_gpu = cotracker3.load(told)
    prepared = [tracker.prepare(rgb) for rgb in frames(9)]
    (tracks, seen), (other, other_seen) = (made.track(prepared, made.seed(prepared[0])) for made in (tracker, on_gpu))
    assert tracks == pytest.approx(other, abs=1e-5) and (seen == other_seen).all()
    assert "fp32 on cuda" in on_gpu.protocol


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> tuple[Path, Path, torch.nn.Module]:
    """A real checkout, random weights in a file, and the library's own predictor with them."""
    if not os.environ.get(REAL):
        pytest.skip(f"no checkout of CoTracker: {REAL} names no folder")
    code = Path(os.environ[REAL])
    library = torch.hub.load(str(code), "cotracker3_offline", source="local", pretrained=False)
    checkpoint = tmp_path_factory.mktemp("cotracker3") / "random.pth"
    torch.save(library.model.state_dict(), checkpoint)
    return code, checkpoint, library


@pytest.fixture
def moving(panned) -> list[np.ndarray]:
    return panned(5, 3, 1)


@pytest.mark.slow
def test_the_real_one_gives_what_its_own_predictor_gives(real, moving):
    code, checkpoint, library = real
    told = {"folder": code, "checkpoint": checkpoint, "grid": 2, "least_frames": 1, "device": "cpu"}
    tracker = cotracker3.load(told)
    prepared = [tracker.prepare(rgb) for rgb in moving]
    points = tracker.seed(prepared[0])
    tracks, seen = tracker.track(prepared, points)
    height_px, width_px = moving[0].shape[:2]
    far = torch.tensor([width_px - 1, height_px - 1])
    queries = torch.cat([torch.zeros(4, 1), torch.from_numpy(points) * far], dim=1)[None]
    video = torch.from_numpy(np.stack(moving)).permute(0, 3, 1, 2)[None].float()
    own_tracks, own_seen = library(video, queries=queries)
    assert tracks == pytest.approx((own_tracks[0] / far).numpy(), abs=1e-5)
    assert (seen == own_seen[0].numpy()).all()


@pytest.mark.slow
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_the_real_one_gives_the_same_on_cpu_and_gpu(real, moving):
    code, checkpoint, _ = real
    told = {"folder": code, "checkpoint": checkpoint, "grid": 2}
    found = []
    for device in ("cpu", "cuda"):
        tracker = cotracker3.load(told | {"device": device})
        prepared = [tracker.prepare(rgb) for rgb in moving]
        found.append(tracker.track(prepared, tracker.seed(prepared[0]))[0])
    assert found[0] == pytest.approx(found[1], abs=1e-3)  # half a pixel of the network's frame
