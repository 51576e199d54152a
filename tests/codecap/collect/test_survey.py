"""What a survey says of drawn files, against how the test has drawn them."""

import cv2
import pytest
from drawn import figures, filmed, pictures, still, write
from PIL import Image

from codecap.collect import survey as surveying
from codecap.collect.alignment import overlaps
from codecap.collect.ingest import IngestSettings, ingest_file
from codecap.collect.survey import survey, survey_shard
from codecap.filtering.features import measure
from codecap.records import Candidate, Original
from codecap.video import CanonicalWriter, VideoError, file_sha256

SETTINGS = IngestSettings()


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """Four shots of 2, 1.5, 1.5 and 1.25 s: figures that move, a still, film, figures."""
    shots = (pictures(figures(0), 2), pictures(still(5), 1.5), pictures(filmed(2), 1.5), pictures(figures(1), 1.25))
    return write(tmp_path_factory.mktemp("survey") / "film.mp4", [picture for shot in shots for picture in shot])


@pytest.fixture(scope="module")
def found(film):
    return survey(film, {}, SETTINGS)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Three quarters of a second."""
    return write(tmp_path_factory.mktemp("survey") / "short.mp4", pictures(figures(3), 18 / 24))


def test_size_length_and_shots_are_those_that_were_drawn(found):
    assert (found["frames"], found["width_px"], found["height_px"]) == (150, 192, 108)
    assert found["shots"] == [(0, 48), (48, 84), (84, 120), (120, 150)]


def test_each_half_second_has_a_hash_and_its_activity(found):
    assert len(found["hashes"]) == len(found["activity"]) == 13
    moving, standing, grain = found["activity"][:4], found["activity"][4:7], found["activity"][7:10]
    assert min(moving) > 0.02
    assert max(standing) == 0
    assert min(grain) > 0.9


def test_a_cut_inside_of_a_half_second_is_no_activity(tmp_path):
    cut = write(tmp_path / "cut.mp4", [*pictures(still(1), 1.25), *pictures(still(2), 1.25)])
    found = survey(cut, {}, SETTINGS)
    assert (found["shots"], found["activity"]) == ([(0, 30), (30, 60)], [0.0] * 5)


def test_looks_are_what_the_filter_measures_on_a_clip_of_the_shot(film, found, tmp_path):
    for (start, stop), look in zip(found["shots"], found["looks"], strict=True):
        clip = tmp_path / f"{start}.mp4"
        ingest_file(film, clip, settings=SETTINGS, start=start, stop=stop)
        measured = measure(clip)
        assert set(look) == set(measured)
        assert look["duration_s"] == measured["duration_s"] == (stop - start) / 24
        for name in ("flat_share", "changed_share"):  # the clip is encoded once more
            assert look[name] == pytest.approx(measured[name], abs=0.1), name


def test_looks_are_those_of_the_very_clip(tmp_path):
    """A canonical clip of one shot, so large that it is halved before it is measured."""
    with CanonicalWriter(tmp_path / "a.mp4", 1280, 160) as writer:
        for picture in pictures(filmed(1), 13 / 24):
            writer.add(cv2.resize(picture, (1280, 160), interpolation=cv2.INTER_CUBIC))
    (look,) = survey(tmp_path / "a.mp4", {}, SETTINGS)["looks"]
    assert look == measure(tmp_path / "a.mp4")


def test_many_copies_are_kept_in_a_file_and_nothing_changes(short, monkeypatch):
    found = survey(short, {}, SETTINGS)
    monkeypatch.setattr(surveying, "IN_MEMORY_BYTES", 1000)
    assert survey(short, {}, SETTINGS) == found


def test_a_shot_in_which_no_frame_is_looked_at_has_no_look(tmp_path):
    flicker = [picture for seed in range(3) for picture in pictures(figures(seed), 5 / 24)]
    video = write(tmp_path / "flicker.mp4", [*pictures(figures(9), 1), *flicker, *pictures(figures(8), 1)])
    found = survey(video, {"detector": "content", "shortest_s": 0}, SETTINGS)
    assert found["shots"] == [(0, 24), (24, 29), (29, 34), (34, 39), (39, 63)]
    assert [bool(look) for look in found["looks"]] == [True, True, False, True, True]  # frames 24, 36 and 48 are looked at


def test_a_slow_video_is_surveyed_on_the_clock_of_its_clips(tmp_path):
    """At 6 pictures a second, a cut after 1 s is a cut after 24 frames."""
    slow = write(tmp_path / "slow.mp4", [*list(pictures(figures(0), 1))[::4], *list(pictures(figures(1), 1))[::4]], rate=6)
    found = survey(slow, {}, SETTINGS)
    assert (found["frames"], found["shots"]) == (48, [(0, 24), (24, 48)])


def test_a_copy_of_another_size_and_rate_is_recognised(film, found, tmp_path):
    kept = [*pictures(figures(0), 2), *pictures(still(5), 1.5), *pictures(filmed(2), 1.5)]
    copy = write(tmp_path / "copy.mp4", [picture[::2, ::2] for picture in kept[6::2]], crf=35, rate=12)
    (shared,) = overlaps(survey(copy, {}, SETTINGS)["hashes"], found["hashes"])
    assert shared.shared_s >= 4 and shared.offset_s == pytest.approx(0.25, abs=0.13)


@pytest.mark.parametrize("frames", [1, 3])
def test_a_few_frames_are_surveyed_too(tmp_path, frames):
    found = survey(write(tmp_path / "few.mp4", pictures(figures(0), frames / 24)), {}, SETTINGS)
    assert (found["frames"], found["shots"], found["activity"], len(found["hashes"])) == (frames, [(0, frames)], [0.0], 1)


def test_the_other_detectors_see_the_same_shots(film, found):
    assert survey(film, {"detector": "content"}, SETTINGS)["shots"] == found["shots"]


@pytest.mark.slow
def test_a_network_sees_the_same_shots(tmp_path):
    two = write(tmp_path / "two.mp4", [*pictures(figures(0), 1), *pictures(figures(1), 1)])
    assert survey(two, {"detector": "transnetv2"}, SETTINGS)["shots"] == [(0, 24), (24, 48)]


def originals(*told):
    return [
        Original(
            candidate=Candidate(candidate_id=path.stem, source="s", locator=str(path), whole=whole),
            status="ok",
            path=path,
            sha256=file_sha256(path),
        )
        for path, whole in told
    ]


def test_a_shard_has_a_row_each_and_measures_nothing_twice(short, tmp_path):
    film, found = short, survey(short, {}, SETTINGS)
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(film.read_bytes()[:1000])
    rows = [
        *originals((film, True), (broken, True)),
        Original(candidate=Candidate(candidate_id="n", source="s", locator="n"), status="failed"),
    ]
    first, second = survey_shard(rows, {}, {}, ["code"], tmp_path / "store")
    assert first.status == "ok" and first.model_dump(include=set(found)) == found
    assert second.status == "failed" and "broken.mp4: is an MP4 without its index" in second.reason
    film_gone = rows[0].model_copy(update={"path": tmp_path / "gone.mp4"})
    assert next(survey_shard([film_gone], {}, {}, ["code"], tmp_path / "store")) == first
    assert next(survey_shard([film_gone], {}, {}, ["other code"], tmp_path / "store")).status == "failed"


def test_what_is_to_be_one_clip_must_not_be_too_long(short, tmp_path):
    told = {"longest_s": 0.5}
    whole, in_parts = (next(survey_shard(originals((short, whole)), {}, told, [], tmp_path)) for whole in (True, False))
    assert in_parts.status == "ok"
    assert whole.status == "failed" and "is longer than 0.5 s (ingest.longest_s" in whole.reason


def test_a_small_file_whose_pictures_stay_for_days(tmp_path, monkeypatch):
    monkeypatch.setattr(surveying, "LONGEST_S", 2)
    day = tmp_path / "days.gif"
    first, *others = [Image.fromarray(picture) for picture in pictures(figures(0), 3 / 24)]
    first.save(day, save_all=True, append_images=others, duration=[100, 655_350, 655_350])
    with pytest.raises(VideoError, match=r"days.gif: is longer than .* hours; cut it"):
        survey(day, {}, SETTINGS)


def test_a_file_that_is_no_video_says_so(tmp_path):
    (tmp_path / "page.mp4").write_text("<html>")
    with pytest.raises(VideoError, match="is no video"):
        survey(tmp_path / "page.mp4", {}, SETTINGS)
