"""What a dead main process left in the queue, and nothing else."""

from pathlib import Path

import pytest

from codecap.cluster import leftovers, slurm

RULES = {"render_captions", "segment_objects", "compare_systems"}


def job(job_id: str, comment: str, folder: str | Path = "/home/u/run", state: str = "RUNNING") -> slurm.Job:
    return slurm.Job(job_id, state, "None", "uuid", "cpu", "n1", 5, comment, str(folder))


def test_only_jobs_of_this_folder_and_of_our_rules_count(tmp_path):
    run, link = tmp_path / "run", tmp_path / "link"
    run.mkdir()
    link.symlink_to(run)
    jobs = [
        job("1", "rule_render_captions_wildcards_vtrace_00", run),
        job("2", "rule_compare_systems", link),
        job("3", "rule_render_captions_wildcards_vtrace_00", tmp_path),  # another folder
        job("4", "rule_someone_elses_wildcards_x", run),
        job("5", "", run),
        job("6", "rule_render_captionsx", run),
        job("7", "rule_render_captions", run),  # the main process itself
    ]
    assert [left.job_id for left in leftovers.of_folder(jobs, link, RULES, own_job="7")] == ["1", "2"]


@pytest.fixture
def cluster(program, tmp_path, monkeypatch):
    """squeue shows the jobs in files of a folder; scancel takes away those that end."""
    monkeypatch.setattr(leftovers, "EVERY_S", 0.01)
    held = tmp_path / "jobs"
    held.mkdir()
    program("squeue", f"cat {held}/* 2>/dev/null; true")
    program("scancel", f'echo "$@" >> {tmp_path}/cancelled; for j in "$@"; do rm -f {held}/$j; done')

    def add(name: str, comment: str, state: str = "RUNNING", folder: Path = tmp_path) -> None:
        fields = (name.removeprefix("stays-"), state, "None", "uuid", "cpu", "n1", "0:05", comment, str(folder))
        (held / name).write_text("\x1f".join(fields) + "\n")

    return add


def test_they_are_cancelled_and_waited_for(cluster, tmp_path):
    cluster("11", "rule_render_captions_wildcards_a_00")
    cluster("12", "rule_segment_objects_wildcards_a_00", state="PENDING")
    cluster("13", "rule_render_captions_wildcards_a_00", folder=Path("/elsewhere"))
    told = []
    assert leftovers.end(tmp_path, RULES, tell=told.append) == 2
    assert (tmp_path / "cancelled").read_text() == "--quiet 11 12\n"
    assert len(told) == 1 and "2 of them" in told[0]
    assert leftovers.end(tmp_path, RULES, tell=told.append) == 0 and len(told) == 1


def test_those_that_do_not_end_stop_the_run(cluster, tmp_path):
    cluster("stays-11", "rule_render_captions_wildcards_a_00")
    with pytest.raises(leftovers.StillRunning, match=r"^11: jobs of an earlier run in this folder.*scancel --signal=KILL"):
        leftovers.end(tmp_path, RULES, tell=lambda _: None, longest_s=0.05)


def test_those_whose_node_does_not_answer_do_not(cluster, tmp_path):
    cluster("stays-11", "rule_render_captions_wildcards_a_00", state="COMPLETING")
    told = []
    assert leftovers.end(tmp_path, RULES, tell=told.append, longest_s=0.05) == 1
    assert "11: cancelled, and their nodes do not answer" in told[-1]


def test_a_controller_that_does_not_answer_stops_the_run(program, tmp_path, monkeypatch):
    monkeypatch.setattr(slurm.time, "sleep", lambda _: None)
    program("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(slurm.NoAnswer):
        leftovers.end(tmp_path, RULES)
