from pathlib import Path

import numpy as np
import pytest

from codecap.clips_table import read_clips
from codecap.config import ConfigError
from codecap.filtering.axes import AXES, INPUTS
from codecap.filtering.verdict import FilterSettings, filter_clip, filter_shard, keep_chance, verdict_of
from codecap.records import Clip
from codecap.video import CanonicalWriter, file_sha256

DEMO = Path(__file__).parents[3] / "resources" / "demo"
SETTINGS = FilterSettings()


def clip(mp4="a.mp4", clip_id="A_1", sha256="0"):
    return Clip(clip_id=clip_id, category="A", mp4=mp4, sha256=sha256, frames=48, width_px=64, height_px=48)


def features(base="kept", **told):
    return {"duration_s": 5.0, "static_share": 0.0, **getattr(SETTINGS.scorecard, base)} | told


def test_typical_clips_are_decided_as_they_should_be():
    kept, dropped = verdict_of(clip(), features(), SETTINGS), verdict_of(clip(), features("dropped"), SETTINGS)
    assert (kept.decision, dropped.decision) == ("keep", "drop")
    assert kept.features["keep_chance"] == pytest.approx(keep_chance(features(), SETTINGS))


def test_every_axis_says_its_part_in_words():
    reasons = verdict_of(clip(), features("dropped"), SETTINGS).reasons
    assert "does not look like structured 2D content" in reasons[0]
    for axis in AXES:
        (told,) = [reason for reason in reasons if reason.startswith(axis)]
        assert "speaks against it (-" in told
    appearance = next(reason for reason in reasons if reason.startswith("appearance"))
    flat = INPUTS["flat_share"]
    values = (SETTINGS.scorecard.dropped["flat_share"], SETTINGS.scorecard.kept["flat_share"])
    assert f"{flat.number(values[0])} of it is flat (kept clips {flat.number(values[1])}, " in appearance


def test_what_speaks_most_for_the_decision_comes_first():
    odd = features(root_sheared=1.0)
    verdict = verdict_of(clip(), odd, SETTINGS)
    assert verdict.decision == "drop" and verdict.reasons[1].startswith("scene geometry speaks against it")
    assert "100 % of it is sheared" in verdict.reasons[1]


def test_the_rules_drop_what_is_short_or_still():
    short = verdict_of(clip(), features(duration_s=0.5), SETTINGS)
    assert short.decision == "drop" and "0.50 s" in short.reasons[0] and "1 s" in short.reasons[0]
    assert verdict_of(clip(), features(static_share=0.89), SETTINGS).decision == "keep"
    still = verdict_of(clip(), features(static_share=1.0), SETTINGS)
    assert still.decision == "drop" and "nothing moves in 100 % of its half seconds" in still.reasons[0]


@pytest.mark.parametrize("wrong", [{"shortest": 2}, {"keep_above": 1.5}, {"scorecard": {"intercept": 1}}, {"vote": {"weight": 1}}])
def test_wrong_settings_are_refused_in_words(wrong):
    with pytest.raises(ConfigError, match=f"filter: .*{next(iter(wrong))}"):
        FilterSettings.of(wrong)


def test_a_shard_measures_a_clip_once_and_goes_on_after_a_bad_one(tmp_path):
    with CanonicalWriter(tmp_path / "a.mp4", 64, 48) as writer:
        for frame in range(48):
            picture = np.full((48, 64, 3), 200, np.uint8)
            picture[10:20, frame : frame + 10] = (200, 30, 30)
            writer.add(picture)
    (tmp_path / "b.mp4").write_text("no video")
    clips = [clip(tmp_path / "b.mp4", "B_1", "1"), clip(tmp_path / "a.mp4", "A_1", file_sha256(tmp_path / "a.mp4"))]
    bad, good = filter_shard(clips, {}, "code", tmp_path / "store")
    assert bad.decision == "drop" and "b.mp4" in bad.reasons[0] and not bad.retry
    assert good.decision == "keep"
    (tmp_path / "a.mp4").unlink()
    assert next(filter_shard(clips[1:], {"shortest_s": 3.0}, "code", tmp_path / "store")).decision == "drop"


def test_the_demo_clips_are_kept_and_the_negatives_dropped():
    kept = [filter_clip(one, SETTINGS).decision for one in read_clips(DEMO / "clips.tsv")]
    assert kept == ["keep"] * 5
    for mp4 in sorted((DEMO / "clips").glob("N_*.mp4")):
        assert filter_clip(clip(mp4), SETTINGS).decision == "drop"
