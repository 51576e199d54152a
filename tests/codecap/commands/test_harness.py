"""`codecap harness`: what is installed, and what is not."""

import json

from typer.testing import CliRunner

from codecap.cli import app


def test_the_agents_are_listed_with_their_versions_and_whether_they_are_here(tmp_path):
    told = CliRunner().invoke(app, ["harness", "list", "--folder", str(tmp_path), "--json"])
    rows = {row["name"]: row for row in json.loads(told.stdout)}
    assert list(rows) == ["codex", "claude_code", "pi", "node"]
    assert rows["codex"]["version"] == "0.155.1" and "codecap harness install codex" in rows["codex"]["problem"]


def test_a_wrong_name_is_one_line(tmp_path):
    told = CliRunner().invoke(app, ["harness", "install", "aider", "--folder", str(tmp_path)])
    assert told.exit_code == 1 and "there are: codex, claude_code, pi, node" in told.output + told.stderr
