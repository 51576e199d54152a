"""Jobs that are stopped, that fail for good, and whose files are purged: real processes, with stand-ins that cost nothing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from loopback import Loopback

from codecap.bench import stand_in_project
from codecap.bench.stand_ins.requests import SERVED, Request, ask, calls
from codecap.records import Caption, ObjectPrompts, Render, read_rows
from codecap.shards import SHARDS, Journals, Mark

pytestmark = pytest.mark.slow

CLIPS = 6
GENERATE = "generate_captions/system_00/00"
CAPTIONS = "results/4_generate/system_00/00.jsonl"
RENDERS = "results/5_render/system_00/00.jsonl"
PROMPTS = "results/6_score/prompts/system_00/00.jsonl"
MAIN = ["--rerun-incomplete", "--nolock", "--keep-going"]


class Run:
    """A project of stand-ins, and the processes that work in it."""

    def __init__(self, folder: Path, **told) -> None:
        self.project = stand_in_project.lay(folder, **({"systems": 1, "clips": CLIPS, "buckets": 1, "frames": 24} | told))
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Snakemake in a process group of its own."""
        place = ["--snakefile", str(self.project / "Snakefile"), "--directory", str(self.project), "--cores", "1"]
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *place, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=stand_in_project.environment(self.project) | environment,
        )
        self.processes.append(process)
        return process

    def start_as_in_slurm(self, attempt: int = 1, **environment: str) -> subprocess.Popen[str]:
        """The Snakemake that a SLURM job runs, for the captions' shard."""
        shard = ["--target-jobs", "generate_captions:system=system_00,bucket=00", "--allowed-rules", "generate_captions"]
        how = ["--force", "--attempt", str(attempt), "--retries", "0", "--nolock", "--ignore-incomplete", "--no-hooks"]
        return self.start("--mode", "remote", *shard, *how, **environment)

    def finish(self, *arguments: str) -> str:
        status, told = ended(self.start(*arguments))
        assert status == 0, told[-4000:]
        return told

    def wait_for(self, items: int, process: subprocess.Popen[str]) -> None:
        wait_until(lambda: len(list(calls(self.project))) >= items, process)

    def made(self, stage: str) -> Counter[str]:
        """How often each clip's item was made."""
        return Counter(call["clip_id"] for call in calls(self.project) if call["stage"] == stage)

    def mark(self, shard: str = GENERATE) -> Mark | None:
        return Journals(self.project / SHARDS).read(shard)


@pytest.fixture
def run(tmp_path):
    running = Run(tmp_path / "project")
    yield running
    end_all(running)


def end_all(run: Run) -> None:
    for process in run.processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        process.communicate()


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < end
        time.sleep(0.05)


def ended(process: subprocess.Popen[str], within_s: float = 90) -> tuple[int, str]:
    told, _ = process.communicate(timeout=within_s)
    return process.returncode, told


@pytest.mark.parametrize(("number", "why"), [(signal.SIGUSR1, "time limit near"), (signal.SIGTERM, "asked to end (SIGTERM)")])
def test_a_signal_to_all_processes_of_a_slurm_job_stops_it_cleanly_and_it_goes_on(run, number, why):
    """Snakemake and the shell around the script wait for it."""
    ask(run.project, Request("sleep", stage="generate", seconds=1.0))
    process = run.start_as_in_slurm()
    run.wait_for(2, process)
    os.killpg(process.pid, number)
    status, told = ended(process)
    assert status != 0
    done = run.mark().done
    words = f"captions of system_00: stopped cleanly after {done} of {CLIPS}: {why}; goes on at its next try"
    assert f"codecap: {words}\n" in told
    assert (run.mark().state, run.mark().detail) == ("stopped", words)
    assert 2 <= done <= 3
    assert len(run.made("generate")) == done
    assert not (run.project / CAPTIONS).exists()

    ask(run.project)
    status, told = ended(run.start_as_in_slurm(attempt=2))
    assert status == 0, told
    assert (run.mark().state, run.mark().done, run.mark().attempt) == ("finished", CLIPS, 2)
    assert len(list(read_rows(run.project / CAPTIONS, Caption))) == CLIPS
    assert set(run.made("generate").values()) == {1}
    assert len(run.made("generate")) == CLIPS


def test_the_deadline_of_a_slurm_job_stops_it_before_slurm_does(run):
    ask(run.project, Request("sleep", stage="generate", seconds=3.0))
    process = run.start_as_in_slurm(SLURM_JOB_ID="41", SLURM_JOB_END_TIME=str(int(time.time()) + 20))
    status, told = ended(process)
    assert status != 0
    assert "time limit near; goes on at its next try" in told
    assert (run.mark().state, run.mark().slurm_job) == ("stopped", "41")
    done = run.mark().done
    assert 1 <= done < CLIPS
    assert len(run.made("generate")) == done


def test_a_second_sigterm_ends_it_at_once_and_stores_nothing_of_what_was_under_way(run):
    ask(run.project, Request("sleep", stage="generate", clip="A_0005", seconds=60, times=1))
    process = run.start_as_in_slurm()
    wait_until(lambda: list((run.project / SERVED).glob("*")), process)
    os.killpg(process.pid, signal.SIGTERM)
    time.sleep(1.5)
    assert process.poll() is None  # what is under way may come to its end
    os.killpg(process.pid, signal.SIGTERM)
    status, told = ended(process, within_s=10)
    assert status != 0
    assert f"stopped after 1 of {CLIPS}: asked to end (SIGTERM); what was under way is begun anew at its next try" in told
    assert run.mark().state == "stopped"
    assert len(list((run.project / "store" / "durable" / "generate").rglob("*.json"))) == 1
    assert not list((run.project / "store").rglob("*.draft*"))


@pytest.mark.parametrize(("number", "why"), [(signal.SIGTERM, "asked to end (SIGTERM)"), (signal.SIGINT, "interrupted (Ctrl-C)")])
def test_a_run_on_this_machine_that_is_asked_to_end(run, number, why):
    """As a terminal or a service manager does it: the signal goes to the whole group."""
    ask(run.project, Request("sleep", stage="generate", seconds=1.0))
    process = run.start(CAPTIONS, *MAIN, "--retries", "3")
    run.wait_for(1, process)
    os.killpg(process.pid, number)
    status, told = ended(process, within_s=20)
    assert status != 0
    assert told.count("codecap: captions of system_00: stopped cleanly after ") == 1, told  # not begun again
    assert (run.mark().state, why in run.mark().detail, "Traceback" in told) == ("stopped", True, False)
    ask(run.project)
    run.finish(CAPTIONS, *MAIN)
    assert run.made("generate") == Counter(dict.fromkeys(run.made("generate"), 1))
    assert "Nothing to be done" in run.finish(CAPTIONS, *MAIN)


def test_what_fails_for_good_is_tried_once_a_run(run):
    ask(run.project, Request("raise", stage="generate", clip="B_0001"))
    process = run.start(CAPTIONS, *MAIN, "--retries", "3")
    status, told = ended(process)
    assert status != 0
    assert told.count("Traceback") == 1
    words = "stopped by a programming error: RuntimeError: a programming error, asked for at generate of B_0001 by system_00"
    assert told.count(f"codecap: {words}\n") == 3
    assert (run.mark().state, run.mark().detail) == ("failed", words)
    assert "Traceback" in (run.project / run.mark().log).read_text()
    ask(run.project)
    run.finish(CAPTIONS, *MAIN)  # cured: another run works on it
    assert set(run.made("generate").values()) == {1}


def test_what_was_purged_is_found_and_made_again(run):
    run.finish(RENDERS, *MAIN)
    assert "Nothing to be done" in run.finish(RENDERS, *MAIN)
    rows = list(read_rows(run.project / RENDERS, Render))
    gone = run.project / rows[2].mp4
    gone.unlink()
    run.finish(RENDERS, *MAIN)
    assert gone.is_file()
    assert run.made("render") == Counter({row.clip_id: 2 if row is rows[2] else 1 for row in rows})
    assert run.mark("render_captions/system_00/00").this_try == 1
    assert "Nothing to be done" in run.finish(RENDERS, *MAIN)
    assert set(run.made("generate").values()) == {1}


def test_a_store_that_moved_and_journals_that_are_gone_cost_no_item(run):
    """Rows that name the old place are written anew from the store; a purge is found without journals too."""
    run.finish(RENDERS, *MAIN)
    (run.project / "store").rename(run.project / "moved")
    config = run.project / "config" / "config.yaml"
    told = yaml.safe_load(config.read_text())
    told["store"] |= {"durable": "moved/durable", "bulk": "moved/bulk"}
    config.write_text(yaml.safe_dump(told))
    run.finish(PROMPTS, *MAIN)
    assert {row.status for row in read_rows(run.project / PROMPTS, ObjectPrompts)} == {"ok"}
    assert all(row.html.is_relative_to("moved/durable") for row in read_rows(run.project / CAPTIONS, Caption))
    rows = list(read_rows(run.project / RENDERS, Render))
    assert all(row.mp4.is_relative_to("moved/bulk") for row in rows)
    assert [set(run.made(stage).values()) for stage in ("generate", "render", "prompt")] == [{1}] * 3
    shutil.rmtree(run.project / SHARDS)
    (run.project / rows[2].mp4).unlink()
    run.finish(PROMPTS, *MAIN)
    assert run.made("render") == Counter({row.clip_id: 2 if row is rows[2] else 1 for row in rows})
    assert [set(run.made(stage).values()) for stage in ("generate", "prompt")] == [{1}] * 2
    assert "Nothing to be done" in run.finish(PROMPTS, *MAIN)


def test_a_failure_of_ours_is_tried_at_the_next_run_until_it_comes_through(run):
    ask(run.project, Request("unreached", stage="render", clip="C_0002", times=1))
    assert "renders of system_00: tried again at the next run: C_0002: a failure of ours" in run.finish(RENDERS, *MAIN)
    assert run.mark("render_captions/system_00/00").unfinished
    run.finish(RENDERS, *MAIN)
    assert set(run.made("render").values()) == {1}
    assert "Nothing to be done" in run.finish(RENDERS, *MAIN)


def test_a_broken_journal_breaks_no_plan(run):
    run.finish(CAPTIONS, *MAIN)
    path = Journals(run.project / SHARDS).path(GENERATE)
    path.write_text(path.read_text()[:40])
    told = run.finish(CAPTIONS, *MAIN)
    assert told.count("not a journal of a shard") == 1
    assert "Nothing to be done" in told  # its number of tries was 0, as without one


def test_no_paid_answer_is_lost_or_asked_twice_after_a_stop(tmp_path):
    """The job is stopped while a question is under way and while one waits for its next try."""
    with Loopback(for_s=300) as server:
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url()}
        run = Run(tmp_path / "project", endpoint=endpoint)
        try:
            server.slow_s, server.otherwise = 1.0, "slow"
            process = run.start(PROMPTS, *MAIN)
            wait_until(lambda: len(server.ways) == 2, process)  # the second question is under way
            os.killpg(process.pid, signal.SIGTERM)
            status, told = ended(process)
            assert (status != 0, f"stopped cleanly after 2 of {CLIPS}" in told) == (True, True), told[-3000:]
            assert server.account.calls == 2

            server.behave("well", "500")
            server.retry_after_s, server.otherwise = 50, "429 with Retry-After"
            process = run.start(PROMPTS, *MAIN)
            wait_until(lambda: "429 with Retry-After" in server.ways, process)
            began = time.monotonic()
            os.killpg(process.pid, signal.SIGTERM)
            status, told = ended(process)
            assert status != 0
            assert "stopped cleanly after 3 of" in told
            assert time.monotonic() - began < 10

            server.otherwise = "well"
            run.finish(PROMPTS, *MAIN)
            assert [row.status for row in read_rows(run.project / PROMPTS, ObjectPrompts)] == ["ok"] * CLIPS
            assert (server.account.calls, server.account.twice) == (CLIPS, 0)
            ledger = (run.project / "store" / "durable" / "exchange" / "ledger.jsonl").read_text().splitlines()
            what = Counter(json.loads(line)["what"] for line in ledger)
            assert what["settle"] == CLIPS
            assert what["lose"] == 0
        finally:
            end_all(run)
