"""`codecap weights list|fetch|verify|prepare`, with a table and a server of the test's own."""

import hashlib
import json

import pytest
from typer.testing import CliRunner

from codecap.cli import app

DATA = b"weights"


@pytest.fixture
def run(place, table, server):
    server.files["a.bin"] = DATA
    part = {"kind": "file", "source": server.url("a.bin"), "into": "a.bin"}
    table(
        exact={"about": "with a digest", "parts": [{**part, "sha256": hashlib.sha256(DATA).hexdigest()}]},
        first={"about": "without", "parts": [part], "default_of": ["score.encoders.siglip2"]},
    )

    def run(*arguments, code: int = 0):
        done = CliRunner().invoke(app, ["weights", *arguments])
        assert done.exit_code == code, done.output
        return done

    return run


def test_list_says_what_is_here_and_who_needs_it(run):
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert rows["first"]["needed_by"] == ["score.encoders.siglip2"] and rows["exact"]["needed_by"] == []
    assert rows["first"]["state"] == "not here"
    run("fetch", "first")
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert rows["first"]["state"] == "here"
    assert "needed by score.encoders.siglip2" in run("list").stdout


def test_verify_tells_what_no_table_has_confirmed(run):
    run("fetch", "exact", "first")
    told = run("verify", "exact", "first").stdout
    assert "exact: ok\n" in told
    assert "first: ok (unverified: no digest in the table; as at the first fetch)" in told


def test_verify_fails_where_something_is_wrong(run, place):
    run("fetch", "exact")
    (place / "exact" / "a.bin").write_bytes(b"changed")
    told = run("verify", "exact", code=1).stderr
    assert "a.bin: its contents have changed" in told and "codecap weights fetch exact" in told
    assert "codecap weights fetch first" in run("verify", "first", code=1).stderr


def test_without_names_the_configuration_decides(run, server):
    run("fetch")
    assert server.asked == [("a.bin", None)]


def test_an_unknown_name_is_told_before_anything_is_fetched(run, server):
    assert "there are exact, first" in run("fetch", "exact", "none", code=1).stderr
    assert server.asked == []


def test_there_is_not_always_something_to_prepare(run):
    assert "there is nothing to prepare" in run("prepare", "exact", code=1).stderr
