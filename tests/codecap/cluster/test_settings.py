"""Section `cluster`: the committed file, the schema, the manual and the record say the same."""

import dataclasses

import pytest
import yaml

from codecap import config
from codecap.cluster import settings
from codecap.cluster.settings import Cluster


def test_the_committed_file_holds_every_key_with_its_default():
    committed = yaml.safe_load((config.PROJECT / "config" / "cluster.yaml").read_text())
    assert committed == {"cluster": dataclasses.asdict(Cluster())}


def test_schema_and_manual_have_every_key():
    keys = [field.name for field in dataclasses.fields(Cluster)]
    schema = yaml.safe_load(config.SCHEMA.read_text())["properties"]["cluster"]["properties"]
    manual = (config.PROJECT / "config" / "README.md").read_text()
    assert list(schema) == keys
    assert [key for key in keys if f"`{key}`" not in manual] == []


def test_what_is_not_named_keeps_its_default():
    assert settings.of({"cluster": {"partition": "batch"}}) == Cluster(partition="batch")
    assert settings.of({}) == Cluster()


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ({"partiton": "x"}, "cluster.partiton: unknown key; did you mean 'partition'?"),
        ({"partition": 5}, "cluster.partition: 5 is not of type 'string'"),
        ({"gres": "'gpu:1'"}, "cluster.gres"),
        ({"stop_before_s": 0}, "cluster.stop_before_s: 0 is less than"),
        ({"partition": "a b"}, "cluster.partition"),
    ],
)
def test_wrong_settings_are_refused(told, wrong):
    with pytest.raises(config.ConfigError) as error:
        config.load(overrides={"cluster": told})
    assert wrong in str(error.value)


def test_gpu_and_network_nodes_take_what_is_set_for_them_and_else_the_others():
    site = Cluster(partition="cpu", account="a", qos="q", constraint="c", longest_min=60, gres="gpu:a100:1")
    assert site.nodes("network") == settings.Nodes("cpu", "a", "q", None, "c", None)
    assert site.nodes("gpu") == settings.Nodes("cpu", "a", "q", "gpu:a100:1", None, None)
    site = dataclasses.replace(site, gpu_partition="g", gpu_account="ga", gpu_qos="gq", gpu_constraint="gc", gpu_longest_min=7)
    assert site.nodes("gpu") == settings.Nodes("g", "ga", "gq", "gpu:a100:1", "gc", 7)
