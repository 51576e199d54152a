"""A judge that is asked several times: what it gave each time is in the row, in points, and nowhere else."""

from loopback import Loopback

from codecap.records import FocalPoint
from codecap.score.judges import Judgement
from codecap.score.retention import measurement_of

POINT = FocalPoint(focal_id="p", kind="static", description="it is there", start_s=0, end_s=1)


def test_each_answer_is_kept_beside_the_median():
    told = measurement_of(POINT, Judgement(4.0, "seen", (4, 1, 5)))
    assert (told.value, told.given, told.detail) == (80.0, (4, 1, 5), "points 4, 1, 5, spread 4: seen")


def test_one_answer_is_no_repeat():
    assert measurement_of(POINT, Judgement(4.0, "points 1, 5, spread 4: says the page", (4,))).given == ()
    assert measurement_of(POINT, Judgement(None, "no answer")).given == ()


def test_rows_of_the_engine_have_them(bench):
    with Loopback() as server:
        endpoint = {"api": "openai", "model": "m", "base_url": server.base_url()}
        rows = bench.rows(endpoint, repeats=3)
        assert [row.given for row in rows] == [[4.0, 4.0, 4.0]] * 3
        assert [row.given for row in bench.rows(endpoint, repeats=1)] == [[]] * 3
