"""Installing agents, by an npm that does here what npm does; the real one is asked in `test_real_agents`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from codecap.errors import UserError
from codecap.generate.agents import npm

NPM = """#!/usr/bin/env python3
import json, os, pathlib, sys
pathlib.Path(os.environ["ASKED"]).open("a").write(json.dumps(sys.argv[1:]) + "\\n")
told = json.loads(os.environ["INSTALLS"])
if "fails" in told:
    sys.exit(told["fails"])
for place, text in told.items():
    path = pathlib.Path("node_modules", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
if not pathlib.Path("package-lock.json").exists():
    pathlib.Path("package-lock.json").write_text("{}")
"""
CODEX = f"@openai/codex-linux-{npm._cpu()}/vendor/x/bin/codex"
PI = "@earendil-works/pi-coding-agent/dist/bundle/cli.js"
NODE = f"node-linux-{npm._cpu()}/bin/node"


def program(version: str) -> str:
    return f"#!/bin/sh\necho v{version}\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Has this npm, and a Node.js that is too old; told what npm installs. Gives what npm was asked."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (("npm", NPM), ("node", program("20.1.0"))):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))

    def installs(told: dict) -> None:
        monkeypatch.setenv("INSTALLS", json.dumps(told))

    return installs, lambda: [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]


def install(name: str, version: str, folder: Path, node: str = "22.23.5") -> list[str]:
    lines: list[str] = []
    npm.install(name, version, folder, node, lines.append)
    return lines


def test_a_pinned_version_is_installed_by_the_projects_lock_and_runs_nothing(tmp_path, machine):
    installs, asked = machine
    installs({CODEX: program("0.155.1")})
    install("codex", "0.155.1", tmp_path / "agents")
    (arguments,) = asked()
    assert arguments[0] == "ci" and "--ignore-scripts" in arguments
    found = npm.find("codex", "0.155.1", tmp_path / "agents")
    assert found.argv == (str(tmp_path / "agents" / "codex-0.155.1" / "node_modules" / CODEX),)
    told = json.loads((tmp_path / "agents" / "codex-0.155.1" / "installed.json").read_text())
    assert told["by_the_projects_lock"] is True and told["said"] == "0.155.1"


def test_another_version_is_installed_by_its_exact_number(tmp_path, machine):
    installs, asked = machine
    installs({CODEX: program("0.160.0")})
    install("codex", "0.160.0", tmp_path / "agents")
    assert asked()[0][:3] == ["install", "--save-exact", "@openai/codex@0.160.0"]


def test_what_is_there_is_left(tmp_path, machine):
    installs, asked = machine
    installs({CODEX: program("0.155.1")})
    install("codex", "0.155.1", tmp_path / "agents")
    assert "is in" in install("codex", "0.155.1", tmp_path / "agents")[0]
    assert len(asked()) == 1


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({CODEX: program("0.154.0")}, "says that it is 0.154.0"),
        ({"something/else": ""}, "no program for this machine"),
        ({"fails": "npm error code E404"}, "npm failed: npm error code E404"),
    ],
)
def test_what_is_not_what_it_must_be_is_not_installed(tmp_path, machine, told, words):
    machine[0](told)
    with pytest.raises(UserError, match=words):
        install("codex", "0.155.1", tmp_path / "agents")
    with pytest.raises(npm.NotInstalled):
        npm.find("codex", "0.155.1", tmp_path / "agents")
    assert list((tmp_path / "agents").iterdir()) == []


def test_an_installation_that_was_broken_off_does_not_count(tmp_path, machine):
    installs, _ = machine
    place = tmp_path / "agents" / "codex-0.155.1" / "node_modules" / CODEX
    place.parent.mkdir(parents=True)
    place.write_text("")
    with pytest.raises(npm.NotInstalled):
        npm.find("codex", "0.155.1", tmp_path / "agents")
    installs({CODEX: program("0.155.1")})
    install("codex", "0.155.1", tmp_path / "agents")
    assert npm.find("codex", "0.155.1", tmp_path / "agents").version == "0.155.1"


def test_what_another_process_has_installed_meanwhile_is_left(tmp_path, machine):
    machine[0]({CODEX: program("0.155.1")})
    folder = tmp_path / "agents"
    install("codex", "0.155.1", folder)
    held = (folder / "codex-0.155.1" / npm.MARK).stat().st_ino
    lines: list[str] = []
    npm._fetch("codex", "0.155.1", folder / "codex-0.155.1", lines.append)
    assert (folder / "codex-0.155.1" / npm.MARK).stat().st_ino == held
    assert "another process has installed it" in lines[-1] and [path.name for path in folder.iterdir()] == ["codex-0.155.1"]


def test_what_a_killed_installation_has_left_is_removed(tmp_path, machine):
    machine[0]({CODEX: program("0.155.1")})
    for name, age_s in ((".codex-0.155.1.old", 1000), (".codex-0.154.0.young", 0)):
        (tmp_path / "agents" / name / "node_modules").mkdir(parents=True)
        os.utime(tmp_path / "agents" / name, (time.time() - age_s,) * 2)
    install("codex", "0.155.1", tmp_path / "agents")
    assert {path.name for path in (tmp_path / "agents").iterdir()} == {".codex-0.154.0.young", "codex-0.155.1"}


def test_npm_ends_with_the_process_that_started_it(tmp_path):
    said = tmp_path / "pid"
    words = f"echo $$ > {said}; sleep 60"
    program = f"from pathlib import Path; from codecap.generate.agents import npm; npm._run(['sh', '-c', {words!r}], Path('/'))"
    process = subprocess.Popen([sys.executable, "-c", program])
    until = time.monotonic() + 20
    while not (said.exists() and said.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.05)
    npms = psutil.Process(int(said.read_text()))
    process.kill()
    process.wait()
    psutil.wait_procs([npms], timeout=5)
    assert not npms.is_running() or npms.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("version", ["../../evil", "", "1", "latest", "1.2.3/../x"])
def test_what_is_no_version_is_refused_and_nothing_is_made(tmp_path, machine, version):
    with pytest.raises(UserError, match="is no version of codex: give an exact one"):
        install("codex", version, tmp_path / "agents")
    assert not (tmp_path / "agents").exists()


def test_pi_gets_a_node_of_its_own_where_the_machines_is_too_old(tmp_path, machine):
    installs, asked = machine
    installs({PI: "", NODE: program("22.23.5")})
    lines = install("pi", "1.6.0", tmp_path / "agents")
    assert any("needs Node.js 22.19.0 or newer" in line and "20.1.0" in line for line in lines)
    found = npm.find("pi", "1.6.0", tmp_path / "agents", "22.23.5")
    assert (found.node, found.argv[0]) == ("22.23.5", str(tmp_path / "agents" / "node-22.23.5" / "node_modules" / NODE))
    assert found.programs == (
        tmp_path / "agents" / "pi-1.6.0",
        tmp_path / "agents" / "node-22.23.5" / "node_modules" / NODE.rpartition("/bin/")[0],
    )
    assert len(asked()) == 2


def test_without_a_node_that_is_new_enough_the_error_says_how_to_get_one(tmp_path, machine):
    installs, _ = machine
    installs({PI: "", NODE: program("22.23.5")})
    install("pi", "1.6.0", tmp_path / "agents")
    with pytest.raises(npm.NotInstalled, match=r"needs Node.js 22.19.0 or newer, .* is 20.1.0; `codecap harness install node`"):
        npm.find("pi", "1.6.0", tmp_path / "agents", "22.99.0")


@pytest.mark.parametrize(("version", "words"), [("0.155.1", ""), ("0.160.0", " --version 0.160.0")])
def test_what_is_not_there_is_told_with_what_installs_it_there(tmp_path, version, words):
    folder = tmp_path / "my agents"
    with pytest.raises(npm.NotInstalled, match=f"`codecap harness install codex{words} --folder '{folder}'`"):
        npm.find("codex", version, folder)


def test_nothing_is_installed_into_the_project(machine):
    with pytest.raises(UserError, match="in the project's own folder"):
        install("codex", "0.155.1", npm.PROJECT / "agents")


def test_an_unknown_name_lists_those_there_are(tmp_path):
    with pytest.raises(UserError, match="there are: codex, claude_code, pi, node"):
        install("aider", "1.0.0", tmp_path)


@pytest.mark.parametrize("name", ["codex", "claude_code", "pi", "node"])
def test_the_projects_locks_are_of_the_configurations_versions_and_name_each_packages_digest(name):
    from codecap import config

    told = json.loads((npm.LOCKS / name / "package-lock.json").read_text())["packages"]
    assert list(told[""]["dependencies"].values()) == [config.load()["agents"]["versions"][name]]
    packages = {place: package for place, package in told.items() if place}
    assert packages and all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert not any("resolved" in package for package in packages.values())
