"""A shard with failures of ours is planned again until it comes through, and not once more."""

from codecap.retries import Retries


def test_planned_again_until_it_comes_through(tmp_path):
    def plan():
        return Retries(tmp_path).next_try("render_captions/a/00")

    assert plan() == 0
    Retries(tmp_path).settle("render_captions/a/00", 0, unfinished=False)
    assert list(tmp_path.iterdir()) == []  # nothing to remember
    Retries(tmp_path).settle("render_captions/a/00", 0, unfinished=True)
    assert plan() == 1
    Retries(tmp_path).settle("render_captions/a/00", 1, unfinished=True)
    assert plan() == 2
    Retries(tmp_path).settle("render_captions/a/00", 2, unfinished=False)
    assert plan() == 2  # as it was run: Snakemake sees no change
    assert Retries(tmp_path).next_try("render_captions/a/01") == 0
