"""Which stretches become clips: surveys written by hand, with the filter's features of drawn and of filmed pictures."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from drawn import figures, filmed, pictures

from codecap.collect.hashes import Hasher
from codecap.collect.parts import PartsError, PartSettings, choose, choose_all, part_id
from codecap.filtering.features import Measurement, wants
from codecap.filtering.verdict import FilterSettings
from codecap.records import Candidate, Original, PassedOver, Survey

CONTENT = FilterSettings()


def look_of(scene):
    measurement = Measurement()
    for frame, picture in enumerate(pictures(scene, 4)):
        if wants(frame):
            measurement.add(frame, picture)
    return measurement.features(96)


@pytest.fixture(scope="module")
def looks():
    return {"drawn": look_of(figures(4, (255, 255, 255))), "filmed": look_of(filmed(1)), "short": {}}


@pytest.fixture(scope="module")
def chosen(looks):
    """`chosen(shot, ...)`: parts as (start_s, stop_s) of an original of shots (seconds, activity, look), or why there are none."""

    def of(*shots, barred=(), whole=False, hashes=(), **settings):
        edges = np.cumsum([0, *(round(24 * seconds) for seconds, *_ in shots)]).tolist()
        survey = Survey(
            candidate_id="x",
            sha256="0",
            status="ok",
            frames=edges[-1],
            width_px=640,
            height_px=360,
            shots=list(pairwise(edges)),
            hashes=list(hashes) or [f"{number % 251:02x}" * 64 for number in range(-(-edges[-1] // 12))],
            activity=[activity for seconds, activity, *_ in shots for _ in range(round(2 * seconds))],
            looks=[looks[look[0] if look else "drawn"] for _, _, *look in shots],
        )
        candidate = Candidate(candidate_id="x", source="s", locator="x.mp4", whole=whole)
        parts, reason = choose(candidate, survey, barred, PartSettings(**settings), CONTENT)
        assert bool(parts) != bool(reason)
        return [(part.start / 24, part.stop / 24) for part in parts] or reason

    return of


def test_what_is_taken_whole_is_one_clip_of_the_candidates_name(chosen):
    assert chosen((2, 0.0), (700, 0.0, "filmed"), whole=True) == [(0, 702)]


def test_a_short_original_is_one_part(chosen):
    assert chosen((12, 0.3)) == [(0, 12)]


def test_what_is_shorter_than_a_clip_is_none(chosen):
    assert chosen((4, 0.3)) == "no stretch of 5 s to take: too short"


def test_a_long_shot_gives_its_liveliest_stretches_of_the_typical_length(chosen):
    found = chosen((100, 0.02), (17, 0.5), (100, 0.02), (17, 0.4), (100, 0.02), intro_s=0, end_card_s=0, most=2)
    assert found == [(100, 117), (217, 234)]


def test_parts_begin_and_end_at_cuts_where_these_are_near(chosen):
    assert chosen((3.5, 0.1), (18.5, 0.1), (2.5, 0.1), most=1) == [(3.5, 22)]


def test_intro_and_end_card_are_left_out_of_long_originals(chosen):
    assert chosen((4, 0.9), (6, 0.9), (50, 0.2), (8, 0.9), (6, 0.9), most=1, typical_s=50) == [(10, 60)]
    assert chosen((4, 0.2), (50, 0.2), most=1, typical_s=54) == [(0, 54)]  # not a long one


def test_filmed_shots_are_left_out(chosen):
    assert chosen((14, 0.3), (20, 0.9, "filmed"), (15, 0.3)) == [(0, 14), (34, 49)]
    assert chosen((20, 0.9, "filmed")) == "no stretch of 5 s to take: 100 % does not look like structured 2D content"


def test_a_shot_too_short_to_be_looked_at_is_no_reason_to_stop(chosen):
    assert chosen((8, 0.3), (0.5, 0.3, "short"), (8, 0.3)) == [(0, 16.5)]


def test_still_stretches_are_left_out_and_short_rests_are_not(chosen):
    assert chosen((10, 0.3), (1.5, 0.0), (10, 0.3), most=1, typical_s=20) == [(0, 21.5)]
    assert chosen((10, 0.3), (3, 0.001), (10, 0.3), apart_s=0) == [(0, 10), (13, 23)]
    assert "87 % stands still" in chosen((30, 0.0), (4.5, 0.3))


def test_what_another_original_shows_is_left_out(chosen):
    assert chosen((40, 0.3), barred=[(0, 20), (44, 90)]) == [(10, 22)]


def test_there_are_no_more_parts_than_wanted_and_they_keep_apart(chosen):
    found = chosen((120, 0.3), intro_s=0, end_card_s=0, most=4, apart_s=8)
    assert len(found) == 4
    assert all(after[0] - before[1] >= 8 for before, after in pairwise(found))
    assert all(5 <= stop - start <= 60 for start, stop in found)


def test_a_loop_is_taken_once(chosen):
    hasher = Hasher()
    for turn in range(3):
        for number, picture in enumerate(pictures(figures(3), 15)):
            hasher.add(picture, turn * 360 + number, turn * 360 + number + 1)
    found = chosen((45, 0.3), hashes=hasher.hashes(), typical_s=15, apart_s=0)
    assert len(found) == 1
    assert len(chosen((45, 0.3), typical_s=15, apart_s=0)) > 1


def test_frames_of_a_part_are_inside_of_the_original(chosen):
    """The last half second need not be a full one."""
    survey = Survey(
        candidate_id="x",
        sha256="0",
        status="ok",
        frames=131,
        shots=[(0, 131)],
        activity=[0.3] * 11,
        looks=[{}],
        hashes=["00" * 64] * 11,
    )
    parts, _ = choose(
        Candidate(candidate_id="x", source="s", locator="x", whole=False), survey, [(11, 40)], PartSettings(), CONTENT
    )
    assert [(part.start, part.stop, part.clip_id) for part in parts] == [(0, 131, "x_f000000")]


def test_the_same_again_gives_the_same_parts(chosen):
    shots = [(7.3, 0.2), (31.1, 0.15), (12, 0.4), (44.4, 0.12)]
    assert chosen(*shots) == chosen(*shots)


def test_ids_are_never_too_long_and_stay_apart():
    assert part_id("E_youtube-abc", 480) == "E_youtube-abc_f000480"
    one, other = part_id("x" * 78 + "1", 1_234_567), part_id("x" * 78 + "2", 1_234_567)
    assert len(one) == len(other) == 80 and one != other and one.endswith("_f1234567")


def test_every_original_has_parts_or_a_reason():
    def original(name, whole=True):
        candidate = Candidate(candidate_id=name, source="s", locator=name, whole=whole)
        return Original(candidate=candidate, status="ok", path=Path(name), sha256=name[0])

    blank = {"frames": 120, "shots": [(0, 120)], "activity": [0.0] * 10, "looks": [{}], "hashes": ["00" * 64] * 10}

    def survey(name):
        return Survey(candidate_id=name, sha256=name[0], status="ok", **blank)

    originals = [original("a1"), original("a2"), original("b"), original("c", whole=False)]
    surveys = [
        survey("a1"),
        survey("a2"),
        survey("c"),
        Survey(candidate_id="b", sha256="b", status="failed", reason="b: is damaged"),
    ]
    found = choose_all(originals, surveys, PartSettings(), CONTENT)
    assert [part.clip_id for part in found.parts] == ["a1"]
    assert [(row.candidate_id, row.twin) for row in found.duplicates] == [("a2", "a1")]
    assert found.passed_over == [
        PassedOver(candidate_id="a2", reason="shows what a1 shows"),
        PassedOver(candidate_id="b", reason="b: is damaged"),
        PassedOver(candidate_id="c", reason="no stretch of 5 s to take: 100 % stands still"),
    ]
    assert len(choose_all(originals, surveys, PartSettings(keep_duplicates=True), CONTENT).parts) == 2


def test_a_candidate_called_as_a_part_of_another_is_told(looks):
    shown = {"frames": 240, "shots": [(0, 240)], "activity": [0.3] * 20, "looks": [looks["drawn"]], "hashes": ["00" * 64] * 20}
    candidates = [Candidate(candidate_id=name, source="s", locator=name, whole=name != "x") for name in ("x", "x_f000000")]
    originals = [Original(candidate=one, status="ok", path=Path("x"), sha256=one.candidate_id) for one in candidates]
    surveys = [Survey(candidate_id=one.candidate_id, sha256=one.candidate_id, status="ok", **shown) for one in candidates]
    with pytest.raises(PartsError, match="clip id 'x_f000000' is used twice, of candidates x and x_f000000"):
        choose_all(originals, surveys, PartSettings(), CONTENT)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"shortest_s": 20}, "shortest_s, typical_s and longest_s must not fall"),
        ({"most": 0}, "most: Input should be greater than or equal to 1"),
        ({"tipical_s": 3}, "tipical_s: Extra inputs"),
    ],
)
def test_wrong_settings_say_what_is_wrong(told, says):
    with pytest.raises(PartsError, match=says):
        PartSettings.of(told)
