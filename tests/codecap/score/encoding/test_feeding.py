"""Batches come whole and in order, on every device; normalising is torchvision's."""

import numpy as np
import pytest
import torch

from codecap.score.encoding.feeding import batches, normalized
from codecap.score.encoding.vectors import mean_of, of_length_one

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("count", "size", "sizes"), [(5, 2, [2, 2, 1]), (4, 4, [4]), (1, 8, [1]), (0, 3, [])])
def test_batches_come_whole_and_in_order(device, count, size, sizes):
    pictures = list(np.random.default_rng(0).integers(0, 256, (count, 3, 4, 5), np.uint8))
    found = list(batches(pictures, size, torch.device(device)))
    assert [len(batch) for batch in found] == sizes
    assert all(batch.dtype is torch.uint8 and batch.device.type == device for batch in found)
    if found:
        assert (torch.cat(found).cpu().numpy() == np.stack(pictures)).all()


def test_normalising_is_torchvisions():
    from torchvision.transforms.v2.functional import normalize, to_dtype  # seconds, which only this test should wait for

    pictures = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (2, 3, 8, 9), np.uint8))
    known = normalize(to_dtype(pictures, torch.float32, scale=True), MEAN, DEVIATION)
    assert torch.allclose(normalized(pictures, MEAN, DEVIATION), known, rtol=0, atol=1e-6)


def test_a_video_of_two_right_angles_points_between_them():
    assert mean_of(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx([0.5**0.5] * 2)
    assert np.linalg.norm(of_length_one(torch.tensor([[3.0, 4.0]]))) == pytest.approx(1.0)
