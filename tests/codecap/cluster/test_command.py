"""`codecap slurm check` and the profiles, on what a real cluster printed."""

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from codecap import config
from codecap.cli import app
from codecap.cluster import site_file, slurm

KEPT = Path(__file__).parent / "slurm-22.05"  # printed by SLURM 22.05.8
DEMO = ["--config", str(config.PROJECT / "config" / "demo.yaml")]


@pytest.fixture
def cluster(program, tmp_path, monkeypatch):
    """A login node of that cluster, in a working folder of its own, with a copy of config/cluster.yaml to write to."""
    monkeypatch.chdir(tmp_path)
    program("scontrol", f'case "$*" in *config*) cat {KEPT}/config.txt;; *partition*) cat {KEPT}/partition.txt;; esac')
    program("sinfo", f"cat {KEPT}/sinfo.txt")
    program("sacctmgr", f'case "$*" in *assoc*) cat {KEPT}/assoc.txt;; *qos*) cat {KEPT}/qos.txt;; *) cat {KEPT}/user.txt;; esac')
    written = tmp_path / "cluster.yaml"
    shutil.copyfile(site_file.FILE, written)
    monkeypatch.setattr(site_file, "FILE", written)
    files = tuple(written if path.name == "cluster.yaml" else path for path in config.FILES)
    monkeypatch.setattr(config, "FILES", files)
    return written


def run(*arguments: str):
    return CliRunner().invoke(app, ["slurm", "check", *DEMO, *arguments])


def test_each_setting_has_a_line(cluster):
    done = run()
    assert done.exit_code == 0
    assert re.search(r"^not set +partition +null +jobs go to cpu; would fit: cpu$", done.stdout, re.MULTILINE)
    assert "SLURM 22.05.8" in done.stdout and "compared with the largest jobs of 5 clips" in done.stdout


def test_writing_decides_and_then_all_fits(cluster):
    done = run("--write")
    assert done.exit_code == 0 and "+  partition: cpu" in done.stdout
    section = yaml.safe_load(cluster.read_text())["cluster"]
    assert (section["partition"], section["account"], section["longest_min"], section["largest_mb"]) == ("cpu", "root", 240, 12000)
    assert cluster.read_text().count("#") == site_file.FILE.read_text().count("#")
    assert "nothing to change" in run("--write").stdout


def test_what_does_not_fit_is_the_exit_status(cluster):
    cluster.write_text(site_file.changed(cluster.read_text(), {"partition": "batch", "largest_mb": 1000}))
    done = run("--json")
    findings = {finding["setting"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert done.exit_code == 1 and findings["partition"]["verdict"] == "does not fit" and findings["partition"]["fits"] == "cpu"
    assert run("--write").exit_code == 0


def test_a_value_of_a_file_that_lies_over_it_still_does_not_fit(cluster, tmp_path):
    (tmp_path / "mine.yaml").write_text("cluster: {partition: batch}\n")
    done = run("--config", str(tmp_path / "mine.yaml"), "--write")
    assert done.exit_code == 1 and "there is no partition batch" in done.stdout


def test_what_a_file_lays_over_it_is_said_and_left_to_that_file(cluster, tmp_path):
    over = tmp_path / "k.yaml"
    over.write_text("cluster: {partition: batch}\n")
    done = run("--config", str(over), "--write")
    assert (
        f"there is no partition batch; there are cpu, network, gpu; would fit: cpu; set by {over}: change it there" in done.stdout
    )
    section = yaml.safe_load(cluster.read_text())["cluster"]
    assert (section["partition"], section["account"]) == (None, "root")
    again = run("--config", str(over))
    assert again.exit_code == 1 and "check --write puts" not in again.stdout
    findings = json.loads(run("--config", str(over), "--json").stdout)["findings"]
    assert {finding["setting"]: finding["set_by"] for finding in findings if finding["set_by"]} == {"partition": str(over)}


@pytest.mark.parametrize(
    ("hangs", "daemon"), [("scontrol", "controller (slurmctld)"), ("sacctmgr", "accounting daemon (slurmdbd)")]
)
def test_a_daemon_that_hangs_is_asked_one_question_and_told(cluster, program, monkeypatch, hangs, daemon):
    asked = program(hangs, 'echo "$*" >> "$(dirname "$0")/asked"; exec sleep 60') / "bin" / "asked"
    run_for = slurm._run
    monkeypatch.setattr(slurm, "_run", lambda argv, limit_s: run_for(argv, limit_s / 60))
    done = run()
    assert done.exit_code == 1 and f"{hangs} did not answer within" in done.stderr
    assert f"the {daemon} hangs or is out of reach" in done.stderr and len(asked.read_text().splitlines()) == 1


@pytest.fixture
def main_job(program, tmp_path):
    """The main process as a job: starts it, asks it to end when it works, and gives what it said and its exit status."""
    program("snakemake", "trap 'exit 130' INT; echo at work; while :; do sleep 0.05; done")
    program("scontrol", 'echo "scontrol $*"')

    def ended(after_s: int) -> tuple[str, int]:
        env = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "7"}
        script = config.PROJECT / "profiles" / "slurm" / "main.sbatch"
        # bash begins to count its seconds at SECONDS
        job = subprocess.Popen(["bash", script], env={**env, "SECONDS": str(after_s)}, stdout=-1, stderr=-2, text=True)
        assert job.stdout.readline() == "at work\n"
        job.send_signal(signal.SIGUSR1)
        said, _ = job.communicate(timeout=20)
        return said, job.returncode

    return ended


def test_a_main_process_near_its_time_limit_goes_back_to_the_queue(main_job):
    said, status = main_job(600)
    assert "goes on as job 7" in said and "scontrol requeue 7" in said and status != 0


def test_a_main_process_without_time_to_work_is_not_queued_without_end(main_job):
    said, status = main_job(0)
    assert "submit it with --time of 15 minutes at least" in said and "scontrol" not in said and status == 1


def test_without_slurm_there_is_one_clear_error(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = run()
    assert done.exit_code == 1 and done.stdout == ""
    assert done.stderr == "codecap: there is no command scontrol on this machine: run this where SLURM is (a login node)\n"


def test_a_gpu_without_a_partition_is_refused(cluster):
    done = CliRunner().invoke(app, ["doctor", *DEMO, "--gres", "gpu:1"])
    assert done.exit_code == 1 and "--gres without --partition: set cluster.gpu_partition" in done.stderr


@pytest.mark.parametrize("name", ["slurm", "local", "demo"])
def test_every_line_of_a_profile_says_what_it_is_for(name):
    lines = (config.PROJECT / "profiles" / name / "config.yaml").read_text().splitlines()
    plain = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert [line for line in plain if "#" not in line] == []


def test_the_profile_has_only_options_that_snakemake_knows():
    from snakemake.cli import get_argument_parser

    known = {option.removeprefix("--") for action in get_argument_parser()._actions for option in action.option_strings}
    for name in ("slurm", "local", "demo"):
        options = config.read(config.PROJECT / "profiles" / name / "config.yaml")
        assert set(options) <= known, name
    profile = config.read(config.PROJECT / "profiles" / "slurm" / "config.yaml")
    assert profile["slurm-status-command"] == "squeue" and profile["slurm-no-requeue"] and "slurm-array-jobs" not in profile
    assert (config.PROJECT / "slurm").resolve() == config.PROJECT / "profiles" / "slurm"
