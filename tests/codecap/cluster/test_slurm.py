"""SLURM's own output, read; and its errors in words."""

from pathlib import Path

import pytest

from codecap.cluster import slurm

KEPT = Path(__file__).parent / "slurm-22.05"  # printed by SLURM 22.05.8


def test_the_queue():
    jobs = {job.job_id: job for job in slurm.read_queue((KEPT / "squeue.txt").read_text())}
    assert jobs["8"] == slurm.Job("8", "FAILED", "NonZeroExitCode", "probe", "cpu", "n1", 1, "rule_x_wildcards_a", "/home/u/run")
    assert jobs["9"].state == "TIMEOUT" and jobs["9"].elapsed_s == 85
    assert jobs["16"].comment == "" and jobs["16"].node == ""
    assert jobs["7"].comment == "rule_x y|z"
    assert slurm.seconds(jobs["10"].folder) is None


def test_a_job_of_the_controllers():
    told = slurm.read_pairs((KEPT / "time_limit.job").read_text())
    assert (told["JobId"], told["JobState"], told["ExitCode"], told["NodeList"]) == ("9", "TIMEOUT", "0:15", "n1")
    assert told["StdOut"] == "/home/u/run/.snakemake/slurm_logs/rule_x/a/9.log" and told["Comment"] == "rule_x_wildcards_a"
    assert told["ReqB:S:C:T"] == "0:0:*:*"


def test_jobs_and_steps_of_accounting():
    assert list(slurm.read_accounts((KEPT / "out_of_memory_in_a_step.sacct").read_text())) == [
        slurm.Ended("8", "FAILED", "1:0", "n1"),
        slurm.Ended("8.batch", "FAILED", "1:0", "n1"),
        slurm.Ended("8.0", "OUT_OF_MEMORY", "0:125", "n1"),
    ]
    assert next(slurm.read_accounts((KEPT / "cancelled.sacct").read_text())).state == "CANCELLED"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0:05", 5), ("1:09", 69), ("02:03:04", 7384), ("3-00:00:00", 259200), ("UNLIMITED", None), ("INVALID", None), ("", None)],
)
def test_times(text, seconds):
    assert slurm.seconds(text) == seconds


def test_a_machine_without_slurm(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert not slurm.there()
    with pytest.raises(slurm.NoSlurm, match="no command squeue on this machine.*login node"):
        slurm.queue()


def test_a_controller_that_comes_back_is_asked_again(program):
    folder = program(
        "squeue",
        'cd "$(dirname "$0")"; [ -e once ] && exit 0; touch once\n'
        "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1",
    )
    assert slurm.ask("squeue", wait_s=0.01) == ""
    (folder / "bin" / "once").unlink()
    with pytest.raises(slurm.NoAnswer, match=r"the controller \(slurmctld\) does not answer: .*connect failure"):
        slurm.ask("squeue", tries=1)


def test_a_command_that_hangs_is_given_up(program):
    program("scontrol", "exec sleep 60")
    with pytest.raises(slurm.NoAnswer, match="scontrol did not answer within 0 s"):
        slurm.ask("scontrol", "show", "config", limit_s=0.2, tries=1)


def test_an_error_of_slurms_is_told_in_its_words(program):
    program("sbatch", "echo 'sbatch: error: invalid partition specified: nope' >&2; exit 1")
    with pytest.raises(slurm.SlurmError, match="^sbatch: invalid partition specified: nope"):
        slurm.submit(["--partition=nope"], "true")


def test_a_cluster_without_accounting(program):
    program("sacctmgr", "echo 'You are not running a supported accounting_storage plugin' >&2; exit 1")
    with pytest.raises(slurm.NoAccounting):
        slurm.ask("sacctmgr", "show", "qos")


def test_a_job_that_the_controller_has_forgotten_is_none(program):
    program("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert slurm.job("99999") is None


def test_the_number_of_a_submitted_job_is_found_among_what_a_site_prints(program):
    program("sbatch", "echo 'Welcome to the cluster'; echo '1234;big'")
    assert slurm.submit([], "true") == "1234"
    program("sbatch", "echo hello")
    with pytest.raises(slurm.SlurmError, match="gave no job id: 'hello'"):
        slurm.submit([], "true")


def test_a_users_own_formats_do_not_count(program, monkeypatch):
    monkeypatch.setenv("SQUEUE_FORMAT", "%j")
    program("squeue", 'echo "[$SQUEUE_FORMAT]"')
    assert slurm.ask("squeue").strip() == "[]"


def test_jobs_that_have_ended_meanwhile_are_no_error_of_scancel(program):
    program("scancel", "echo 'scancel: error: Kill job error on job id 5: Invalid job id specified' >&2; exit 1")
    slurm.cancel(["5"])
    program("scancel", "echo 'scancel: error: Kill job error on job id 5: Access/permission denied' >&2; exit 1")
    with pytest.raises(slurm.SlurmError, match="permission denied"):
        slurm.cancel(["5"])
