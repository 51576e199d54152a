"""Why jobs died, told from what a real cluster said of them."""

from pathlib import Path

import pytest

from codecap.cluster import fates, slurm
from codecap.cluster.fates import Cause

KEPT = Path(__file__).parent / "slurm-22.05"  # printed by SLURM 22.05.8
DEATHS = {
    "out_of_memory": ("14", Cause.OUT_OF_MEMORY, "out of memory on n1"),
    "out_of_memory_in_a_step": ("8", Cause.OUT_OF_MEMORY, "out of memory on n1"),
    "time_limit": ("9", Cause.TIME_LIMIT, "at its time limit on n1"),
    "cancelled": ("10", Cause.CANCELLED, "cancelled (scancel) on n1"),
    "failed": ("11", Cause.FAILED, "ended with an error of its own on n1"),
    "killed": ("12", Cause.OUT_OF_MEMORY, "killed on n1, most likely out of memory"),
    "node_failure": ("6", Cause.NODE_FAILURE, "node failure on n2"),
    "finished": ("13", Cause.FINISHED, "finished"),
}


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(fates, "_known", {})
    monkeypatch.setattr(fates, "_silent_until", 0.0)


@pytest.fixture
def cluster(program, tmp_path):
    """The job of one death as the controller, accounting and its log tell it; any of them may be silent."""

    def made(death: str, controller: bool = True, accounting: bool = True, log: bool = True) -> Path:
        for name in ("sbatch", "squeue"):
            program(name, "exit 1")
        gone = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"
        program("scontrol", f"cat {KEPT / death}.job" if controller else gone)
        none = "echo 'Slurm accounting storage is disabled' >&2; exit 1"
        program("sacct", f"cat {KEPT / death}.sacct" if accounting else none)
        logs = tmp_path / "slurm_logs"
        if log:
            (logs / "rule_x" / "a").mkdir(parents=True)
            (logs / "rule_x" / "a" / f"{DEATHS[death][0]}.log").write_text((KEPT / f"{death}.log").read_text())
        return logs

    return made


@pytest.mark.parametrize("death", DEATHS)
def test_a_death(death, cluster):
    job, cause, words = DEATHS[death]
    logs = cluster(death)
    fate = fates.of(job, logs)
    assert (fate.cause, fate.words) == (cause, words)
    assert fate.log == str(logs / "rule_x" / "a" / f"{job}.log")
    assert fate.over


@pytest.mark.parametrize("death", [death for death in DEATHS if death != "finished"])
@pytest.mark.parametrize("told", ["controller", "accounting", "controller and log"])
def test_a_death_of_which_not_all_is_known(death, told, cluster):
    job, cause, _ = DEATHS[death]
    if (death, told) == ("out_of_memory_in_a_step", "controller"):
        cause = Cause.FAILED  # the controller says no more of it than of any other error
    logs = cluster(death, controller="controller" in told, accounting=told == "accounting", log="log" in told)
    assert fates.of(job, logs).cause is cause


@pytest.mark.parametrize("death", ["out_of_memory", "out_of_memory_in_a_step", "time_limit", "cancelled", "killed", "node_failure"])
def test_a_death_of_which_only_the_log_is_left(death, cluster):
    job, cause, _ = DEATHS[death]
    assert fates.of(job, cluster(death, controller=False, accounting=False)).cause is cause


def test_a_preemption_on_a_cluster_without_accounting(cluster, program):
    logs = cluster("failed", accounting=False, log=False)
    program("scontrol", f"cat {KEPT / 'preempted.job'}")
    told = [fates.of("12", logs), fates.of_all(["12"], logs)["12"]]
    assert {(fate.cause, fate.words) for fate in told} == {(Cause.PREEMPTED, "preempted by a job of higher priority on m1")}


def test_many_deaths_at_once(cluster, program):
    logs = cluster("time_limit", controller=False)
    program("sacct", f"cat {' '.join(str(KEPT / f'{death}.sacct') for death in DEATHS)}")
    told = fates.of_all([*(job for job, _, _ in DEATHS.values()), "77"], logs)
    assert {job: fate.cause for job, fate in told.items()} == {job: cause for job, cause, _ in DEATHS.values()} | {
        "77": Cause.UNKNOWN
    }
    assert told["9"].log == str(logs / "rule_x" / "a" / "9.log")


def test_a_controller_that_does_not_answer_is_not_asked_for_each_of_many_jobs(cluster, program, tmp_path):
    logs = cluster("failed", controller=False, accounting=False, log=False)
    count = tmp_path / "count"
    program("scontrol", f"echo x >> {count}; echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1")
    told = [fates.of(str(number), logs) for number in range(20)]
    assert {fate.cause for fate in told} == {Cause.UNKNOWN} and count.read_text() == "x\n"
    assert "does not answer" in told[0].words


def test_a_job_that_runs_is_alive_and_asked_about_again(cluster, program):
    logs = cluster("finished", log=False)
    program("scontrol", "echo 'JobId=13 JobState=RUNNING ExitCode=0:0 NodeList=n1'")
    assert fates.of("13", logs).cause is Cause.ALIVE
    program("scontrol", f"cat {KEPT / 'finished.job'}")
    assert fates.of("13", logs).cause is Cause.FINISHED


def test_no_job_and_no_slurm_are_unknown(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "/nowhere")
    assert fates.of(None).cause is fates.of("", tmp_path).cause is fates.of("5", tmp_path).cause is Cause.UNKNOWN


def test_memory_of_a_gpu_is_no_memory_of_the_job(tmp_path):
    log = tmp_path / "5.log"
    log.write_text(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\nsrun: error: n1: task 0: Exited with exit code 1\n"
    )
    assert fates.judged("5", [slurm.Ended("5", "FAILED", "1:0", "n1")], log).cause is Cause.FAILED


def test_what_older_and_newer_versions_write_of_a_memory_limit(tmp_path):
    for line in (
        "slurmstepd: error: Exceeded job memory limit at some point.",
        "slurmstepd: error: Job 7 exceeded memory limit (210000 > 204800), being killed",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.",
    ):
        log = tmp_path / "7.log"
        log.write_text(line + "\n")
        assert fates.judged("7", [slurm.Ended("7", "CANCELLED", "0:9", "n1")], log).cause is Cause.OUT_OF_MEMORY
