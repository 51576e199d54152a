"""The demo through `snakemake --profile slurm`: the same numbers as on one machine."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from accounting import jobs_of
from on_slurm import SITE, Demo
from running import DEMO_RESULTS, Workflow, read_scores, read_tables

pytestmark = [pytest.mark.slurm, pytest.mark.slurm_ci]

LEFT_WITHIN_S = 600
GPU_RULES = {"describe_references", "score_renders"}


@pytest.fixture(scope="module")
def at_home(tmp_path_factory) -> Path:
    """Results of the demo on this machine: those that the main suite, which may be under way, leaves; or a run's of our own."""
    if DEMO_RESULTS in os.environ:
        left, end = Path(os.environ[DEMO_RESULTS]) / "results", time.monotonic() + LEFT_WITHIN_S
        while not left.is_dir() and time.monotonic() < end:
            time.sleep(1)
        if left.is_dir():
            return left
    run = Workflow(tmp_path_factory.mktemp("at_home"))
    run.finish("all")
    return run.folder / "results"


@pytest.fixture(scope="module")
def run(demo_on_slurm) -> Demo:
    demo_on_slurm.wait()
    return demo_on_slurm


def test_the_tables_are_those_of_one_machine(run, at_home):
    assert run.tables() == read_tables(at_home / "7_compare" / "tables") != {}
    here, there = run.scores(), read_scores(at_home / "6_score")
    assert here.keys() == there.keys() and here
    assert {about: (value, there[about]) for about, value in here.items() if not _same(value, there[about])} == {}


def test_each_job_ran_where_it_belongs(run):
    jobs = jobs_of(run.folder)
    assert {job.state for job in jobs} == {"COMPLETED"}
    assert {job.account for job in jobs} == {SITE["account"]}
    on_gpus = [job for job in jobs if job.partition == "gpu"]
    assert {job.rule for job in on_gpus} == GPU_RULES
    assert {job.gpus for job in on_gpus} == {1} and {job.node for job in on_gpus} == {"n2"}
    others = [job for job in jobs if job not in on_gpus]
    assert {(job.partition, job.gpus, job.node) for job in others} == {("cpu", 0, "n1")}
    assert {"ingest_originals", "generate_captions", "render_captions", "score_renders"} <= {job.rule for job in others}


def test_nothing_was_made_twice_and_a_second_run_has_nothing_to_do(run):
    assert set(run.made().values()) == {1}
    assert "Nothing to be done" in run.finish("dataset", "all")


def _same(one: float | None, other: float | None) -> bool:
    return one is other is None or (one is not None and other is not None and abs(one - other) <= 1e-6)
