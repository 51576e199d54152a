"""config/cluster.yaml is changed line by line."""

import pytest
import yaml

from codecap.cluster import site_file
from codecap.errors import UserError

TEXT = site_file.FILE.read_text()


def test_only_the_changed_lines_differ_and_comments_keep_their_column():
    after = site_file.changed(TEXT, {"partition": "batch", "longest_min": 2880})
    lines, before = after.splitlines(), TEXT.splitlines()
    changed = [(old, new) for old, new in zip(before, lines, strict=True) if old != new]
    assert [new.split("#")[0].strip() for _, new in changed] == ["partition: batch", "longest_min: 2880"]
    assert all(old.index("#") == new.index("#") and old.split("#")[1] == new.split("#")[1] for old, new in changed)


@pytest.mark.parametrize(
    "value", ["batch", "123", "yes", "null", "a#b", "a #b", "gpu:a100:1", "a100|h100", None, 5, 1.5, "it's", "x: y"]
)
def test_what_is_written_is_read_again(value):
    once = site_file.changed(TEXT, {"gpu_constraint": value})
    assert yaml.safe_load(once)["cluster"]["gpu_constraint"] == value
    twice = site_file.changed(once, {"gpu_constraint": "other"})
    assert yaml.safe_load(twice)["cluster"]["gpu_constraint"] == "other"
    assert [line.partition(" #")[2] for line in twice.splitlines()] == [line.partition(" #")[2] for line in TEXT.splitlines()]


def test_a_long_value_pushes_its_comment_aside():
    after = site_file.changed("cluster:\n  qos: null  # which\n", {"qos": "very-long-name"})
    assert after == "cluster:\n  qos: very-long-name # which\n"


def test_a_key_that_is_not_there_is_named():
    with pytest.raises(UserError, match="no line `qos:`"):
        site_file.changed("cluster: {}\n", {"qos": "x"})


def test_writing_gives_the_difference_and_nothing_the_second_time(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(TEXT)
    difference = site_file.write({"account": "proj"}, path)
    assert "-  account: null" in difference and "+  account: proj" in difference
    assert site_file.write({"account": "proj"}, path) == ""
    with pytest.raises(UserError, match="No such file"):
        site_file.write({}, tmp_path / "none.yaml")
