"""The end of a run in words: one block, and one paragraph a cause however many shards it hit."""

from dataclasses import replace
from pathlib import Path

import pytest

from codecap.cluster import aftermath
from codecap.cluster.aftermath import Failed, Run
from codecap.cluster.fates import Cause, Fate
from codecap.shards import Journals, Mark

RUN = "run"
CLIPS = {"00": ["A_001", "A_002"], "01": ["B_001", "B_002", "B_003"]}


@pytest.fixture
def journals(tmp_path, monkeypatch) -> Journals:
    monkeypatch.chdir(tmp_path)
    return Journals(tmp_path / "shards")


def note(journals: Journals, shard: str, **said) -> None:
    """A shard's journal, and its log with a word in it."""
    journals.write(shard, Mark(shard=shard, run=RUN, **said))
    written(said.get("log", ""))


def written(log: str, words: str = "a word\n") -> str:
    if log:
        Path(log).parent.mkdir(parents=True, exist_ok=True)
        Path(log).write_text(words)
    return log


def told(journals, failed, fates=None, log: Path | None = None, **more) -> str:
    run = Run(name=RUN, log=log, clips=CLIPS, systems=("still", "vtrace"), **more)
    return aftermath.told(run, failed, journals, lambda jobs: {job: (fates or {})[job] for job in jobs if job in (fates or {})})


def test_nothing_is_said_of_a_run_that_came_through(journals):
    note(journals, "render_captions/vtrace/00", state="finished", total=2, done=2)
    assert told(journals, []) == ""


def test_a_job_out_of_memory_is_told_with_clips_node_log_and_setting(journals):
    shard = "render_captions/vtrace/01"
    note(journals, shard, state="running", total=3, done=1, slurm_job="17", log="logs/render_captions/vtrace/01.log")
    fate = Fate(Cause.OUT_OF_MEMORY, "out of memory on n1", "raise cluster.memory_factor", written(".snakemake/slurm_logs/17.log"))
    assert told(journals, [Failed(shard, 4)], {"17": fate}, not_begun=3).splitlines() == [
        "1 shard did not finish; what they have done is kept:",
        "  render_captions: out of memory (on n1)",
        "    shards  vtrace/01",
        "    clips   2 left of these 3: B_001, B_002, B_003",
        "    logs    logs/render_captions/vtrace/01.log, .snakemake/slurm_logs/17.log",
        "    to do   raise cluster.memory_factor",
        "  3 jobs that need them did not run.",
        "  Run the same command again to go on: nothing that is finished is done again.",
    ]


def test_one_cause_that_hit_many_shards_is_one_paragraph(journals):
    failed, fates = [], {}
    for number in range(160):
        shard = f"render_captions/{'still' if number % 2 else 'vtrace'}/{number:03d}"
        note(journals, shard, state="running", slurm_job=str(number), total=4, done=0, log=f"logs/{number}.log")
        failed.append(Failed(shard, number))
        fates[str(number)] = Fate(Cause.TIME_LIMIT, f"at its time limit on n{number % 9}", "raise cluster.stop_before_s")
    text = told(journals, failed, fates)
    assert len(text.splitlines()) < 10
    assert "render_captions: at its time limit (on n0, n1, n2, n3, n4, n5 and 3 more)" in text
    assert "; of still, vtrace" in text and "logs/0.log, logs/1.log and 158 more" in text


def test_shards_that_stopped_for_one_reason_are_told_together_whatever_they_had_done(journals):
    for number, bucket in enumerate(("00", "01")):
        system = ("still", "vtrace")[number]
        detail = f"renders of {system}: stopped after {number} of 3: time limit near; goes on at its next try"
        note(journals, f"render_captions/{system}/{bucket}", state="stopped", detail=detail, total=3, done=number)
    text = told(journals, [Failed("render_captions/still/00", 1), Failed("render_captions/vtrace/01", 2)])
    assert text.splitlines()[1] == "  render_captions: renders: stopped: time limit near; goes on at its next try"
    assert text.count("stopped") == 1 and "still/00, vtrace/01; of still, vtrace" in text


def test_an_error_that_names_another_clip_in_each_shard_is_one_cause(journals):
    failed = []
    for number, bucket in enumerate(CLIPS):
        shard = f"generate_captions/still/{bucket}"
        note(journals, shard, state="failed", detail=f"RuntimeError: cannot be made at generate of {CLIPS[bucket][0]} by still")
        failed.append(Failed(shard, number))
    assert "  generate_captions: RuntimeError: cannot be made at generate\n" in told(journals, failed)


def test_many_causes_are_not_all_told(journals):
    for number in range(30):
        note(journals, f"generate_captions/still/{number}", state="failed", detail=f"cause {number}")
    text = told(journals, [Failed(f"generate_captions/still/{number}", number) for number in range(30)])
    assert "and 18 shards for 18 other causes: see their logs" in text and len(text.splitlines()) < 45


def test_marks_of_another_run_say_nothing(journals):
    journals.write("render_captions/still/00", Mark("render_captions/still/00", run="earlier", state="stopped", detail="old"))
    text = told(journals, [Failed("render_captions/still/00", 1, written("logs/x.log"))])
    assert "old" not in text and "its job ended before its work began" in text and "logs/x.log" in text


REFUSAL = """Error in rule segment_objects:
    message: SLURM sbatch failed. The error message was 'sbatch: error: Memory specification can not be satisfied
sbatch: error: Batch job submission failed: Requested node configuration is not available'.
    sbatch call:
        sbatch --parsable --exclude=n2 --wrap="x"
For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: 5
    output: x
"""


def test_what_sbatch_refused_is_in_its_own_words(journals, tmp_path):
    log = tmp_path / "run.log"
    log.write_text("Job 3 has been submitted with SLURM jobid 7 (log: /x/rule_a/7.log).\n" + REFUSAL)
    text = told(journals, [Failed("render_captions/still/00", 5)], log=log)
    assert "SLURM took no job: Memory specification can not be satisfied; Batch job submission failed: Requested node" in text
    assert "codecap slurm check" in text


ACCOUNT = """Exception in run_job for rule {rule}: The given account rich appears to be invalid. Available accounts:
root, benchmark
[Mon Nov 30 09:45:18 2026]
Error in rule {rule}:
    message: Job submission failed with exception: The given account rich appears to be invalid. Available accounts:
root, benchmarkFor further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: {number}
    output: results/6_score/references/cpu/00.jsonl
    log: logs/{rule}/00.log (check log file(s) for error details)
Logfile logs/{rule}/00.log: empty file
"""
RULES = ("gather_annotations", "describe_references", "generate_captions")


def refused(tmp_path) -> tuple[Path, list[Failed]]:
    """Snakemake's log of jobs whose account SLURM does not know, and those jobs; the executor leaves empty logs."""
    log = tmp_path / "run.log"
    log.write_text("".join(ACCOUNT.format(rule=rule, number=number) for _ in range(11) for number, rule in enumerate(RULES)))
    failed = [Failed(f"{rule}/00", number, written(f"logs/{rule}/00.log", "")) for number, rule in enumerate(RULES)]
    return log, failed


def test_an_account_that_slurm_does_not_know_is_told_once_in_the_executors_words(journals, tmp_path):
    log, failed = refused(tmp_path)
    lines = told(journals, failed, log=log).splitlines()
    why = "SLURM took no job: The given account rich appears to be invalid. Available accounts: root, benchmark"
    assert lines[1] == f"  describe_references, gather_annotations, generate_captions: {why}"
    assert lines[2:5] == [
        "    shards  gather_annotations/00, describe_references/00, generate_captions/00",
        "    clips   2 left: A_001, A_002",
        "    to do   `codecap slurm check` says which settings do not fit",
    ]


def test_what_was_refused_stands_in_the_journals_for_those_who_look_later(journals, tmp_path):
    log, failed = refused(tmp_path)
    note(journals, "gather_annotations/00", state="finished", total=2, done=2, unfinished=True, files=("a.html",))
    before = Mark("describe_references/00", this_try=3, state="stopped", total=2, done=1, run="before", ooms=1, detail="stopped")
    journals.write(before.shard, before)
    finished = journals.read("gather_annotations/00")
    told(journals, failed, log=log)
    held = journals.every()
    assert held["generate_captions/00"].state == "failed" and held["generate_captions/00"].run == RUN
    assert held["generate_captions/00"].detail.startswith("SLURM took no job: The given account rich appears to be invalid")
    assert "codecap slurm check" in held["generate_captions/00"].detail
    kept = held["describe_references/00"]
    assert (kept.state, kept.this_try, kept.done, kept.ooms) == ("failed", 3, 1, 1)
    assert held["gather_annotations/00"] == finished
    assert "generate_captions: SLURM took no job: The given account" in told(journals, failed, log=log)  # as if it were not there


def test_why_a_job_was_killed_stands_in_its_journal(journals):
    shard = "render_captions/vtrace/01"
    note(journals, shard, total=3, done=1, slurm_job="17")
    told(journals, [Failed(shard, 4)], {"17": Fate(Cause.OUT_OF_MEMORY, "out of memory on n1", "raise cluster.memory_factor")})
    mark = journals.read(shard)
    assert (mark.state, mark.done, mark.detail) == ("running", 1, "out of memory on n1")


def test_the_log_of_slurm_is_named_first_where_the_work_never_began(journals):
    log = written("logs/x.log", "Snakemake began\n")
    fates = {"7": Fate(Cause.FAILED, "ended with an error of its own", log=written(".snakemake/slurm_logs/7.log"))}
    run = Path("run.log")
    run.write_text("Job 3 has been submitted with SLURM jobid 7 (log: /x/7.log).\n")
    text = told(journals, [Failed("render_captions/still/00", 3, log)], fates, run)
    assert "its job ended before its work began" in text
    assert "    logs    .snakemake/slurm_logs/7.log, logs/x.log\n    to do   see the log\n" in text
    written(log, "")
    assert "    logs    .snakemake/slurm_logs/7.log\n" in told(journals, [Failed("render_captions/still/00", 3, log)], fates, run)
    text = told(journals, [Failed("render_captions/still/00", 3, log)])
    assert "logs    " not in text and "    to do   run again; no log says more\n" in text


def test_a_run_that_was_stopped_says_so_and_what_is_missing(journals):
    note(journals, "render_captions/vtrace/01", total=3, done=1, slurm_job="17", log="logs/x.log")
    note(journals, "generate_captions/still/00", state="finished", total=2, done=2, slurm_job="18")
    failed = [Failed("render_captions/vtrace/01", 1), Failed("gather_annotations/01", 2), Failed("generate_captions/still/00", 3)]
    failed = [replace(job, cancelled=True) for job in failed]
    assert told(journals, failed, {"17": Fate(Cause.ALIVE, "still in the queue")}, stopped=True, not_begun=5).splitlines() == [
        "stopped; 2 jobs cancelled; what they have done is kept:",
        "  gather_annotations, render_captions: cancelled, as the run was stopped",
        "    shards  render_captions/vtrace/01, gather_annotations/01",
        "    clips   5 left of these 6: B_001, B_002, B_003",
        "  5 jobs did not run.",
        "  Run the same command again to go on: nothing that is finished is done again.",
    ]
    assert journals.read("render_captions/vtrace/01").detail == ""  # the job may be about to say more itself


def test_jobs_that_failed_before_the_run_was_stopped_are_told_beside_those_that_were_cancelled(journals):
    note(journals, "render_captions/vtrace/01", state="failed", detail="no browser")
    failed = [Failed("render_captions/vtrace/01", 1), Failed("render_captions/still/01", 2, cancelled=True)]
    text = told(journals, failed, stopped=True)
    assert text.startswith("stopped; 1 job cancelled, and 1 shard did not finish; what they have done is kept:\n")
    assert "  render_captions: no browser\n" in text


def test_a_run_that_was_stopped_between_two_jobs_says_so(journals):
    assert told(journals, [], stopped=True, not_begun=1).splitlines() == [
        "stopped; 0 jobs cancelled; what was done is kept.",
        "  1 job did not run.",
        "  Run the same command again to go on: nothing that is finished is done again.",
    ]


def test_a_node_that_failed_and_what_was_refused_after_it_are_both_told(journals, tmp_path):
    shard = "segment_objects/still/01"
    detail = "segments of still: stopped after 1 of 3: asked to end (SIGTERM); what was under way is begun anew at its next try"
    note(journals, shard, state="stopped", detail=detail, total=3, done=1, slurm_job="7", host="n2")
    log = tmp_path / "run.log"
    log.write_text("Job 5 has been submitted with SLURM jobid 7 (log: /x/rule_a/7.log).\n" + REFUSAL)
    fates = {"7": Fate(Cause.NODE_FAILURE, "node failure on n2", "nothing")}
    line = told(journals, [Failed(shard, 5)], fates, log).splitlines()[1]
    assert line.startswith("  segment_objects: node failure; segments: stopped: asked to end (SIGTERM)") and line.endswith(
        "(on n2)"
    )
    assert "then SLURM took no job: Memory specification" in line


def test_a_refusal_before_a_job_that_was_taken_says_nothing(journals, tmp_path):
    log = tmp_path / "run.log"
    log.write_text(REFUSAL + "Job 5 has been submitted with SLURM jobid 7 (log: /x/rule_a/7.log).\n")
    fates = {"7": Fate(Cause.PREEMPTED, "preempted", "nothing")}
    text = told(journals, [Failed("render_captions/still/00", 5)], fates, log)
    assert "took no job" not in text and "render_captions: preempted" in text


def test_the_last_try_of_a_job_counts(journals, tmp_path):
    log = tmp_path / "run.log"
    log.write_text("".join(f"Job 3 has been submitted with SLURM jobid {job} (log: /x/{job}.log).\n" for job in (7, 9)))
    fates = {"7": Fate(Cause.PREEMPTED, "preempted"), "9": Fate(Cause.NODE_FAILURE, "node failure on n2", "nothing")}
    assert "node failure (on n2)" in told(journals, [Failed("render_captions/still/00", 3)], fates, log)


def test_a_local_process_that_was_killed(journals):
    note(journals, "render_captions/still/00", state="running", total=2, done=1, host="here", log="logs/x.log")
    assert "render_captions: killed: its process is no more, and nothing says why (on here)" in told(
        journals, [Failed("render_captions/still/00", 1)]
    )


@pytest.mark.parametrize(("trace", "looks_at_log"), [("", False), ("Traceback", True)])
def test_an_error_of_the_job_is_told_as_it_told_it(journals, trace, looks_at_log):
    """The words of an error that a user can cure say what to do."""
    shard = "render_captions/still/00"
    note(journals, shard, state="failed", detail="no browser; install one", trace=trace, log="logs/x.log")
    text = told(journals, [Failed(shard, 1)])
    assert "render_captions: no browser; install one" in text
    assert ("to do   see the log" in text) is looks_at_log


def test_a_full_disk_is_one_cause_whatever_was_to_be_written_there(journals):
    failed = []
    for number, rule in enumerate(("generate_captions", "render_captions", "segment_objects")):
        for system in ("still", "vtrace"):
            shard = f"{rule}/{system}/00"
            words = ": no space left on the device; free some or move it"
            note(
                journals, shard, state="failed", detail=f"store/{rule}/{system}/_{number}{words}", cause=f"store/…{words}", host="h"
            )
            failed.append(Failed(shard, number))
    assert told(journals, failed).splitlines()[1:-1] == [
        "  generate_captions, render_captions, segment_objects: store/…: no space left on the device; free some or move it (on h)",
        "    shards  generate_captions/still/00, generate_captions/vtrace/00, render_captions/still/00, render_captions/vtrace/00, "
        "segment_objects/still/00, segment_objects/vtrace/00; of still, vtrace",
        "    clips   4 left: A_001, A_002",
    ]


@pytest.mark.parametrize("slurm_job", ["", "7"])
def test_settings_of_the_cluster_are_named_only_where_a_cluster_ran_the_job(journals, slurm_job):
    states = {"stopped": "stopped: asked to end (SIGTERM)", "running": "", "finished": ""}
    failed = []
    for number, (state, detail) in enumerate(states.items()):
        note(journals, f"{state}/still/00", state=state, detail=detail, slurm_job=slurm_job)
        failed.append(Failed(f"{state}/still/00", number))
    text = told(journals, failed)
    assert [word in text for word in ("cluster.", "latency-wait", "--retries")] == [bool(slurm_job)] * 3


CRASHED = """RuleException:
CalledProcessError in file "/x/rules/5_render.smk", line 26:
Command 'set -euo pipefail; python x.py' {how}.
[Mon Nov 30 06:01:02 2026]
Error in rule render_captions:
    message: None
    jobid: 1
    output: x
"""


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("returned non-zero exit status 139", "crashed (signal 11)"),
        ("died with <Signals.SIGSEGV: 11>", "crashed (signal 11)"),
        ("returned non-zero exit status 134", "crashed (signal 6)"),
        ("returned non-zero exit status 137", "killed: its process is no more"),
        ("returned non-zero exit status 1", "killed: its process is no more"),
    ],
)
def test_a_crash_is_not_told_as_memory(journals, tmp_path, how, words):
    """In the log of Snakemake 9.27, or, where the job was SLURM's, in the one that SLURM wrote of it."""
    shard = "render_captions/still/00"
    log = tmp_path / "run.log"
    log.write_text(
        CRASHED.format(how="returned non-zero exit status 137").replace("jobid: 1", "jobid: 2") + CRASHED.format(how=how)
    )
    note(journals, shard, state="running", host="here")
    assert f"render_captions: {words}" in told(journals, [Failed(shard, 1)], log=log)
    note(journals, shard, state="running", host="here", slurm_job="7")
    fates = {"7": Fate(Cause.FAILED, "ended with an error of its own", log=str(log))}
    assert f"render_captions: {words}" in told(journals, [Failed(shard, 1)], fates)


def test_a_clip_is_counted_once(journals):
    """It is scored in two lanes, and one of its rows fails in each."""
    for lane in ("cpu", "judge"):
        note(journals, f"score_renders/{lane}/still/01", state="finished", unfinished=True, failures={"not reached": 2})
    assert "score_renders: 2 clips to be tried again: not reached" in told(journals, [])
    for lane in ("cpu", "judge"):
        note(journals, f"score_renders/{lane}/still/01", state="failed", detail="no file", done=1)
    text = told(journals, [Failed(f"score_renders/{lane}/still/01", 1) for lane in ("cpu", "judge")])
    assert "clips   2 left of these 3: B_001" in text


def test_rows_are_grouped_and_limited_as_all_else(journals):
    for number, bucket in enumerate(CLIPS):
        failures = {f"not reached at judge of {CLIPS[bucket][0]} by still": 1} | {f"cause {number} {more}": 1 for more in range(9)}
        note(
            journals, f"score_renders/judge/still/{bucket}", state="finished", unfinished=True, failures=failures, cause="run again"
        )
    lines = told(journals, []).splitlines()
    assert lines[1:4] == [
        "  score_renders: 2 clips to be tried again: not reached at judge",
        "    shards  judge/still/00, judge/still/01",
        "    to do   run again",
    ]
    assert lines[-2] == "  and 1 shard for 7 other causes: see their logs" and len(lines) == 3 + 3 * 12


def test_rows_that_failed_by_our_fault_are_told_where_all_jobs_came_through(journals):
    for bucket in ("00", "01"):
        shard = f"prompt_objects/still/{bucket}"
        note(
            journals,
            shard,
            state="finished",
            unfinished=True,
            total=3,
            done=3,
            failures={"quota used up": 2},
            log=f"logs/{bucket}.log",
        )
    assert told(journals, []).splitlines()[1:4] == [
        "  prompt_objects: 4 clips to be tried again: quota used up",
        "    shards  still/00, still/01",
        "    logs    logs/00.log, logs/01.log",
    ]
