"""What a person reads of a run's status, on a terminal of 100 columns."""

import json
import os
import socket
import time
from pathlib import Path

from typer.testing import CliRunner

from codecap.cli import app
from codecap.cluster import slurm
from codecap.shards import Mark
from codecap.status import record
from codecap.status.progress import look
from codecap.status.words import as_text, as_values

LANES = ("cpu", "gpu", "judge")
HERE = {"host": socket.gethostname(), "pid": os.getpid(), "told": time.time()}


def begun(run):
    """Captions are made, renders are under way, some of them in trouble."""
    run.finish("gather_annotations", "generate_captions")
    run.tell(
        "render_captions/system_00/00", done=12, started=time.time() - 240, slurm_job="4711", host="node017.cluster", attempt=2
    )
    run.tell("render_captions/system_01/00", state="failed", done=3, detail="no browser: run `codecap install-browser`")
    run.tell("render_captions/system_02/00", done=5, host="node018", slurm_job="4712")
    jobs = [("4711", "RUNNING", "None"), ("4720", "PENDING", "Priority"), ("4721", "PENDING", "PartitionTimeLimit")]
    held = [
        slurm.Job(job_id, state, reason, "5af0", "batch", "node017", 240, "rule_render_captions_wildcards_x_00", str(Path.cwd()))
        for job_id, state, reason in jobs
    ]
    return look(run.config, lambda: held)


def test_it_fits_a_terminal_and_says_what_matters(run):
    text = as_text(begun(run))
    lines = text.splitlines()
    assert [line for line in lines if len(line) > 100] == []
    told = {line.split()[0]: line.split() for line in lines if line and not line.startswith(" ")}
    assert told["captions"][:4] == ["captions", "120", "120", "100"]
    assert told["system_00"][1:3] == ["40/40", "+12/40"]
    assert told["system_01"][2] == "!3/40"
    assert "1 job running, 2 waiting" in text
    flat = " ".join(text.split())
    (running,) = [line for line in lines if "render_captions/system_00/00" in line]
    for part in ("12 of ", "node017 job 4711", "4 min", "20 s a clip", "attempt 2"):
        assert part in running
    assert "render_captions/system_01/00: 3 of" in text
    assert "no browser: run `codecap install-browser` (log logs/render_captions/system_01/00.log)" in flat
    assert "its job 4712 is no more and has left no word" in flat
    assert "1 job will not start as the settings are: PartitionTimeLimit; `codecap slurm check` says what fits" in flat


def waiting(name, comment, *jobs):
    here = str(Path.cwd())
    return [slurm.Job(job_id, "PENDING", reason, name, "cpu", "", None, comment, here) for job_id, reason in jobs]


def test_a_main_process_that_waits_for_its_turn_is_told_with_its_reason(run):
    text = as_text(look(run.config, lambda: waiting("codecap-main", "", ("25", "BeginTime"))))
    assert "run        waits in the queue as job 25: BeginTime" in text and "none works here" not in text
    text = as_text(
        look(run.config, lambda: [slurm.Job("25", "RUNNING", "None", "codecap-main", "cpu", "n1", 9, "", str(Path.cwd()))])
    )
    assert "run        job 25 on n1\n" in text


def test_why_jobs_wait_is_told_before_any_works(run):
    away = "ReqNodeNotAvail, UnavailableNodes:n1"
    jobs = waiting("5af0", "rule_render_captions_wildcards_x_00", ("1", away), ("2", away), ("3", "Priority"), ("4", "None"))
    text = as_text(look(run.config, lambda: jobs))
    assert "SLURM      0 jobs running, 4 waiting (2 of them: ReqNodeNotAvail)" in text
    assert "2 jobs wait for nodes that are down, drained or reserved (ReqNodeNotAvail)" in " ".join(text.split())
    assert "0 jobs running, 1 waiting (Priority)" in as_text(look(run.config, lambda: jobs[2:3]))


def test_a_job_that_was_killed_is_told_with_what_killed_it_and_when_it_goes_on(run):
    run.tell("render_captions/system_00/00", done=5, slurm_job="86", detail="out of memory on n1")
    after = "render_captions/system_00/00: 5 of 20: its job 86 is no more: out of memory on n1; it goes on at the next run (log"
    during = after.replace("the next run", "its next try")
    assert after in " ".join(as_text(look(run.config, lambda: [])).split())
    main = waiting("codecap-main", "", ("25", "BeginTime"))
    assert during in " ".join(as_text(look(run.config, lambda: main)).split())


def test_a_shard_that_was_refused_has_no_log(run):
    words = "SLURM took no job: invalid partition specified: nope"
    run.tell("render_captions/system_00/00", state="failed", detail=words, log="")
    assert f"render_captions/system_00/00: 0 of 20: {words}\n" in as_text(look(run.config, lambda: [])) + "\n"


def test_memory_is_told_with_the_setting_that_limits_it(run):
    run.tell("render_captions/system_00/00", state="failed", ooms=10)
    assert "1 shard out of memory once or more: raise cluster.memory_factor" in as_text(look(run.config, lambda: None))
    run.config["cluster"] = {"largest_mb": 500}
    text = as_text(look(run.config, lambda: None))
    assert "1 shard out of memory with all that cluster.largest_mb allows: raise cluster.largest_mb" in text
    assert "memory_factor" not in text


def test_many_lanes_long_names_and_money_fit_too(run):
    names = {name: entry | {"lane": lane} for (name, entry), lane in zip(run.config["metrics"].items(), LANES * 9, strict=False)}
    run.config["metrics"] = names
    long = "a_system_whose_name_is_longer_than_others"
    run.config["models"] = {long: run.config["models"]["system_00"], "b": run.config["models"]["system_01"]}
    run.config["systems"] = [long, "b"]
    run.journals.write(shard := f"generate_captions/{long}/00", Mark(shard, usd=1234.5, total=20, done=19, **HERE))
    lines = as_text(look(run.config, lambda: None)).splitlines()
    assert [line for line in lines if len(line) > 100] == []
    (row,) = [line for line in lines if line.startswith("a_system_who")]
    assert row.split()[1:] == ["+19/40", *["0/40"] * 6, "1,234.50"]


def test_a_finished_run_is_short(run):
    run.finish(*{task.rule for task in run.tasks.values()})
    text = as_text(look(run.config, lambda: None))
    assert "run        finished" in text
    for word in ("time left", "running:", "failed:", "attention:", "SLURM", "cost"):
        assert word not in text


def test_what_is_tried_again_at_the_next_run_is_told_with_its_reason(run):
    run.finish("render_captions")
    for system in ("system_00", "system_01"):
        shard = f"render_captions/{system}/00"
        run.tell(shard, state="finished", done=run.tasks[shard].items, unfinished=True, failures={"the browser was lost": 2})
    assert "4 items to be tried again at the next run: the browser was lost" in as_text(look(run.config, lambda: None))


def test_money_is_told_with_its_limit(run):
    run.tell("score_renders/cpu/system_00/00", usd=9.5, **HERE)
    run.config["exchange"]["budget_usd"] = 10
    text = as_text(look(run.config, lambda: None))
    assert "cost       9.50 of 10.00 USD" in text
    assert "raise exchange.budget_usd" in text
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("system_0")] == ["9.50", "0.00", "0.00"]


def test_the_values_hold_every_shard_and_are_json(run):
    told = json.loads(json.dumps(as_values(begun(run))))
    shards = {shard["shard"]: shard for shard in told["shards"]}
    assert set(shards) == set(run.tasks)
    assert shards["render_captions/system_01/00"]["detail"].startswith("no browser")
    assert sum(stage["done"] for stage in told["stages"]) == sum(shard["done"] for shard in told["shards"])


def test_the_command_needs_no_word_about_the_configuration_where_a_run_was_begun(run):
    refused = CliRunner().invoke(app, ["status"])
    assert refused.exit_code == 1
    assert "no run was begun in this folder" in refused.output
    record(run.config)
    told = CliRunner().invoke(app, ["status", "--json"])
    assert told.exit_code == 0, told.output
    assert {stage["stage"] for stage in json.loads(told.output)["stages"]} >= {"captions", "renders", "scores cpu", "report"}
