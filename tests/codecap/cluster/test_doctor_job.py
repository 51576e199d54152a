"""The doctor as a job: what it prints comes back, and why it does not come."""

import pytest

from codecap.cluster import doctor_job
from codecap.cluster.doctor_job import NotExamined


@pytest.fixture
def cluster(program, tmp_path, monkeypatch):
    """A cluster on which submitted lines run at once, here; jobs wait as long as a file says why."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor_job, "EVERY_S", 0.01)
    monkeypatch.setattr(doctor_job, "SHARED_FILESYSTEM_S", 0.05)
    program(
        "sbatch",
        f'cd {tmp_path}; printf "%s\\n" "$@" > asked\n'
        'for a in "$@"; do case "$a" in --output=*) log=${a#--output=};; --wrap=*) line=${a#--wrap=};; esac; done\n'
        'log=$(echo "$log" | sed s/%j/5/); [ -e waits ] || sh -c "$line" > "$log" 2>&1; echo 5',
    )
    program(
        "squeue", f'[ -e {tmp_path}/waits ] && printf "5\\037PENDING\\037Resources\\037n\\037p\\037\\0370:00\\037\\037/x\\n"; true'
    )
    program("scancel", f"echo $* > {tmp_path}/cancelled")
    program("scontrol", "echo 'Invalid job id specified' >&2; exit 1")
    program("sacct", "true")
    return tmp_path


def examine(**options):
    return doctor_job.examine(["--help"], partition="gpu", tell=lambda _: None, **options)


def test_what_it_prints_and_its_status_come_back(cluster):
    found = examine(account="a", gres="gpu:1")
    assert found.status == 0 and "Say what is there and what is missing" in found.printed and "doctor: status" not in found.printed
    asked = (cluster / "asked").read_text().splitlines()
    assert {"--partition=gpu", "--account=a", "--gres=gpu:1", "--no-requeue"} <= set(asked)
    assert not [option for option in asked if option.startswith(("--qos", "--constraint"))]


def test_a_job_that_does_not_begin_is_cancelled_with_its_reason(cluster):
    (cluster / "waits").touch()
    told = []
    with pytest.raises(
        NotExamined, match=r"did not begin within 0 min \(Resources\) and is cancelled; wait longer with --wait-min"
    ):
        doctor_job.examine([], partition="gpu", longest_wait_s=0.05, tell=told.append)
    assert told == ["job 5 on partition gpu", "waits: Resources"]
    assert (cluster / "cancelled").read_text().split() == ["--quiet", "5"]


def test_a_job_that_says_nothing_is_told_with_its_log(cluster, program):
    program("sbatch", "echo 5")
    with pytest.raises(
        NotExamined, match=r"doctor's job 5: SLURM remembers no job 5; .*gpu-5.log says nothing. Is this folder shared"
    ):
        examine()
