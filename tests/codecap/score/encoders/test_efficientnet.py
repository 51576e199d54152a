"""The embedded encoder against a direct call of the network, and a picture that ImageNet knows."""

import numpy as np
import pytest
import skimage.data
import torch

from codecap.score.encoders import efficientnet


@pytest.fixture(scope="module")
def encoder():
    return efficientnet.load({})


def pictures(count: int, seed: int = 0) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).integers(0, 256, (count, 224, 224, 3), np.uint8))


@pytest.fixture(scope="module")
def timms():
    """The whole network as timm builds it, with the same weights."""
    import timm  # seconds, which only these tests should wait for

    model = timm.create_model("tf_efficientnet_lite0", pretrained=False)
    model.load_state_dict(efficientnet.renamed(efficientnet.weights(), model.state_dict()), strict=True)
    return model.eval().to(memory_format=torch.channels_last)


def test_the_network_is_timms_bit_for_bit(timms):
    pixels = torch.from_numpy(np.stack(pictures(2))).permute(0, 3, 1, 2).float() / 127.5 - 1
    with torch.inference_mode():
        ours = efficientnet.network()(pixels)
        assert torch.equal(ours, timms.forward_head(timms.forward_features(pixels), pre_logits=True))
        assert ours.shape == (2, efficientnet.DIMENSIONS)


def test_the_weights_are_in_the_right_places():
    """The whole classifier, loaded the same way, sees a tabby or an Egyptian cat in a picture of a cat."""
    model = efficientnet.classifier()
    model.load_state_dict(efficientnet.renamed(efficientnet.weights(), model.state_dict()), strict=True)
    cat = efficientnet.load({"preprocess": "crop"}).prepare(skimage.data.chelsea())
    pixels = torch.from_numpy(cat).permute(2, 0, 1)[None].float() / 127.5 - 1
    with torch.inference_mode():
        likely = model.eval()(pixels).softmax(1)[0]
    cats = [281, 282, 285]  # tabby, tiger cat, Egyptian cat
    assert likely[cats].sum() > 0.8


def test_equals_a_direct_call_of_the_network(encoder, timms):
    frames = pictures(3)
    pixels = torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2).float() / 127.5 - 1
    with torch.inference_mode():
        pooled = timms.forward_features(pixels).mean((2, 3)).numpy()
    found = encoder.embed_frames(frames)
    assert found.shape == (3, efficientnet.DIMENSIONS)
    assert found.dtype == np.float32
    assert found == pytest.approx(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), abs=1e-5)


def test_a_video_is_mean_and_deviation_over_frames(encoder):
    """Of two frames the deviation is half of their difference; it counts twice."""
    frames = pictures(2)
    pixels = torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2).float() / 127.5 - 1
    with torch.inference_mode():
        first, second = efficientnet.network()(pixels).numpy()
    both = np.concatenate([(first + second) / 2, np.abs(first - second)])
    assert encoder.embed_video(frames) == pytest.approx(both / np.linalg.norm(both), abs=1e-5)
    assert np.linalg.norm(encoder.embed_video(frames)) == pytest.approx(1.0, abs=1e-6)


def test_a_still_video_is_its_frame(encoder):
    frame = pictures(1)[0]
    found = encoder.embed_video([frame] * 5)
    assert found[: efficientnet.DIMENSIONS] == pytest.approx(encoder.embed_frames([frame])[0], abs=1e-5)
    assert found[efficientnet.DIMENSIONS :] == pytest.approx(0.0, abs=1e-5)


def test_batches_change_nothing():
    frames = pictures(5)
    small, large = efficientnet.load({"batch": 2}), efficientnet.load({"batch": 8})
    assert small.embed_frames(frames) == pytest.approx(large.embed_frames(frames), abs=1e-5)
    assert (small.embed_frames(frames) == small.embed_frames(frames)).all()


def test_an_empty_picture_has_a_vector_too(encoder):
    grey = np.full((224, 224, 3), 128, np.uint8)
    vector = encoder.embed_frames([grey])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_squash_keeps_the_sides_that_crop_drops():
    wide = np.zeros((100, 300, 3), np.uint8)
    wide[:, :40] = 255
    assert efficientnet.load({"preprocess": "squash"}).prepare(wide).max() == 255
    assert efficientnet.load({"preprocess": "crop"}).prepare(wide).max() == 0


def test_other_weights_are_refused():
    tensors, model = efficientnet.weights(), efficientnet.classifier().state_dict()
    name = next(iter(tensors))
    with pytest.raises(RuntimeError, match="295 tensors for a model of 296"):
        efficientnet.renamed({key: tensors[key] for key in tensors if key != name}, model)
    with pytest.raises(RuntimeError, match=f"weight {name} has shape"):
        efficientnet.renamed({**tensors, name: torch.zeros(1)}, model)
