"""The deadline of a job: SLURM's, where there is one."""

import re
import subprocess
import sys
import time

import pytest

from codecap import deadline
from codecap.deadline import TIMED, work_s


@pytest.mark.parametrize(
    ("environment", "runtime", "stop_before_s", "expected_s"),
    [
        ({}, 60, 120, None),
        ({TIMED: "1"}, 60, 120, None),
        ({"SLURM_JOB_ID": "1"}, 60, 120, None),  # on a node of one's own, nothing ends it after `runtime`
        ({"SLURM_JOB_ID": "1", TIMED: "1"}, None, 120, None),
        ({"SLURM_JOB_ID": "1", TIMED: "1"}, 60, 120, 3480),
        ({"SLURM_JOB_ID": "1", TIMED: "1"}, 3, 120, 90),  # half of what is left, or it would never begin
        ({"SLURM_JOB_ID": "1", "SLURM_JOB_END_TIME": "+600"}, 60, 120, 480),
        ({"SLURM_JOB_ID": "1", "SLURM_JOB_END_TIME": "-5"}, 60, 120, 0),
    ],
)
def test_the_deadline_is_that_of_the_slurm_job(monkeypatch, environment, runtime, stop_before_s, expected_s):
    monkeypatch.setattr(deadline, "job_age_s", lambda: 0.0)
    for name in ("SLURM_JOB_ID", "SLURM_JOB_END_TIME", TIMED):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        told = str(time.time() + float(value)) if re.match(r"[+-]", value) else value
        monkeypatch.setenv(name, told)
    assert work_s(runtime, stop_before_s) == (None if expected_s is None else pytest.approx(expected_s, abs=1))


def test_a_job_is_as_old_as_its_process():
    code = "import time; time.sleep(1); from codecap.deadline import job_age_s; print(job_age_s())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 1 <= float(told) < 20
