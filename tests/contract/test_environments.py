"""One set of pins, wherever it is written."""

import tomllib

import yaml

from codecap.config import PROJECT


def test_the_conda_environment_has_the_pins_of_the_package():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    environment = yaml.safe_load((PROJECT / "envs" / "base.yaml").read_text())
    by_pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert sorted(by_pip) == sorted(project["dependencies"])


def test_every_pin_is_exact():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    pins = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    assert [pin for pin in pins if "==" not in pin] == []
