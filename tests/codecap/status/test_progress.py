"""How far a run is, told by its journals, its outputs, SLURM's queue and the processes of this machine."""

import fcntl
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codecap import config as configuration
from codecap.cluster import slurm
from codecap.errors import UserError
from codecap.exchange.budget import Budget
from codecap.status import progress, record, recorded, work
from codecap.status.progress import look

from .conftest import Run

HERE = {"host": socket.gethostname(), "pid": os.getpid()}


def shards(status):
    return {shard.task.shard: shard for stage in status.stages for shard in stage.shards}


def stages(status):
    return {stage.name: stage for stage in status.stages}


def test_a_run_that_has_not_begun_has_all_before_it(run):
    status = look(run.config)
    assert {shard.state for shard in shards(status).values()} == {"waiting"}
    found = {name: (stage.done, stage.items, len(stage.shards)) for name, stage in stages(status).items()}
    assert found["captions"] == found["scores cpu"] == (0, 120, 6)
    assert found["references cpu"] == found["annotations"] == (0, 40, 2)
    assert found["report"] == (0, 1, 1)
    assert status.left_s is None
    assert status.work_s > 60  # by the cost model


def test_the_shards_are_those_that_snakemake_plans(run):
    assert set(run.tasks) == run.planned()


def test_finished_shards_are_done_and_their_rate_gives_the_time_left(run):
    run.finish("gather_annotations", "generate_captions")
    status = look(run.config)
    captions = stages(status)["captions"]
    assert (captions.done, captions.count("finished"), captions.left_s) == (120, 6, 0)
    assert captions.item_s == pytest.approx(2, abs=0.1)
    assert captions.measured
    assert not stages(status)["renders"].measured


def test_time_left_is_that_of_the_jobs_which_run_at_once(run):
    run.finish("gather_annotations", "generate_captions")
    for system in ("system_00", "system_01"):
        run.tell(f"render_captions/{system}/00", done=10, started=time.time() - 100, **HERE)
    status = look(run.config)
    assert len(status.of("running")) == 2
    renders = stages(status)["renders"]
    assert renders.item_s == pytest.approx(10, abs=0.1)
    assert renders.left_s == pytest.approx(1000, abs=20)
    assert status.left_s == pytest.approx(status.work_s / 2)


def test_an_output_that_snakemake_has_taken_away_is_to_be_made_again(run):
    run.finish("generate_captions")
    run.tasks["generate_captions/system_00/00"].output.unlink()
    assert shards(look(run.config))["generate_captions/system_00/00"].state == "waiting"


def test_outputs_of_a_run_that_kept_no_journals_count(run):
    output = run.tasks["compare_systems"].output
    output.parent.mkdir(parents=True)
    output.touch()
    assert shards(look(run.config))["compare_systems"].state == "finished"


def test_stopped_shards_wait_with_what_they_have_done_and_failed_ones_say_why(run):
    run.tell("render_captions/system_00/00", state="stopped", done=7)
    run.tell("render_captions/system_00/01", state="failed", done=3, detail="no browser")
    found = shards(look(run.config))
    assert (found["render_captions/system_00/00"].state, found["render_captions/system_00/00"].done) == ("waiting", 7)
    failed = found["render_captions/system_00/01"]
    assert (failed.state, failed.done, failed.mark.detail) == ("failed", 3, "no browser")


def test_rows_that_failed_by_our_fault_are_not_done(run):
    run.finish("render_captions")
    shard = "render_captions/system_00/00"
    items = run.tasks[shard].items
    run.tell(shard, state="finished", done=items, unfinished=True, failures={"node lost": 2})
    assert shards(look(run.config))[shard].done == items - 2


def test_a_process_of_this_machine_that_is_no_more_is_lost(run):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    run.tell("render_captions/system_00/00", done=7, host=socket.gethostname(), pid=ended.pid)
    run.tell("render_captions/system_00/01", done=7, **HERE)
    found = shards(look(run.config))
    assert found["render_captions/system_00/00"].state == "lost"
    assert found["render_captions/system_00/01"].state == "running"


def test_a_process_that_has_the_number_of_one_that_is_no_more_is_another(run):
    run.tell("render_captions/system_00/00", done=7, **HERE | {"told": time.time() - 86_400})  # before this process began
    assert shards(look(run.config))["render_captions/system_00/00"].state == "lost"


def test_where_nothing_can_be_asked_the_last_sign_of_life_counts(run):
    run.tell("render_captions/system_00/00", host="elsewhere", told=time.time() - progress.SIGN_S / 2)
    run.tell("render_captions/system_00/01", host="elsewhere", told=time.time() - 2 * progress.SIGN_S)
    found = shards(look(run.config))
    assert [found[f"render_captions/system_00/{bucket}"].state for bucket in ("00", "01")] == ["running", "lost"]


def in_queue(job_id, state, shard, folder=None, reason="None"):
    comment = "rule_" + shard.replace("/", "_wildcards_", 1).replace("/", "_") if shard else ""
    return slurm.Job(job_id, state, reason, "5af0", "batch", "node1", 60, comment, str(folder or Path.cwd()))


def test_slurms_queue_tells_which_jobs_are_alive(run):
    run.tell(
        "render_captions/system_00/00", host="node1", slurm_job="71", told=time.time() - 10_000
    )  # long items: no word for hours
    run.tell("render_captions/system_00/01", host="node1", slurm_job="72")
    status = look(run.config, lambda: [in_queue("71", "RUNNING", "render_captions/system_00/00")])
    found = shards(status)
    assert [found[f"render_captions/system_00/{bucket}"].state for bucket in ("00", "01")] == ["running", "lost"]
    assert [job.job_id for job in status.queue] == ["71"]


def test_jobs_of_other_folders_and_other_programs_are_not_this_runs(run):
    run.finish("generate_captions")
    shard = "score_renders/cpu/system_00/00"
    jobs = [in_queue("81", "PENDING", shard), in_queue("82", "PENDING", shard, "/elsewhere"), in_queue("83", "RUNNING", "")]
    assert [job.job_id for job in look(run.config, lambda: jobs).queue] == ["81"]


def test_jobs_that_wait_are_seen_before_the_first_has_begun_to_work(run):
    jobs = [in_queue("81", "PENDING", "render_captions/system_00/00", reason="PartitionTimeLimit")]
    assert not Path("results/shards").exists()
    assert [job.job_id for job in look(run.config, lambda: jobs).queue] == ["81"]


@pytest.mark.parametrize("begun", ["results/.lock", "results/shards/x.json"])
def test_another_users_run_has_no_queue_of_ours(run, monkeypatch, begun):
    path = Path(begun)
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    assert look(run.config, lambda: [in_queue("81", "PENDING", "render_captions/system_00/00")]).queue is None


def main_job(job_id, state, folder=None, reason="None"):
    return slurm.Job(job_id, state, reason, "codecap-main", "cpu", "n1", None, "", str(folder or Path.cwd()))


def test_a_main_process_that_is_a_job_is_found_in_the_queue(run):
    assert look(run.config, lambda: [main_job("24", "RUNNING", "/elsewhere")]).main_job is None
    found = look(run.config, lambda: [main_job("24", "PENDING"), main_job("25", "RUNNING")])
    assert found.main_job.job_id == "25" and found.queue == () and found.goes_on


def test_the_main_process_is_submitted_under_the_name_that_is_looked_for():
    script = (configuration.PROJECT / "profiles" / "slurm" / "main.sbatch").read_text()
    assert f"#SBATCH --job-name={progress.MAIN_JOB}\n" in script


def test_shards_that_were_given_all_that_may_be_asked_for_and_had_not_enough(run):
    for number, ooms in enumerate((10, 0)):
        run.tell(f"render_captions/system_0{number}/00", state="failed", ooms=ooms)
    run.config["cluster"] = {}
    assert look(run.config).at_largest == frozenset()
    run.config["cluster"] = {"largest_mb": 500}
    assert look(run.config).at_largest == {"render_captions/system_00/00"}
    run.config["cluster"] = {"largest_mb": 10**9}
    assert look(run.config).at_largest == frozenset()


def test_a_queue_that_cannot_be_read_is_told_and_stops_nothing(run):
    def silent():
        raise slurm.NoAnswer("the controller (slurmctld) does not answer")

    run.tell("render_captions/system_00/00", host="node1", slurm_job="71")
    status = look(run.config, silent)
    assert status.queue is None
    assert any("SLURM's queue could not be read" in problem for problem in status.problems)
    assert shards(status)["render_captions/system_00/00"].state == "running"


def test_cost_is_that_of_the_ledger_and_of_the_journals(run):
    run.tell("score_renders/cpu/system_00/00", usd=0.75, **HERE)
    assert look(run.config).usd == 0.75
    folder = Path(run.config["store"]["durable"]) / "exchange"
    budget = Budget(folder)
    for usd in ("1.25", "0.50"):
        budget.settle(budget.reserve(usd, usd=0, lasts_s=60), usd)
    budget.reserve("under way", usd=9, lasts_s=60)
    with (folder / "ledger.jsonl").open("a") as ledger:
        ledger.write('{"what":"settle","id":"torn')
    assert look(run.config).usd == 1.75


def test_the_data_sets_stages_appear_once_they_have_begun(run):
    run.tasks["ingest_originals/00"] = work.Task("ingest_originals/00", "canonical clips", 9, None)
    run.tell("ingest_originals/00", state="finished", done=9)
    found = stages(look(run.config))
    assert (found["canonical clips"].done, found["canonical clips"].items) == (9, 9)


def test_whoever_may_only_read_can_look_too(run):
    run.finish("generate_captions")
    Path("results").chmod(0o555)
    try:
        assert stages(look(run.config))["captions"].done == 120
    finally:
        Path("results").chmod(0o755)


def test_the_process_that_holds_the_folder_is_seen_without_touching_its_lock(tmp_path):
    lock = tmp_path / ".lock"
    assert progress.main_process(lock) == ""
    lock.write_text("")
    assert progress.main_process(lock) == ""
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert re.fullmatch(rf"process {os.getpid()} on .*, since \d{{4}}-\d\d-\d\d \d\d:\d\d", progress.main_process(lock))
    assert progress.main_process(lock) == ""


def test_a_runs_configuration_is_kept_for_those_who_look(run):
    with pytest.raises(UserError, match="no run was begun in this folder"):
        recorded()
    record(run.config)
    assert recorded() == json.loads(json.dumps(run.config))
    assert stages(look(recorded()))["captions"].items == 120


def test_a_full_benchmark_is_looked_at_within_three_seconds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Run(systems=16, clips=323, metrics={"visual_similarity": {"lane": "gpu"}, "retention": {"lane": "judge"}})
    run.finish(*{task.rule for task in run.tasks.values()})
    assert len(run.tasks) == 1162  # and Snakemake's own rule `all`
    began = time.process_time()
    status = look(run.config)
    assert time.process_time() - began < 2
    assert sum(stage.done for stage in status.stages) == sum(task.items for task in run.tasks.values())
