import numpy as np

from codecap.filtering.appearance import covering_colours, edge_share, gradient, look_at, noise_levels, small_copy


def grey(level=128, height_px=176, width_px=320):
    return np.full((height_px, width_px, 3), level, np.uint8)


def test_gradient_is_the_larger_of_two_neighbours():
    picture = np.zeros((3, 3, 3), np.uint8)
    picture[1, 1, 2] = 9
    assert gradient(picture).tolist() == [[0, 9, 0], [9, 9, 0], [0, 0, 0]]


def test_colours_that_cover_95_per_cent():
    picture = grey(0, 10, 10)
    picture[0, :5] = 255  # 5 %: the other colour covers 95
    assert covering_colours(picture) == 1
    picture[0, :6] = 255
    assert covering_colours(picture) == 2


def test_gradients_of_a_drawing_are_sparse():
    """A square's outline is under 5 % of the picture, so it holds all gradient; on a ramp each column has the same step."""
    drawing = grey(240)
    drawing[60:100, 100:160] = 30
    assert edge_share(gradient(drawing)) == 1.0
    ramp = np.broadcast_to(np.arange(200, dtype=np.uint8)[None, :, None], (100, 200, 3))
    assert 0.04 < edge_share(gradient(ramp)) < 0.06
    assert edge_share(gradient(grey())) == 1.0


def test_noise_is_measured_in_its_own_unit():
    rng = np.random.default_rng(0)
    picture = np.clip(128 + rng.normal(0, 5, (180, 320, 1)), 0, 255).repeat(3, axis=2).astype(np.uint8)
    assert 3.0 < noise_levels(picture) < 5.5  # the quietest tenth of the blocks is below the 5 levels put in
    assert noise_levels(grey()) == 0


def test_a_noisy_drawing_is_cleaned_before_it_is_measured():
    rng = np.random.default_rng(0)
    noisy = look_at(np.clip(grey(120) + rng.normal(0, 2, (176, 320, 3)), 0, 255).astype(np.uint8))
    assert noisy.cleaned and noisy.noise_levels > 0.8
    assert noisy.flat_share > 0.5  # hardly any pixel is flat as it was


def test_a_small_copy_of_a_small_copy_is_the_same():
    picture = np.random.default_rng(0).integers(0, 256, (720, 1280, 3), np.uint8)
    small = small_copy(picture)
    assert small.shape == (180, 320, 3)
    assert np.array_equal(small_copy(small), small)
    assert small_copy(grey(7, 20, 40)).shape == (160, 320, 3)
