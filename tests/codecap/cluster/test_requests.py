"""What jobs ask for, as Snakemake calls the rules' resources: by wildcards, input, threads and attempt."""

import copy
import inspect
from types import SimpleNamespace

import pytest

from codecap import config as configuration
from codecap.cluster import costs
from codecap.cluster.requests import Requests
from codecap.records import Clip
from codecap.shards import Journals, Mark

DEMO = configuration.PROJECT / "config" / "demo.yaml"
SITE = {
    "partition": "batch",
    "gpu_partition": "a100",
    "network_partition": "proxy",
    "account": "vision",
    "gpu_constraint": "a100|h100",
    "stop_before_s": 120,
}


class Wildcards(SimpleNamespace):
    """As Snakemake's: values by name, in order."""

    def items(self):
        return vars(self).items()


def clips(count, frames=480, width_px=1280, height_px=720):
    size = {"frames": frames, "width_px": width_px, "height_px": height_px}
    return [Clip(clip_id=f"A_{n:03}", category="A", mp4=f"A_{n:03}.mp4", sha256=f"{n:064x}", **size) for n in range(count)]


@pytest.fixture
def journals(tmp_path):
    return Journals(tmp_path / "shards")


@pytest.fixture
def ask(journals):
    """Resources of one job, evaluated as Snakemake does it."""

    def evaluated(rule, wildcards, *, site=(), overlays=(), held=None, attempt=1, threads=1, killed=None, given=()):
        config = configuration.load(*overlays)
        config["cluster"] = {**config["cluster"], **dict(site)}
        requests = Requests(config, {"03": clips(32) if held is None else held}, config["models"], journals, killed)
        known = {"wildcards": Wildcards(**wildcards), "input": list(given), "threads": threads, "attempt": attempt}
        found = {}
        for name, value in requests.of(rule).items():
            told = value(**{key: known[key] for key in inspect.signature(value).parameters}) if callable(value) else value
            if told is not None:
                found[name] = told
        return found

    return evaluated


VTRACE = {"system": "vtrace", "bucket": "03"}


def test_nothing_is_named_that_the_site_leaves_to_the_cluster(ask):
    assert set(ask("render_captions", VTRACE, threads=4)) == {"mem_mb", "runtime", "attempt", "gpus_in_use"}
    assert "gres" not in ask("score_renders", {"lane": "cpu", **VTRACE})


def test_jobs_go_to_the_nodes_that_they_need(ask):
    place = {
        "render": ask("render_captions", VTRACE, site=SITE),
        "gpu": ask("score_renders", {"lane": "gpu", **VTRACE}, site=SITE),
        "judge": ask("score_renders", {"lane": "judge", **VTRACE}, site=SITE),
        "prompts": ask("prompt_objects", VTRACE, site=SITE),
        "tracks": ask("segment_objects", VTRACE, site=SITE),
        "captions": ask("generate_captions", VTRACE, site=SITE),
    }
    assert {name: told["slurm_partition"] for name, told in place.items()} == {
        "render": "batch",
        "gpu": "a100",
        "judge": "proxy",
        "prompts": "proxy",
        "tracks": "a100",
        "captions": "batch",
    }
    assert {name for name, told in place.items() if "gres" in told} == {"gpu", "tracks"}
    assert {name for name, told in place.items() if "constraint" in told} == {"gpu", "tracks"}
    assert {name: told["cpus_per_task"] for name, told in place.items() if "cpus_per_task" in told} == {"gpu": 2, "tracks": 2}
    assert {told["slurm_account"] for told in place.values()} == {"vision"}
    assert {name for name, told in place.items() if told["gpus_in_use"] == 1} == {"gpu", "tracks"}
    assert {told["gpus_in_use"] for told in place.values()} == {0, 1}


def test_a_demo_on_stand_ins_asks_for_no_gpu(ask):
    for rule, wildcards in (("segment_objects", VTRACE), ("score_renders", {"lane": "cpu", **VTRACE})):
        assert "gres" not in ask(rule, wildcards, site=SITE, overlays=[DEMO])


def test_a_model_that_is_served_beside_its_shard_asks_for_its_gpus_and_its_memory(ask, tmp_path):
    overlay = tmp_path / "mine.yaml"
    endpoint = "endpoint: {api: openai, model: m}"
    overlay.write_text(
        "models:\n"
        f"  hosted: {{label: a, harness: direct, {endpoint}}}\n"
        f"  served: {{label: b, harness: direct, {endpoint}, serve: {{}}}}\n"
        f"  large: {{label: c, harness: direct, {endpoint}, serve: {{gpus: 4, memory_mb: 200000}}}}\n"
    )
    site = {**SITE, "gres": "gpu:a100:1"}
    hosted, served, large = (
        ask("generate_captions", {"system": name, "bucket": "03"}, site=site, overlays=[overlay])
        for name in ("hosted", "served", "large")
    )
    assert [told["slurm_partition"] for told in (hosted, served, large)] == ["proxy", "a100", "a100"]
    assert "gres" not in hosted and [served["gres"], large["gres"]] == ["gpu:a100:1", "gpu:a100:4"]
    assert [told["gpus_in_use"] for told in (hosted, served, large)] == [0, 1, 4]
    assert hosted["mem_mb"] + 30_000 < served["mem_mb"] and served["mem_mb"] + 160_000 < large["mem_mb"]
    assert hosted["runtime"] < served["runtime"]
    assert "cpus_per_task" not in hosted and served["cpus_per_task"] == 2


def test_agents_ask_for_their_sandboxes_and_for_the_time_of_a_whole_run(ask, tmp_path):
    """A run that is broken off near the job's limit would be paid for again."""
    overlay = tmp_path / "models.yaml"
    endpoint = "endpoint: {api: openai, model: m, base_url: 'http://h/v1'}"
    overlay.write_text(
        "agents: {at_once: 3, memory_mb: 2000, deadline_s: 3600}\nmodels:\n"
        f"  short: {{label: a, harness: codex, {endpoint}}}\n"
        f"  long: {{label: b, harness: codex, {endpoint}, deadline_s: 7200, at_once: 1}}\n"
    )
    short, long = (
        ask("generate_captions", {"system": name, "bucket": "03"}, overlays=[DEMO, overlay], site=SITE)
        for name in ("short", "long")
    )
    browser_mb = configuration.load(DEMO)["render"]["memory_mb"] + costs.BROWSER_MB
    assert short["mem_mb"] - long["mem_mb"] == pytest.approx(2 * (2000 + costs.SANDBOX_MB + browser_mb), abs=100)
    assert long["mem_mb"] > 2000 + browser_mb
    assert long["runtime"] - short["runtime"] == 60
    assert short["runtime"] > 60 + 32 * 10


def test_the_attempt_is_told(ask):
    assert ask("render_captions", VTRACE, attempt=3)["attempt"] == 3


def test_time_follows_the_clips_left(ask, journals):
    shard = "render_captions/vtrace/03"
    render = {"rule": "render_captions", "wildcards": VTRACE, "held": clips(320)}
    whole = ask(**render)["runtime"]
    journals.write(shard, Mark(shard, state="stopped", total=320, done=280))
    assert whole / 10 < ask(**render)["runtime"] < whole / 6
    journals.write(shard, Mark(shard, state="finished", total=320, done=320))
    assert ask(**render)["runtime"] == whole  # planned again: its code may have changed, and all of it be made anew


def test_times_are_few_and_never_under_ten_minutes(ask):
    for count in (1, 2, 3, 5, 8, 13, 21, 34):
        told = ask("score_renders", {"lane": "cpu", **VTRACE}, held=clips(count))["runtime"]
        assert told >= 10
        assert told % 10 == 0


def test_no_more_is_asked_for_than_the_site_allows(ask):
    site = {"longest_min": 25, "gpu_longest_min": 40, "largest_mb": 2000}
    told = ask("render_captions", VTRACE, site=site, held=clips(3000), threads=4)
    assert (told["runtime"], told["mem_mb"]) == (25, 2000)
    assert ask("segment_objects", VTRACE, site=site, held=clips(3000))["runtime"] == 40


def test_factors_of_the_site_raise_what_is_asked_for(ask):
    plain = ask("score_renders", {"lane": "cpu", **VTRACE}, overlays=[DEMO])
    raised = ask("score_renders", {"lane": "cpu", **VTRACE}, overlays=[DEMO], site={"memory_factor": 1.5, "time_factor": 3})
    assert raised["mem_mb"] == pytest.approx(1.5 * plain["mem_mb"], abs=150)
    assert raised["runtime"] > 2 * plain["runtime"]


def test_memory_grows_only_after_a_kill_for_memory_and_once_for_each(ask, journals):
    shard, render = "render_captions/vtrace/03", {"rule": "render_captions", "wildcards": VTRACE}
    base, asked = ask(**render)["mem_mb"], []

    def killed(job):
        asked.append(job)
        return job == "41"

    for state in ("stopped", "failed", "finished"):
        journals.write(shard, Mark(shard, state=state, total=32, done=4, slurm_job="41"))
        assert ask(**render, attempt=2, killed=killed)["mem_mb"] == base
    assert not asked  # they have told themselves how they ended
    journals.write(shard, Mark(shard, state="running", total=32, done=4, slurm_job="40", told=7.0))
    assert ask(**render, attempt=2, killed=killed)["mem_mb"] == base
    journals.write(shard, Mark(shard, state="running", total=32, done=4, slurm_job="41", told=7.0))
    for _ in range(2):
        assert ask(**render, attempt=3, killed=killed)["mem_mb"] == pytest.approx(2 * base, abs=100)
    told = journals.read(shard)
    assert (told.ooms, told.state, told.detail, told.done) == (1, "failed", "killed: out of memory", 4)
    assert asked == ["40", "41"]
    journals.write(shard, Mark(shard, state="running", total=32, done=9, slurm_job="41", ooms=1))
    assert ask(**render, attempt=4, killed=killed)["mem_mb"] == pytest.approx(4 * base, abs=300)
    assert ask(**render, attempt=4, killed=killed, site={"largest_mb": 3 * base})["mem_mb"] == 3 * base


def test_a_kill_for_memory_with_all_that_the_site_allows_is_for_good_and_says_so(ask, journals):
    """Another attempt would be killed as well; one that had less asks for more."""
    shard, render = "render_captions/vtrace/03", {"rule": "render_captions", "wildcards": VTRACE}
    base = ask(**render)["mem_mb"]
    for ooms, largest_mb, for_good in [(0, 500, True), (0, base, True), (0, base + 100, False), (1, base + 100, True)]:
        journals.write(shard, Mark(shard, state="running", total=32, slurm_job="41", ooms=ooms, run="r"))
        asked_mb = ask(**render, attempt=2, killed=lambda _: True, site={"largest_mb": largest_mb})["mem_mb"]
        told = journals.read(shard)
        assert (asked_mb, told.state, told.ooms, told.run, told.for_good) == (largest_mb, "failed", ooms + 1, "r", for_good)
        assert told.detail == (
            f"out of memory with cluster.largest_mb ({largest_mb} MB): raise it" if for_good else "killed: out of memory"
        )


def test_within_a_job_and_in_a_shown_plan_nobody_is_asked_and_nothing_written(ask, journals):
    shard = "render_captions/vtrace/03"
    mark = Mark(shard, state="running", total=32, done=4, slurm_job="41", ooms=1)
    base = ask("render_captions", VTRACE)["mem_mb"]
    journals.write(shard, mark)
    assert ask("render_captions", VTRACE)["mem_mb"] == pytest.approx(2 * base, abs=100)
    assert journals.read(shard) == mark


def test_a_job_without_slurm_is_not_asked_about(ask, journals):
    journals.write("render_captions/vtrace/03", Mark("render_captions/vtrace/03", state="running", total=32, host="here", pid=1))
    asked = []
    ask("render_captions", VTRACE, killed=lambda job: bool(asked.append(job)))
    assert asked == []


def test_clips_that_are_not_known_yet_are_counted_in_the_jobs_input(ask, tmp_path):
    rows = tmp_path / "03.jsonl"
    unknown = ask("ingest_originals", {"bucket": "03"}, given=[rows])["runtime"]
    rows.write_text("{}\n" * 4)
    few = ask("ingest_originals", {"bucket": "03"}, given=[rows])["runtime"]
    rows.write_text("{}\n" * 400)
    many = ask("ingest_originals", {"bucket": "03"}, given=[rows])["runtime"]
    assert few < unknown < many


def test_a_job_that_reads_all_shards_counts_the_rows_of_all(ask, tmp_path):
    originals, surveys = ([tmp_path / stage / f"{number:02d}.jsonl" for number in range(5)] for stage in ("originals", "surveys"))
    for path in (*originals, *surveys):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}\n" * 1000)
    alone, every = (ask("choose_parts", {}, given=given)["runtime"] for given in (originals[:1], [*originals, *surveys]))
    assert every > 4 * alone  # what does not depend on the rows counts once


def test_originals_take_longer_than_clips(ask, tmp_path):
    rows = tmp_path / "03.jsonl"
    rows.write_text("{}\n" * 100)
    clips, originals = (ask(rule, {"bucket": "03"}, given=[rows])["runtime"] for rule in ("filter_clips", "survey_originals"))
    assert originals > 2 * clips


def test_a_judge_in_the_gpu_lane_is_refused_when_the_rules_are_read(journals):
    config = copy.deepcopy(configuration.load())
    config["metrics"]["retention"]["lane"] = "gpu"
    with pytest.raises(configuration.ConfigError, match="retention"):
        Requests(config, {"03": clips(3)}, config["models"], journals)
