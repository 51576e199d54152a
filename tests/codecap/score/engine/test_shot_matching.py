"""What the configuration says of the matching of shots: by which encoder, for which metrics, and what it re-runs."""

import copy

import pytest

from codecap import config
from codecap.config import PROJECT
from codecap.score.engine import choice
from codecap.score.engine.lane import Lane


@pytest.fixture
def settings() -> dict:
    return copy.deepcopy(dict(config.load(PROJECT / "config" / "demo.yaml")))


def test_the_encoder_is_that_of_as_with_its_settings(settings):
    settings["metrics"]["appearance"]["encoders"] = {"efficientnet": {"preprocess": "crop"}, "dreamsim": {}}
    found = choice.matching(settings, ["kss"])
    assert found.settings == {"encoder": "efficientnet", "encoders": {"efficientnet": {"preprocess": "crop"}}}
    assert found.code != choice.metric(settings, "kss").code


@pytest.mark.parametrize("names", [["appearance"], ["mps"], ["lag", "kss"]])
def test_metrics_that_go_by_shots_need_it(settings, names):
    assert choice.matching(settings, names) is not None


@pytest.mark.parametrize("names", [[], ["lag"], ["visual_similarity", "object_iou", "retention", "unique_frames", "code_size"]])
def test_others_do_not(settings, names):
    assert choice.matching(settings, names) is None


def test_there_is_none_without_as(settings):
    del settings["metrics"]["appearance"]
    assert choice.matching(settings, ["kss"]) is None


def test_another_encoder_re_runs_no_metric_but_as(settings, tmp_path):
    """The keys of what KSS has of code renders do not depend on the encoder that matches shots."""
    before = choice.metric(settings, "kss"), choice.matching(settings, ["kss"])
    settings["metrics"]["appearance"]["encoders"] = {"efficientnet": {"preprocess": "crop"}}
    after = choice.metric(settings, "kss"), choice.matching(settings, ["kss"])
    assert before[0] == after[0] and before[1] != after[1]
    lanes = [Lane([kss], choice.shots(settings), tmp_path, tmp_path, matching) for kss, matching in (before, after)]
    assert lanes[0]._scores["kss"].key("clip", "render") == lanes[1]._scores["kss"].key("clip", "render")


def test_shots_depend_on_their_own_detector_alone(settings):
    keys = {}
    for detector in ("adaptive", "content", "transnetv2"):
        settings["shots"] = {"detector": detector}
        keys[detector] = choice.shots(settings).code
    assert len(set(keys.values())) == 3
