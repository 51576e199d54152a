"""What scoring costs: both ways give the same numbers, shares add up, and the GPU script runs its course, here on a CPU."""

import logging

import numpy as np
import pytest
import torch

from codecap import config as configuration
from codecap.bench import score, score_gpu
from codecap.config import PROJECT
from codecap.errors import UserError
from codecap.score.encoding.running import Hardware, Running
from codecap.score.engine.single import clip_of
from codecap.video import CanonicalWriter, read_frames

DEMO = [PROJECT / "config" / "demo.yaml"]


@pytest.mark.slow
def test_both_ways_are_measured_and_give_the_same():
    ours, plain = score.measure(DEMO, ["kss"], clips=1, candidates=1)
    assert (ours.way, plain.way) == ("codecap", "plain loop")
    assert ours.value == pytest.approx(plain.value, abs=1e-9) and 0 < ours.value < 0.99  # a late and shifted candidate
    assert ours.decode + ours.prepare + ours.copy + ours.compute == pytest.approx(1.0)
    assert ours.clips_s > 0 and ours.peak_mb > 10
    table = score.as_table([ours, plain])
    assert table.splitlines()[1].startswith("kss") and "x" in table.splitlines()[1]


@pytest.mark.slow
def test_the_plain_loop_of_the_embedded_encoder_gives_our_value():
    ours, plain = score.measure(DEMO, ["key_frames"], clips=1, candidates=1)
    assert ours.value == pytest.approx(plain.value, abs=1e-6) and ours.value < 0.999


def test_the_candidate_is_late_and_shifted(tmp_path):
    """A bar that moves 2 px a frame."""
    frames = np.zeros((12, 48, 64, 3), np.uint8)
    for number, frame in enumerate(frames):
        frame[:, 2 * number : 2 * number + 8] = 255
    with CanonicalWriter(tmp_path / "clip.mp4", 64, 48) as writer:
        for frame in frames:
            writer.add(frame)
    score.write_candidate(clip_of(tmp_path / "clip.mp4"), tmp_path / "late.mp4")
    found = [rgb for _, rgb in read_frames(tmp_path / "late.mp4")]
    expected = [np.roll(frames[max(number - score.LATE_FRAMES, 0)], 4, axis=1) for number in range(12)]
    assert len(found) == 12
    assert np.abs(np.array(found, np.int16) - np.array(expected, np.int16)).mean() < 6  # what coding costs


def test_what_is_left_out_is_told_and_why(caplog):
    config = configuration.load(*DEMO)
    with caplog.at_level(logging.WARNING, logger="codecap"):
        assert score._measurable(config, ["retention", "kss", "object_iou"]) == ["kss"]
    assert "retention (asks a judge)" in caplog.text and "object_iou (compares boxes" in caplog.text
    with pytest.raises(UserError, match=r"nothing to measure; left out: retention \(asks a judge\)"):
        score.measure(DEMO, ["retention"])


def test_an_unknown_metric_is_told():
    with pytest.raises(UserError, match="no metric called 'none' is configured; there are visual_similarity"):
        score.measure(DEMO, ["none"])


def test_work_of_a_clip_is_the_papers_176_tflop():
    """Token count by hand: 32 tubelets of 24 x 24 patches."""
    tokens = 32 * 24 * 24
    block = 2 * tokens * (4 * 1664**2 + 2 * 1664 * 8192) + 4 * tokens**2 * 1664
    assert score_gpu.clip_tflop(64, 384) == pytest.approx(48 * block / 1e12, rel=1e-3)
    assert score_gpu.clip_tflop(64, 384) == pytest.approx(176, abs=1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_skips_and_says_so():
    about, rows = score_gpu.measure()
    assert about == "no GPU that torch can use: skipped" and rows == []
    assert score_gpu.as_table(about, rows) == about


def test_the_gpu_script_runs_its_course(monkeypatch, tmp_path):
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path))
    for name, small in {"WIDTH": 32, "DEPTH": 2, "HEADS": 2, "HIDDEN": 64}.items():
        monkeypatch.setattr(score_gpu, name, small)
    monkeypatch.setattr(score_gpu, "VARIANTS", [row for row in score_gpu.VARIANTS if not row[3]])  # compiling takes a minute
    monkeypatch.setattr(score_gpu, "matrix_tflops", lambda device: 1.0)
    about, rows = score_gpu.measure(frames=4, side_px=64, tries=1, hardware=Hardware.of(Running(device="cpu", dtype="bf16")))
    assert "plain transformer of the same sizes" in about
    assert [row.variant for row in rows] == ["as configured", "attention: cudnn", "clips: 2", "whole, arrays to vector"]
    assert all(row.clip_s > 0 for row in rows)
    assert "goal 0.5 s a clip" in score_gpu.as_table(about, rows)
