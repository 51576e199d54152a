"""Which jobs wait for somebody to do something: reasons as squeue prints them."""

import pytest

from codecap.cluster import waits
from codecap.cluster.slurm import Job

AWAY = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"


def waiting(reason: str, state: str = "PENDING") -> Job:
    return Job("1", state, reason, "5af0", "cpu", "", None, "", "/x")


def test_reasons_are_counted_whatever_nodes_they_name():
    jobs = [
        waiting("ReqNodeNotAvail, UnavailableNodes:n1"),
        waiting("ReqNodeNotAvail, UnavailableNodes:n[2-3]"),
        waiting("Priority"),
        waiting("None"),
        waiting("Priority", state="RUNNING"),
    ]
    assert waits.reasons(jobs) == {"ReqNodeNotAvail": 2, "Priority": 1}


@pytest.mark.parametrize("reason", ["ReqNodeNotAvail, UnavailableNodes:n1", AWAY, AWAY.replace(" ", "_")])
def test_nodes_that_are_drained_are_told_with_where_to_look(reason):
    (words,) = waits.worries([waiting(reason)]).values()
    assert words.startswith("1 job waits for nodes that are down, drained or reserved") and "sinfo -R" in words


def test_what_starts_by_itself_is_no_worry():
    assert waits.worries([waiting("Priority"), waiting("Resources"), waiting("BeginTime"), waiting("None")]) == {}


def test_what_asks_for_too_much_is_told_with_its_reason():
    (words,) = waits.worries([waiting("PartitionTimeLimit")] * 2).values()
    assert words.startswith("2 jobs will not start as the settings are: PartitionTimeLimit") and "codecap slurm check" in words
