"""The configuration: every key described, unknown ones refused with the file and the right name."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from codecap import config, registry
from codecap.render.settings import RenderSettings
from codecap.score.engine import choice
from codecap.video import CODECS

DEMO = config.PROJECT / "config" / "demo.yaml"


def refused(tmp_path: Path, told: dict) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(told))
    with pytest.raises(config.ConfigError) as error:
        config.load(DEMO, path)
    return str(error.value)


def test_the_committed_configurations_are_right():
    assert config.load()["metrics"]["visual_similarity"]["encoder"] == "vjepa2_1"
    assert config.load(DEMO)["metrics"]["visual_similarity"]["encoder"] == "efficientnet"


def test_every_key_of_the_schema_is_described():
    def undescribed(schema, place):
        for key, below in (schema.get("properties") or {}).items():
            if "description" not in below:
                yield f"{place}.{key}"
            yield from undescribed(below, f"{place}.{key}")
        if isinstance(schema.get("additionalProperties"), dict):
            yield from undescribed(schema["additionalProperties"], f"{place}.*")

    assert list(undescribed(yaml.safe_load(config.SCHEMA.read_text()), "")) == []


def test_every_key_of_the_schema_is_in_the_manual():
    manual = (config.PROJECT / "config" / "README.md").read_text()
    keys = yaml.safe_load(config.SCHEMA.read_text())["properties"]
    assert [key for key in keys if f"`{key}`" not in manual] == []


def test_the_render_section_the_schema_the_manual_and_the_code_agree():
    fields = {field.name: field.default for field in dataclasses.fields(RenderSettings)}
    schema = yaml.safe_load(config.SCHEMA.read_text())["properties"]["render"]["properties"]
    manual = (config.PROJECT / "config" / "README.md").read_text()
    assert config.load()["render"] == fields
    assert set(schema) == set(fields)
    assert [key for key in fields if f"`{key}`" not in manual] == []
    assert schema["codec"]["enum"] == list(CODECS)
    assert all(RenderSettings.of({"purity": choice}).purity == choice for choice in schema["purity"]["enum"])


def test_an_unknown_key_is_named_with_its_file_and_the_right_one(tmp_path):
    told = refused(tmp_path, {"bukets": 3})
    assert "mine.yaml: bukets: unknown key; did you mean 'buckets'?" in told


def test_an_unknown_key_of_a_metric_is_refused():
    wrong = config.load(DEMO, overrides={"metrics": {"kss": {"sigma_pixels": 2}}})
    with pytest.raises(registry.Unavailable, match=r"metrics.kss: wrong settings: sigma_pixels"):
        choice.check(wrong)
    choice.check(config.load(DEMO))


def test_a_wrong_value_is_named_with_what_is_allowed(tmp_path):
    told = refused(tmp_path, {"metrics": {"kss": {"lane": "fast"}}})
    assert "mine.yaml: metrics.kss.lane" in told and "'cpu', 'gpu', 'judge'" in told


def test_a_system_that_is_not_in_models_is_named(tmp_path):
    assert "systems: 'gpt' is not in models" in refused(tmp_path, {"systems": ["vtrace", "gpt"]})


def test_all_problems_come_at_once(tmp_path):
    assert len(refused(tmp_path, {"bukets": 3, "annotations": "maybe", "buckets": 0}).splitlines()) == 4


@pytest.mark.parametrize("text", ["a: [", "- 1\n- 2\n"])
def test_a_file_that_is_no_configuration(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(config.ConfigError, match="mine.yaml"):
        config.load(path)


def test_settings_of_unused_backends_change_nothing():
    metrics = {"m": {"lane": "cpu", "encoder": "a", "encoders": {"a": {"k": 1}, "b": {"k": 2}}}}
    before = choice.metric({"metrics": metrics}, "m").settings
    metrics["m"]["encoders"]["b"]["k"] = 3
    metrics["m"]["lane"] = "gpu"
    assert choice.metric({"metrics": metrics}, "m").settings == before
    metrics["m"]["encoders"]["a"]["k"] = 3
    assert choice.metric({"metrics": metrics}, "m").settings != before


def test_every_backend_of_the_papers_protocol_is_there():
    choice.check(config.load())


def test_a_backend_that_is_not_there_gives_the_registrys_message():
    made = config.load(overrides={"metrics": {"visual_similarity": {"encoder": "dinov9"}}})
    with pytest.raises(
        registry.Unavailable, match=r"metrics.visual_similarity.encoder: no encoder called 'dinov9'.*efficientnet.*vjepa2_1"
    ):
        choice.check(made)


def test_an_entry_is_removed_by_giving_it_no_value(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("metrics: {lag: null}\nmodels: {still: null}\n")
    made = config.load(DEMO, path)
    assert "lag" not in made["metrics"] and "still" not in made["models"] and "kss" in made["metrics"]


def test_a_value_from_the_command_line_is_blamed_on_no_file():
    with pytest.raises(config.ConfigError) as error:
        config.load(DEMO, overrides={"clips": None, "buckets": "many"})
    assert all(".yaml" not in line for line in str(error.value).splitlines()[1:])


def test_a_folder_is_no_configuration(tmp_path):
    with pytest.raises(config.ConfigError, match="cannot be read as a configuration file"):
        config.load(tmp_path)
