"""Masks in a file."""

import gzip
import json

import pytest

from codecap.errors import UserError
from codecap.records import ObjectTrack
from codecap.score.masks import kept
from codecap.score.segmenters import Segmented

FOUND = Segmented(
    tracks=[ObjectTrack(name="a", status="found", boxes_xyxy=[])],
    masks={"a": {1: "13", 2: "13", 4: "04"}},
    height_px=2,
    width_px=2,
)


def test_runs_of_equal_masks_with_gaps(tmp_path):
    kept.write(tmp_path / "masks", FOUND)
    told = json.loads(kept.read_text(tmp_path / "masks"))
    assert told == {"height_px": 2, "width_px": 2, "objects": {"a": [[1, None], [2, "13"], [1, None], [1, "04"]]}}


def test_the_same_masks_give_the_same_bytes(tmp_path):
    for name in ("one", "another"):
        kept.write(tmp_path / name, FOUND)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "another").read_bytes()


@pytest.mark.parametrize("held", [b"", b"no gzip", gzip.compress(b"{}", mtime=0)[:8], gzip.compress(b"\xff\xfe", mtime=0)])
def test_a_damaged_file_is_one_error_that_names_it(tmp_path, held):
    path = tmp_path / "broken.masks.json.gz"
    path.write_bytes(held)
    with pytest.raises(UserError, match=r"broken\.masks\.json\.gz"):
        kept.read_text(path)
