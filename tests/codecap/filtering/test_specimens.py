"""The test set: families that the shipped scorecard was not trained on, and third-party clips where there are any."""

import os
from pathlib import Path

import numpy as np
import pytest

from codecap.collect.ingest import ingest_files
from codecap.errors import UserError
from codecap.filtering import specimens
from codecap.filtering.evaluation import outcome_of
from codecap.filtering.labelled import drawn, read_folder
from codecap.filtering.verdict import FilterSettings, filter_clip, keep_chance
from codecap.video import CanonicalWriter

SETTINGS = FilterSettings()


def kept(features):
    return keep_chance(features, SETTINGS) > SETTINGS.keep_above


def test_no_family_is_both_trained_on_and_tested():
    trained, tested = specimens.drawers(), specimens.unseen()
    names = [name for told in (trained, tested) for label in ("keep", "drop") for name in told[label]]
    assert len(names) == len(set(names))
    assert sum(2 * len(tested[label]) for label in tested) >= 40


@pytest.mark.parametrize("name", ["scrolling_page", "cards_that_flip", "textured_flight", "plasma"])
def test_a_specimen_is_the_same_each_time_and_another_for_each_variant(name):
    drawer = next(told[name] for told in specimens.drawers().values() if name in told)
    shown = [drawer(np.random.default_rng(specimens.seed_of(name, variant)))(1.0) for variant in (0, 0, 1)]
    assert shown[0].shape == (specimens.HEIGHT_PX, specimens.WIDTH_PX, 3) and shown[0].dtype == np.uint8
    assert np.array_equal(shown[0], shown[1]) and not np.array_equal(shown[0], shown[2])


@pytest.mark.parametrize(("label", "name"), [("keep", "clocks"), ("drop", "galaxy")])
def test_some_families_that_were_not_trained_on(label, name):
    (clip,) = drawn({"keep": {}, "drop": {}} | {label: {name: specimens.unseen()[label][name]}}, variants=1)
    assert kept(clip.features) == (label == "keep")


def test_labelled_videos_are_read_from_two_folders(tmp_path):
    for label in ("keep", "drop"):
        (tmp_path / label).mkdir()
        with CanonicalWriter(tmp_path / label / "a.mp4", 64, 48) as writer:
            for frame in range(12):
                writer.add(np.full((48, 64, 3), 20 * frame, np.uint8))
    found = list(read_folder(tmp_path))
    assert [(clip.name, clip.keep) for clip in found] == [("keep/a.mp4", True), ("drop/a.mp4", False)]
    (tmp_path / "drop" / "a.mp4").unlink()
    with pytest.raises(UserError, match="drop"):
        list(read_folder(tmp_path))


@pytest.mark.slow
def test_nine_tenths_of_unseen_clips_are_decided_rightly():
    clips = list(drawn(specimens.unseen(), variants=2))
    outcome = outcome_of(clips, [kept(clip.features) for clip in clips])
    print(f"kept {outcome.kept.in_words}; dropped {outcome.dropped.in_words}; wrong: {outcome.wrong}")
    assert len(clips) >= 40
    assert outcome.kept.hits >= 0.9 * outcome.kept.clips and outcome.dropped.hits >= 0.9 * outcome.dropped.clips


@pytest.mark.slow
def test_third_party_clips(tmp_path):
    """Categories are in the manifest: NEG is to be dropped, all else to be kept."""
    folder = os.environ.get("CODECAP_EXTRA_CLIPS")
    if not folder:
        pytest.skip("CODECAP_EXTRA_CLIPS names no folder of third-party clips")
    wanted = {}
    for line in (Path(folder) / "manifest.tsv").read_text().splitlines()[1:]:
        name, category = line.split("\t")[:2]
        wanted[name] = "drop" if category.startswith("NEG") else "keep"
    rows = ingest_files([Path(folder) / name for name in wanted], tmp_path)
    decided = {name: filter_clip(row.clip, SETTINGS).decision for name, row in zip(wanted, rows, strict=True)}
    assert decided == wanted
