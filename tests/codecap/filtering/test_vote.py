"""The vote against a scripted endpoint on this machine."""

import numpy as np
import pytest
from loopback import Loopback

from codecap.exchange import session
from codecap.filtering.features import measure
from codecap.filtering.verdict import FilterSettings, asks_about, filter_shard, keep_chance
from codecap.filtering.vote import Vote, VoteSettings
from codecap.records import Clip
from codecap.video import CanonicalWriter, file_sha256

ANSWER = {
    "scene_geometry": "planar",
    "appearance": "simple",
    "motion": "few_objects",
    "evidence": "A square slides over plain ground.",
}
ALWAYS = {"above": 0, "below": 1}


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    mp4 = tmp_path_factory.mktemp("clip") / "a.mp4"
    with CanonicalWriter(mp4, 64, 48) as writer:
        for frame in range(48):
            picture = np.full((48, 64, 3), 200, np.uint8)
            picture[10:20, frame : frame + 10] = (200, 30, 30)
            writer.add(picture)
    return Clip(clip_id="A_1", category="A", mp4=mp4, sha256=file_sha256(mp4), frames=48, width_px=64, height_px=48)


def endpoint(server, **told):
    return {"api": "openai", "model": "voter-1", "base_url": server.base_url(), "timeout_s": 5} | told


def verdicts(clips, store, server, **told):
    settings = {"vote": {"endpoint": endpoint(server), **ALWAYS, **told}}
    with session(store, {"tries": 1}, stage="filter_clips"):
        return list(filter_shard(clips, settings, "code", store))


@pytest.mark.parametrize(("said", "side", "words"), [("yes", 1, "speaks for it (+20.0)"), ("no", -1, "against it (-20.0)")])
def test_a_vote_adds_to_the_odds_and_is_told(clip, tmp_path, said, side, words):
    with Loopback(lambda _: ANSWER | {"structured": said}) as server:
        (verdict,) = verdicts([clip], tmp_path, server, weight=20)
        assert verdict.decision == ("keep" if side > 0 else "drop")
        assert words in verdict.reasons[-1] and "few objects motion; A square slides" in verdict.reasons[-1]
        assert "vote of voter-1" in verdict.protocol
        assert verdicts([clip], tmp_path, server, weight=20) == [verdict]
        assert server.account.calls == 1  # the second is replayed


def test_an_unsure_vote_changes_nothing(clip, tmp_path):
    with Loopback(lambda _: ANSWER | {"structured": "unsure"}) as server:
        (verdict,) = verdicts([clip], tmp_path, server)
    assert verdict.features["keep_chance"] == pytest.approx(keep_chance(measure(clip.mp4), FilterSettings()))
    assert "is unsure (+0.0)" in verdict.reasons[-1]


def test_the_model_sees_frames_on_the_grid_with_their_times(clip, tmp_path):
    asked = []
    with Loopback(lambda text: asked.append(text) or ANSWER | {"structured": "yes"}) as server:
        verdicts([clip], tmp_path, server, rate_hz=2)
        (body,) = server.bodies
    assert "Clip, 0.000 s" in asked[0] and "Clip, 1.500 s" in asked[0]
    pictures = [part for part in body["messages"][-1]["content"] if part["type"] == "image_url"]
    assert len(pictures) == 4


def test_only_clips_in_doubt_are_asked_about(clip):
    with Loopback() as server:
        settings = FilterSettings.of({"vote": {"endpoint": endpoint(server)}})
        features = measure(clip.mp4)
        assert keep_chance(features, settings) > 0.98 and not asks_about(features, settings)
        assert not asks_about(features | {"static_share": 1.0}, settings.model_copy(update={"keep_above": 0.99}))
        wide = FilterSettings.of({"vote": {"endpoint": endpoint(server), **ALWAYS}})
        assert asks_about(features, wide) and not asks_about(features | {"duration_s": 0.1}, wide)
        assert not server.arrivals


@pytest.mark.parametrize(
    "answer", ["I like it", ANSWER, ANSWER | {"structured": "maybe"}, ANSWER | {"structured": "yes", "note": "ignore the axes"}]
)
def test_an_answer_that_is_not_as_asked_does_not_count_and_is_told(clip, tmp_path, answer):
    with Loopback(lambda _: answer) as server:
        (verdict,) = verdicts([clip], tmp_path, server, asks=2)
        assert server.account.calls == 2
    assert verdict.decision == "keep" and not verdict.retry
    assert "could not be read, and does not count: no readable answer in 2 asks" in verdict.reasons[-1]


def test_an_endpoint_that_is_down_leaves_the_clip_to_the_next_run(clip, tmp_path):
    with Loopback(lambda _: ANSWER | {"structured": "yes"}) as server:
        server.behave("500")
        (verdict,) = verdicts([clip], tmp_path, server)
        assert verdict.retry and verdict.decision == "drop" and verdict.reasons[0].startswith("no vote this time: ")
        (again,) = verdicts([clip], tmp_path, server)
        assert again.decision == "keep" and not again.retry


def test_settings_that_ask_about_no_clip_are_refused():
    told = {"endpoint": {"api": "openai", "model": "m"}, "above": 0.9, "below": 0.1}
    with pytest.raises(ValueError, match="no clip would be asked about"):
        VoteSettings.model_validate(told)


def test_a_models_words_are_kept_short_and_on_one_line():
    told = Vote.model_validate(ANSWER | {"structured": "no", "evidence": "a\nb " * 500})
    assert len(told.in_words) < 420 and "\n" not in told.in_words
