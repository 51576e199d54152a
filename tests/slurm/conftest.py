"""A real cluster for all tests of this folder, brought up by the first one; `make test-slurm` runs them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the package `cluster`, and the modules beside it

from benchmark import lay, undisturbed
from cluster import Cluster, bring_down, bring_up, in_use
from loopback import Loopback
from on_slurm import SITE, Demo, StandIns, say_it_computes_on_gpus

UP = "CODECAP_TEST_CLUSTER"  # names the folder of a cluster that is up and stays so: for work on these tests


@pytest.fixture(scope="session")
def whole_cluster() -> Iterator[Cluster]:
    if UP in os.environ:
        yield in_use(Path(os.environ[UP]))
        return
    folder = Path(tempfile.mkdtemp(prefix="codecap-slurm-", dir="/tmp"))
    up = bring_up(folder, owner=os.getpid())
    try:
        yield up
    finally:
        bring_down(folder)
    shutil.rmtree(folder)


@pytest.fixture
def cluster(whole_cluster) -> Iterator[Cluster]:
    """The cluster with all its daemons and nodes, whatever the test before did to them."""
    yield whole_cluster
    whole_cluster.mend()


@pytest.fixture(scope="session")
def demo_on_slurm(whole_cluster, tmp_path_factory) -> Iterator[Demo]:
    """The whole demo on the cluster, in one bucket; it goes on while other tests run. A tracker says that it computes on a GPU."""
    run = Demo(tmp_path_factory.mktemp("on_slurm")).with_a_project_of_its_own(tmp_path_factory.mktemp("project"))
    say_it_computes_on_gpus(run.project, "score.trackers.lk")
    run.configure(cluster=SITE, metrics={"mps": {"lane": "gpu"}}, buckets=1)
    run.begin("dataset", "all")
    yield run
    run.close()


@pytest.fixture(scope="session")
def expected(tmp_path_factory) -> tuple[dict, dict]:
    return undisturbed(tmp_path_factory.mktemp("undisturbed") / "project")


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(for_s=1200) as up:
        yield up


@pytest.fixture
def run(cluster, tmp_path, server) -> Iterator[StandIns]:
    laid = lay(tmp_path / "project", server)
    yield laid
    laid.close()
