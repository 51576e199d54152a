"""The test cluster leaves a machine as it was, and ends nobody else's processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cluster import ClusterError, bring_down, etc, in_use, processes


def cluster_folder(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "cluster.json").write_text("{}")
    (folder / "slurm.conf").write_text(text)
    return folder


def test_etc_is_given_back_as_it_was(tmp_path):
    place = tmp_path / "etc"
    place.mkdir()
    (place / "slurm.conf").write_text("theirs")
    ours = cluster_folder(tmp_path / "ours", "ours")
    etc.take(ours, ["slurm.conf", "gres.conf"], place)
    assert (place / "slurm.conf").read_text() == "ours"
    assert etc.taken_by(place) == ours
    etc.give_back(ours, ["slurm.conf", "gres.conf"], place)
    assert {path.name: path.read_text() for path in place.iterdir()} == {"slurm.conf": "theirs"}
    assert etc.taken_by(place) is None


@pytest.mark.parametrize("its_folder", ["is there", "is gone"])
def test_links_that_a_killed_cluster_left_are_replaced_and_what_it_set_aside_is_not_lost(tmp_path, its_folder):
    place = tmp_path / "etc"
    place.mkdir()
    (place / "slurm.conf").write_text("theirs")
    killed = cluster_folder(tmp_path / "killed", "killed")
    etc.take(killed, ["slurm.conf"], place)
    if its_folder == "is gone":
        for path in killed.iterdir():
            path.unlink()
        killed.rmdir()
    ours = cluster_folder(tmp_path / "ours", "ours")
    etc.take(ours, ["slurm.conf"], place)
    assert (place / "slurm.conf").read_text() == "ours"
    etc.give_back(ours, ["slurm.conf"], place)
    assert {path.name: path.read_text() for path in place.iterdir()} == {"slurm.conf": "theirs"}


def test_a_process_that_has_got_the_id_of_a_dead_daemon_is_not_ours(tmp_path):
    entry = {"name": "munged", "pid": os.getpid(), "created": 1.0}
    (tmp_path / "daemons.jsonl").write_text(json.dumps(entry) + "\n")
    assert processes.daemons(tmp_path) == {}


def test_a_daemon_is_known_again_and_ended(tmp_path):
    (tmp_path / "log").mkdir()
    pid = processes.start(tmp_path, "sleeper", "sleep", "60")
    assert [process.pid for process in processes.daemons(tmp_path).values()] == [pid]
    processes.end(processes.daemons(tmp_path).values())
    assert processes.daemons(tmp_path) == {}


def test_a_folder_without_a_cluster_is_said_to_be_one(tmp_path):
    for asked in (bring_down, in_use):
        with pytest.raises(ClusterError, match="no cluster"):
            asked(tmp_path)


@pytest.mark.slurm
def test_only_the_loopback_interface_is_listened_on(cluster):
    addresses = {
        connection.laddr.ip
        for process in processes.daemons(cluster.folder).values()
        for connection in process.net_connections("tcp")
        if connection.status == "LISTEN"
    }
    assert addresses == {"127.0.0.1"}
