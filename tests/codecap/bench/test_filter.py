from codecap.bench.filter import as_table, measure


def test_both_kinds_of_clips_are_measured_in_processes_of_their_own():
    costs = measure(seconds=2, width_px=128, height_px=96, repeats=1)
    assert [cost.kind for cost in costs] == ["shapes", "all moves"]
    assert all(cost.times_real_time > 0 and 20 < cost.peak_mb < 1000 for cost in costs)
    assert "x real time on one core" in as_table(costs)
