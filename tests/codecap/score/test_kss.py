"""KSS against the formula by hand, the limits that SSIM has by definition, and scikit-image."""

import numpy as np
import pytest
from skimage.metrics import structural_similarity

from codecap.score import kss


def flat(level: int, shape=(32, 32, 3)) -> np.ndarray:
    return np.full(shape, level, np.uint8)


@pytest.mark.parametrize(("a", "b"), [(0, 255), (100, 110), (30, 200)])
def test_flat_pictures_leave_only_the_luminance_term(a, b):
    c1 = (0.01 * 255) ** 2
    assert kss.ssim(flat(a), flat(b)) == pytest.approx((2 * a * b + c1) / (a**2 + b**2 + c1), abs=1e-6)


@pytest.mark.parametrize("shape", [(64, 80, 3), (31, 45, 3), (300, 40, 3)])
@pytest.mark.parametrize("sigma_px", [1.5, 2.0])
def test_equals_scikit_image(shape, sigma_px):
    generator = np.random.default_rng(0)
    first = generator.integers(0, 256, shape, np.uint8)
    second = np.clip(first + generator.normal(0, 30, shape), 0, 255).astype(np.uint8)
    outside = structural_similarity(
        first,
        second,
        channel_axis=-1,
        data_range=255,
        gaussian_weights=True,
        sigma=sigma_px,
        use_sample_covariance=False,
    )
    assert kss.ssim(first, second, sigma_px) == pytest.approx(outside, abs=1e-6)


def test_a_negative_picture_is_worse_than_noise_and_order_does_not_count():
    generator = np.random.default_rng(0)
    reference, noise = generator.integers(0, 256, (2, 64, 64, 3), np.uint8)
    assert kss.ssim(reference, 255 - reference) < kss.ssim(reference, noise) < 0.2
    assert kss.ssim(reference, noise) == pytest.approx(kss.ssim(noise, reference), abs=1e-9)


def test_a_picture_smaller_than_the_window_is_taken_whole():
    picture = np.random.default_rng(1).integers(0, 256, (6, 40, 3), np.uint8)
    assert kss.ssim(picture, picture) == pytest.approx(1.0, abs=1e-12)
    assert kss.ssim(picture, 255 - picture) < 0


def test_pictures_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="different shapes"):
        kss.ssim(flat(0), flat(0, (32, 30, 3)))


def test_only_midpoints_count_and_shots_weigh_the_same(measure):
    """Two shots of 3 and 1 frames: midpoints 1 and 3. One is right, the other is flat of another level."""
    reference = [flat(50)] * 4
    candidate = [flat(255), flat(50), flat(255), flat(100)]
    c1 = (0.01 * 255) ** 2
    by_hand = (1 + (2 * 50 * 100 + c1) / (50**2 + 100**2 + c1)) / 2
    (found,) = measure(kss.load({}), reference, candidate, shots=[(0, 3), (3, 4)])
    assert found.value == pytest.approx(by_hand, abs=1e-6)


def test_a_video_of_one_frame_equals_itself(measure, textured):
    picture = textured(64, 64)
    assert measure(kss.load({}), [picture], [picture])[0].value == pytest.approx(1.0, abs=1e-9)


def test_midpoints_of_matches_of_other_lengths(measure):
    """Shots of 4 and 2 frames, matches of 2 and 5: midpoints 1 and 2 + 2 = 4 of the candidate. Both shots are static."""
    reference = [flat(50)] * 4 + [flat(90)] * 2
    candidate = [flat(0), flat(50), flat(0), flat(0), flat(100), flat(0), flat(0)]
    c1 = (0.01 * 255) ** 2
    by_hand = (1 + (2 * 90 * 100 + c1) / (90**2 + 100**2 + c1)) / 2
    (found,) = measure(kss.load({}), reference, candidate, shots=[(0, 4), (4, 6)], segments=[(0, 2), (2, 7)])
    assert found.value == pytest.approx(by_hand, abs=1e-6)


def test_two_shots_that_share_their_one_frame(measure):
    c1 = (0.01 * 255) ** 2
    (found,) = measure(kss.load({}), [flat(50), flat(90)], [flat(50)], shots=[(0, 1), (1, 2)], segments=[(0, 1), (0, 1)])
    assert found.value == pytest.approx((1 + (2 * 50 * 90 + c1) / (50**2 + 90**2 + c1)) / 2, abs=1e-6)
