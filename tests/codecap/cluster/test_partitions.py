"""The partition of each kind of node, on a real cluster, and on that cluster with one thing changed."""

import dataclasses
from pathlib import Path

import pytest

from codecap.cluster import facts, site
from codecap.cluster.findings import Asked, Finding, Verdict
from codecap.cluster.partitions import Judged
from codecap.cluster.settings import Cluster
from codecap.cluster.site import Site

KEPT = Path(__file__).parent / "slurm-22.05"  # printed by SLURM 22.05.8
RENDER = Asked(4000, 200, 4, "render_captions")


@pytest.fixture(scope="module")
def here() -> Site:
    """Partitions cpu (the default one), network and gpu, with a node of 12000 MB each."""
    nodes = list(facts.read_node_groups((KEPT / "sinfo.txt").read_text()))
    pairs = facts.read_partitions((KEPT / "partition.txt").read_text())
    partitions = {name: site.partition(told, [node for node in nodes if node.partition == name]) for name, told in pairs.items()}
    return Site(partitions, facts.read_settings((KEPT / "config.txt").read_text()))


def changed(here: Site, *names: str, state: str | None = None, **values) -> Site:
    """The site with partitions changed; `state` is that of all their nodes."""
    found = dict(here.partitions)
    for name in names:
        nodes = tuple(dataclasses.replace(node, state=state or node.state) for node in found[name].nodes)
        found[name] = dataclasses.replace(found[name], nodes=nodes, **values)
    return dataclasses.replace(here, partitions=found)


def judged(here: Site, kind="cpu", asked=RENDER, **settings) -> Finding:
    (finding,) = Judged(here, Cluster(**settings), kind, asked).findings()
    return finding


@pytest.mark.parametrize("state", ["drained", "down", "draining", "fail"])
@pytest.mark.parametrize("settings", [{}, {"partition": "cpu"}], ids=["not set", "set"])
def test_a_partition_without_a_node_that_takes_jobs_now_is_noted_and_stays(here, state, settings):
    finding = judged(changed(here, "cpu", state=state), **settings)
    assert finding.verdict is Verdict.NOTE and "takes jobs now" in finding.told
    assert finding.fits == "network" and not finding.decided


def test_of_several_partitions_each_has_its_finding_with_its_name(here):
    several = Cluster(partition="network,cpu,gpu")
    told = list(Judged(changed(here, "cpu", state="drained"), several, "cpu", RENDER).findings())
    assert [finding.verdict for finding in told] == [Verdict.OK, Verdict.NOTE, Verdict.NOTE]
    assert told[0].told.startswith("network: 1 nodes") and told[1].told == "cpu: none of its nodes takes jobs now"
    assert told[2].told.startswith("gpu: its nodes have GPUs")


@pytest.mark.parametrize("state", ["idle", "allocated", "mixed"])
def test_a_partition_with_nodes_that_work_is_no_matter(here, state):
    assert judged(changed(here, "cpu", state=state), partition="cpu").verdict is Verdict.OK


@pytest.mark.parametrize("settings", [{}, {"partition": "cpu"}], ids=["not set", "set"])
def test_another_partition_is_not_taken_because_ones_own_is_down(here, settings):
    finding = judged(changed(here, "cpu", up=False), **settings)
    assert finding.verdict is Verdict.WRONG and "is not up" in finding.told
    assert finding.fits == "network" and not finding.decided


def test_what_a_partition_that_is_down_would_never_take_is_decided(here):
    finding = judged(changed(here, "cpu", up=False, groups=frozenset({"physics"})), partition="cpu")
    assert finding.verdict is Verdict.WRONG and finding.fits == "network" and finding.decided


def test_gpu_nodes_are_never_taken_for_jobs_that_need_none(here):
    closed = changed(changed(here, "cpu", up=False), "network", groups=frozenset({"physics"}))
    finding = judged(closed, partition="network")
    assert finding.verdict is Verdict.WRONG and finding.fits == "gpu" and not finding.decided
    assert finding.told == "network is for the groups physics; what is left has GPUs"
    assert not judged(closed).decided


def test_gpu_nodes_for_jobs_that_need_none_are_noted(here):
    finding = judged(here, partition="gpu")
    assert finding.verdict is Verdict.NOTE and finding.fits == "cpu" and not finding.decided
    assert finding.told.startswith("its nodes have GPUs, which these jobs do not use: 1 nodes, up to 8 CPUs")
    assert judged(here, "network", network_partition="gpu").verdict is Verdict.NOTE
    assert judged(here, "gpu", gpu_partition="gpu").verdict is Verdict.OK


def test_jobs_that_only_a_factor_makes_too_large_do_not_speak_against_a_partition(here):
    huge = Asked(400_000, 200, 4, "render_captions")
    for settings in ({}, {"partition": "cpu"}):
        assert judged(here, asked=huge, memory_factor=1, **settings).verdict is Verdict.WRONG
        assert judged(here, asked=huge, memory_factor=100, **settings).verdict in (Verdict.OK, Verdict.UNSET)
        assert judged(here, asked=huge, memory_factor=20, **settings).verdict is Verdict.WRONG  # 20000 MB without it


def test_other_settings_are_judged_by_the_partition_that_jobs_go_to(here):
    drained = changed(here, "cpu", state="drained")
    assert Judged(drained, Cluster(), "cpu", RENDER).taken.name == "cpu"
    assert Judged(drained, Cluster(partition="network"), "cpu", RENDER).taken.name == "network"
    assert Judged(here, Cluster(), "gpu", RENDER).taken.name == "gpu"
