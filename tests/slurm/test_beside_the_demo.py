"""Two faults while another run, the demo's, is on the same cluster: what is done about them leaves its jobs alone.

First, as the demo takes longest; `test_demo.py` waits for its end.
"""

from __future__ import annotations

import os
import signal

import pytest
from accounting import jobs_of
from benchmark import CLIPS, TOO_MUCH, came_through, says
from on_slurm import TABLES

from codecap.bench.stand_ins.requests import Request

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("demo_on_slurm")]


def test_out_of_memory(run, expected, server):
    """Killed at the third clip; the next attempt asks for twice as much and goes on there."""
    run.ask(*TOO_MUCH)
    run.finish(TABLES)
    jobs = [job for job in jobs_of(run.folder) if job.rule == "generate_captions"]
    assert [job.state for job in jobs] == ["FAILED", "COMPLETED"]  # only the step of the first is OUT_OF_MEMORY
    assert jobs[1].asked_mb == 2 * jobs[0].asked_mb
    came_through(run, expected, server)


def test_the_main_process_is_killed(run, expected, server):
    """It cannot end its jobs; the next run does, and waits for them."""
    run.ask(Request(do="sleep", stage="prompt", seconds=6, times=CLIPS))
    first = run.begin(TABLES)
    run.wait_until(lambda: run.finished("prompt"), first)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert run.job_of("prompt_objects")
    says(run.finish(TABLES), "of an earlier run")
    assert run.states("prompt_objects") == ["CANCELLED", "COMPLETED"]
    came_through(run, expected, server)
    assert "Nothing to be done" in run.finish(TABLES)
