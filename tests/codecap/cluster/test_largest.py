"""The largest jobs of a run: what `slurm check` compares a cluster with."""

import re
from pathlib import Path

import pytest

from codecap import config, plan
from codecap.cluster import largest

RULES = "\n".join(path.read_text() for path in sorted((config.PROJECT / "rules").glob("*.smk")))


@pytest.fixture(autouse=True)
def a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("rule", largest.WILDCARDS)
def test_wildcards_and_threads_are_those_of_the_rules(rule):
    text = re.search(rf"^rule {rule}:\n(.*?)(?=^rule |\Z)", RULES, re.MULTILINE | re.DOTALL).group(1)
    output = re.search(r'output:\n\s+\w+="([^"]*)"', text).group(1)
    assert tuple(re.findall(r"\{(\w+)\}", output)) == largest.WILDCARDS[rule]
    threads = re.search(r"threads: (\d+)", text)
    assert (int(threads.group(1)) if threads else 1) == largest.THREADS.get(rule, 1)


def test_the_demo_needs_cpu_nodes_alone():
    asked, of_what = largest.of(config.load(config.PROJECT / "config" / "demo.yaml"))
    assert list(asked) == ["cpu"] and asked["cpu"].threads == 4 and asked["cpu"].memory_mb > 1000
    assert of_what == "5 clips (resources/demo/clips.tsv)"


def test_the_papers_protocol_needs_all_kinds_and_limits_of_the_site_do_not_count(tmp_path):
    limited = {"cluster": {"largest_mb": 500, "longest_min": 5, "gpu_longest_min": 5, "network_longest_min": 5}}
    table = tmp_path / "clips.tsv"
    table.write_text((config.PROJECT / "config" / "clips.tsv").read_text().splitlines()[0] + "\n")
    asked, of_what = largest.of(config.load(overrides={**limited, "clips": str(table)}))
    assert set(asked) == {"cpu", "gpu", "network"}
    assert all(job.memory_mb > 500 and job.minutes > 5 for job in asked.values())
    assert of_what.startswith("32 notional clips of 40 s at 1920x1080") and "is empty" in of_what


@pytest.mark.parametrize("metric", config.load()["metrics"])
def test_a_run_without_one_of_the_metrics(metric):
    """Only what the others need is asked for: without the metric of objects, nothing for its two rules."""
    demo = config.PROJECT / "config" / "demo.yaml"
    asked, _ = largest.of(config.load(demo, overrides={"metrics": {metric: None}}))
    assert asked["cpu"].memory_mb > 1000


def test_without_the_metric_of_objects_its_rules_have_no_jobs():
    told = config.load(overrides={"metrics": {"object_iou": None}})
    rules = {rule for rule, _ in largest._jobs(told, plan.make(told), ["00"])}
    assert rules == set(largest.WILDCARDS) - {"prompt_objects", "segment_objects", "answer_questions"}


def test_no_folder_is_made_that_a_run_does_not_make(tmp_path):
    largest.of(config.load(config.PROJECT / "config" / "demo.yaml"))
    assert {path.name for path in Path(tmp_path).iterdir()} <= {"results", "store"}
