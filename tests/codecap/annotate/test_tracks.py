import numpy as np

from codecap.annotate.regions import Region
from codecap.annotate.tracks import Tracker, stitched

RED, BLUE = (220.0, 40.0, 40.0), (40.0, 60.0, 220.0)


def region(x0, y0, rgb=RED, side=20):
    return Region("figure", (float(x0), float(y0), float(x0 + side), float(y0 + side)), side * side, rgb, 100.0)


def tracked(frames):
    """Tracks of lists of regions, one list a frame."""
    tracker = Tracker()
    for frame, regions in enumerate(frames):
        tracker.add(frame, regions)
    return tracker.tracks


def test_two_regions_that_move_are_two_tracks():
    tracks = tracked([[region(10 + 3 * k, 10), region(200 - 3 * k, 100, BLUE)] for k in range(30)])
    assert [len(track.frames) for track in tracks] == [30, 30]
    assert tracks[0].boxes_xyxy()[29].tolist() == [97, 10, 117, 30]
    assert tracks[1].boxes_xyxy()[29].tolist() == [113, 100, 133, 120]


def test_two_alike_that_cross_keep_their_ways():
    tracks = tracked([[region(10 + 6 * k, 10), region(190 - 6 * k, 22)] for k in range(30)])
    ends = sorted(track.boxes_xyxy()[-1][0] for track in tracks)
    assert len(tracks) == 2 and ends == [16, 184]
    assert all(np.ptp(track.boxes_xyxy()[:, 1]) == 0 for track in tracks)


def test_a_short_gap_is_filled_in_a_straight_line():
    (track,) = tracked([[] if k in (10, 11) else [region(10 + 4 * k, 10)] for k in range(20)])
    assert track.boxes_xyxy()[:, 0].tolist() == [10 + 4 * k for k in range(20)]


def test_another_colour_in_the_same_place_is_another_track():
    assert len(tracked([[region(10, 10, RED if k < 10 else BLUE)] for k in range(20)])) == 2


def test_what_was_hidden_goes_on_where_its_motion_leads():
    tracks = tracked([[] if 20 <= k < 35 else [region(10 + 4 * k, 10)] for k in range(60)])
    assert len(tracks) == 2
    (whole,) = stitched(tracks)
    assert (whole.first, whole.last) == (0, 59)
    assert np.allclose(whole.boxes_xyxy()[:, 0], 10 + 4 * np.arange(60))


def test_what_turns_up_elsewhere_is_not_joined():
    tracks = tracked([[] if 20 <= k < 35 else [region(10 if k < 20 else 300, 10)] for k in range(60)])
    assert len(stitched(tracks)) == 2


def test_flickers_are_forgotten_and_lasting_tracks_kept():
    rng = np.random.default_rng(3)
    frames = []
    for _ in range(200):
        specks = [region(float(x), float(y), side=6) for x, y in rng.integers(60, 2000, (20, 2))]
        frames.append([region(10, 10), *specks])
    tracks = tracked(frames)
    assert len(tracks) < 1500  # of about 4,000 that were begun
    assert max(len(track.frames) for track in tracks) == 200
