"""One set of pins, wherever it is written: pyproject.toml, conda environment, container, SAM 2's line, rules, profiles."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from codecap.config import PROJECT
from codecap.render.fonts import WANTED

ENVS = PROJECT / "envs"
PROJECT_TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
CONDA = yaml.safe_load((ENVS / "base.yaml").read_text())["dependencies"]
BY_PIP = next(entry["pip"] for entry in CONDA if isinstance(entry, dict))
DEFINITION = (ENVS / "codecap.def").read_text()
PYTHON_OF_DEBIAN = {"bookworm": "3.11", "trixie": "3.13"}


def section(name: str) -> str:
    """A section of the container's definition, without its heading."""
    found = re.search(rf"^%{name}\n(.*?)(?=^%|\Z)", DEFINITION, re.MULTILINE | re.DOTALL)
    assert found, f"codecap.def has no %{name}"
    return found[1]


def version(pins: list[str], package: str) -> tuple[int, ...]:
    (pin,) = [pin for pin in pins if pin.startswith(f"{package}==")]
    return tuple(map(int, pin.partition("==")[2].split(".")))


def test_every_pin_is_exact_and_written_once():
    for pins in (PROJECT_TABLE["dependencies"], *PROJECT_TABLE["optional-dependencies"].values(), BY_PIP):
        assert [pin for pin in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+", pin)] == []
        assert len({pin.partition("==")[0] for pin in pins}) == len(pins)


def test_the_extras_agree_with_each_other():
    by_name: dict[str, set[str]] = {}
    for pins in (PROJECT_TABLE["dependencies"], *PROJECT_TABLE["optional-dependencies"].values()):
        for pin in pins:
            by_name.setdefault(pin.partition("==")[0], set()).add(pin)
    assert {name: pins for name, pins in by_name.items() if len(pins) > 1} == {}


def test_the_conda_environment_has_the_pins_of_the_package():
    told = subprocess.run([sys.executable, ENVS / "pins.py"], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(told) == sorted(BY_PIP)
    assert set(PROJECT_TABLE["dependencies"]) <= set(told)
    beside = {pin.partition("==")[0] for pin in set(told) - set(PROJECT_TABLE["dependencies"])}
    assert beside == {"hydra-core", "iopath", "setuptools"}


def test_the_container_repeats_no_pin_but_reads_them():
    assert "==" not in DEFINITION
    assert "python3 /opt/codecap/envs/pins.py" in section("post")
    assert "--require-hashes -r /opt/codecap/envs/sam2.txt" in section("post")


def test_sam2_is_the_same_file_everywhere():
    line = re.compile(r"^sam2==\S+ --hash=sha256:[0-9a-f]{64}$", re.MULTILINE)
    (pinned,) = line.findall((ENVS / "sam2.txt").read_text())
    assert line.findall((ENVS / "base.post-deploy.sh").read_text()) == [pinned]
    assert pinned.split()[0] in PROJECT_TABLE["optional-dependencies"]["sam2"]


def test_python_is_the_same_everywhere():
    (by_conda,) = [entry.removeprefix("python =") for entry in CONDA if str(entry).startswith("python ")]
    release = re.search(r"^From: debian:(\w+)-slim$", DEFINITION, re.MULTILINE)[1]
    assert PYTHON_OF_DEBIAN[release] == by_conda
    assert PROJECT_TABLE["requires-python"] == f">={by_conda}"


def test_snakemake_and_its_executor_are_there_as_the_workflow_wants_them():
    least = re.search(r'min_version\("([\d.]+)"\)', (PROJECT / "Snakefile").read_text())[1]
    assert version(BY_PIP, "snakemake") >= tuple(map(int, least.split(".")))
    executors = {yaml.safe_load(path.read_text()).get("executor") for path in PROJECT.glob("profiles/*/config.yaml")}
    for executor in executors - {None, "local"}:
        assert version(BY_PIP, f"snakemake-executor-plugin-{executor}")


def test_every_rule_names_the_environment():
    named = {}
    for path in PROJECT.glob("rules/*.smk"):
        for rule in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            named[rule.partition(":")[0]] = re.findall(r'^    conda:\n        "(.+)"$', rule, re.MULTILINE)
    assert len(named) > 15
    assert {rule: files for rule, files in named.items() if files != ["../envs/base.yaml"]} == {}


def test_the_container_holds_browser_fonts_and_project():
    installed = section("post").partition("apt-get clean")[0].split()
    assert {family.package for family in WANTED} | {"chromium-headless-shell"} <= set(installed)
    for source, place in (line.split() for line in section("files").splitlines() if line.strip()):
        assert (PROJECT / source).exists()
        assert place == f"/opt/codecap/{source}"


def test_the_container_is_labelled_with_the_version():
    assert f"org.opencontainers.image.version {PROJECT_TABLE['version']}\n" in section("labels")
    assert f"org.opencontainers.image.licenses {PROJECT_TABLE['license']}\n" in section("labels")


@pytest.mark.parametrize("name", ["post", "environment", "runscript", "test"])
def test_the_sections_of_the_container_are_shell(name):
    subprocess.run(["sh", "-n"], input=section(name), text=True, check=True)


@pytest.mark.parametrize("script", sorted(ENVS.glob("*.sh")), ids=lambda path: path.name)
def test_the_scripts_are_shell(script):
    assert script.read_text().startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", script], check=True)


def test_a_run_in_a_container_that_is_not_there_says_how_to_build_it(tmp_path):
    demo = PROJECT / "config" / "demo.yaml"
    command = [sys.executable, "-m", "snakemake", "-n", "--snakefile", PROJECT / "Snakefile", "--directory", tmp_path]
    run = subprocess.run([*command, "--configfile", demo, "--sdm", "apptainer"], capture_output=True, text=True, check=False)
    assert run.returncode
    assert "apptainer build --fakeroot" in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr
