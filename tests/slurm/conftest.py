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

from cluster import Cluster, bring_down, bring_up, in_use

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
