import os
from pathlib import Path

import numpy as np
import pytest

from codecap.clips_table import read_clips
from codecap.filtering import specimens
from codecap.filtering.features import measure_pictures
from codecap.filtering.fit import Labelled, fit, left_out
from codecap.filtering.verdict import INPUTS, FilterSettings, filter_clip, filter_shard, keep_chance, verdict_of
from codecap.records import Clip
from codecap.video import CanonicalWriter, file_sha256

DEMO = Path(__file__).parents[3] / "resources" / "demo"
SETTINGS = FilterSettings()


def clip(mp4="a.mp4", clip_id="A_1", sha256="0"):
    return Clip(clip_id=clip_id, category="A", mp4=mp4, sha256=sha256, frames=48, width_px=64, height_px=48)


def features(**told):
    return {"duration_s": 5.0, "static_share": 0.0, **SETTINGS.typical} | told


def test_the_chance_is_the_logistic_function_of_a_weighted_sum():
    settings = FilterSettings(intercept=1.0, coefficients=dict.fromkeys(INPUTS, 2.0))
    assert keep_chance(dict.fromkeys(INPUTS, 0.0), settings) == pytest.approx(0.731059, abs=1e-6)  # 1 / (1 + e^-1)
    assert keep_chance(dict.fromkeys(INPUTS, -0.5 / len(INPUTS)), settings) == pytest.approx(0.5)
    assert keep_chance(dict.fromkeys(INPUTS, -1e6), settings) == pytest.approx(0)


def test_a_typical_clip_is_kept_and_the_rules_drop_it():
    assert verdict_of(clip(), features(), SETTINGS).decision == "keep"
    short = verdict_of(clip(), features(duration_s=0.5), SETTINGS)
    assert short.decision == "drop" and "0.50 s" in short.reasons[0] and "1 s" in short.reasons[0]
    still = verdict_of(clip(), features(static_share=1.0), SETTINGS)
    assert still.decision == "drop" and "still" in still.reasons[0]


def test_the_model_names_what_speaks_against_a_clip():
    settings = FilterSettings(intercept=-1.0, coefficients=dict.fromkeys(INPUTS, 0.0) | {"flat_share": 0.5})
    verdict = verdict_of(clip(), features(flat_share=0.03), settings)
    assert verdict.decision == "drop" and "3 % of it is flat" in verdict.reasons[0]


@pytest.mark.parametrize("wrong", [{"shortest": 2}, {"keep_above": 1.5}, {"coefficients": {"flat_share": 1.0}}])
def test_wrong_settings_are_refused_in_words(wrong):
    with pytest.raises(ValueError, match=f"filter: .*{next(iter(wrong))}"):
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
    assert bad.decision == "drop" and "b.mp4" in bad.reasons[0]
    assert good.decision == "keep"
    (tmp_path / "a.mp4").unlink()
    assert next(filter_shard(clips[1:], {"shortest_s": 3.0}, "code", tmp_path / "store")).decision == "drop"


def test_the_fit_finds_the_odds_that_labels_were_drawn_with():
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 1, (4000, len(INPUTS)))
    keep = rng.random(4000) < 1 / (1 + np.exp(-(2.0 * rows[:, 0] - 1.0 * rows[:, 1])))
    clips = [
        Labelled(str(number), str(number % 4), bool(label), dict(zip(INPUTS, row, strict=True)))
        for number, (row, label) in enumerate(zip(rows.tolist(), keep, strict=True))
    ]
    found = fit(clips)
    assert list(found.coefficients.values()) == pytest.approx([2.0, -1.0] + [0.0] * (len(INPUTS) - 2), abs=0.2)
    assert np.mean([(odds > 0) == clip.keep for odds, clip in zip(left_out(clips), clips, strict=True)]) > 0.75
    with pytest.raises(ValueError, match="one kind is missing"):
        fit(clips[:1])


@pytest.mark.parametrize(
    "label, name",
    [("keep", "scrolling_page"), ("keep", "bar_chart"), ("drop", "photograph_zoom"), ("drop", "plasma"), ("drop", "fractal_zoom")],
)
def test_drawn_clips_of_a_seed_that_the_fit_did_not_see(label, name):
    drawer = specimens.drawers()[label][name]
    measured = measure_pictures(specimens.pictures(drawer, specimens.seed_of(name, 1000)), specimens.FRAMES)
    assert verdict_of(clip(), measured, SETTINGS).decision == label


def test_the_demo_clips_are_kept_and_the_negatives_dropped():
    kept = [filter_clip(one, SETTINGS).decision for one in read_clips(DEMO / "clips.tsv")]
    assert kept == ["keep"] * 5
    for mp4 in sorted((DEMO / "clips").glob("N_*.mp4")):
        assert filter_clip(clip(mp4), SETTINGS).decision == "drop"


@pytest.mark.slow
def test_third_party_clips(tmp_path):
    """Categories are in the manifest: NEG is to be dropped, all else to be kept."""
    folder = os.environ.get("CODECAP_EXTRA_CLIPS")
    if not folder:
        pytest.skip("CODECAP_EXTRA_CLIPS names no folder of third-party clips")
    from codecap.collect.ingest import ingest_files

    wanted = {}
    for line in (Path(folder) / "manifest.tsv").read_text().splitlines()[1:]:
        name, category = line.split("\t")[:2]
        wanted[name] = "drop" if category.startswith("NEG") else "keep"
    files = [Path(folder) / name for name in wanted]
    decided = {Path(row.source).name: filter_clip(row.clip, SETTINGS).decision for row in ingest_files(files, tmp_path) if row.clip}
    assert decided == wanted
