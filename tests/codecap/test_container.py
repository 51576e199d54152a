"""Which image do jobs run in?"""

from pathlib import Path

import pytest

from codecap.container import VARIABLE, ContainerMissing, image


@pytest.fixture(autouse=True)
def _none_named(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_without_apptainer_there_is_no_image(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "/nowhere.sif")
    assert image(tmp_path, []) is None
    assert image(tmp_path, ["conda"]) is None


def test_the_built_image_is_taken_unless_another_is_named(tmp_path, monkeypatch):
    (tmp_path / "envs").mkdir()
    built = tmp_path / "envs" / "codecap.sif"
    built.touch()
    assert image(tmp_path, ["apptainer"]) == str(built)
    other = tmp_path / "other.sif"
    other.touch()
    monkeypatch.setenv(VARIABLE, str(other))
    assert image(tmp_path, ["apptainer"]) == str(other)


def test_an_address_is_left_to_apptainer(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "oras://registry.example/codecap:0.1.0")
    assert image(tmp_path, ["apptainer"]) == "oras://registry.example/codecap:0.1.0"


def test_a_relative_name_is_of_the_folder_where_the_run_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.sif").touch()
    monkeypatch.setenv(VARIABLE, "mine.sif")
    assert image(tmp_path / "project", ["apptainer"]) == str(tmp_path / "mine.sif")


def test_a_missing_image_says_how_to_build_it(tmp_path):
    with pytest.raises(ContainerMissing, match=r"no image .*codecap\.sif; build it in .* with `apptainer build --fakeroot"):
        image(tmp_path, ["apptainer"])


def test_no_conda_in_the_image(tmp_path):
    with pytest.raises(ContainerMissing, match="give one of the two"):
        image(tmp_path, ["apptainer", "conda"])
