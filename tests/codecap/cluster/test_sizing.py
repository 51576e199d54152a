"""What jobs are said to need against what they were measured to need: never less, and never three times as much.

The anchors are peak resident memory of a job's script with its children, and its wall time, on Debian 12 with two cores (AMD EPYC)
and no GPU: Snakemake's benchmark files of a demo run, `codecap bench memory` on drawn clips of other sizes, one page that fills
the memory it may have, and tables of the demo's rows under other names.
"""

import copy
from dataclasses import dataclass, replace

import pytest

from codecap import config as configuration
from codecap.cluster import costs
from codecap.cluster.sizing import SPREAD, Clips, Sizes, Work

SNAKEMAKE_MB = 350  # two processes of a SLURM job beside the script, 174 MB each at 16 systems and 323 clips
SNAKEMAKE_S = 15  # of wall time, 10 to 20 whatever the job does

DEMO_00, DEMO_01 = Clips(2, 6.5, 0.2304, 6.5, 0.1800), Clips(3, 7.0, 0.2304, 6.67, 0.2112)
SMALL, LARGE, LONG = Clips(1, 6, 0.2304, 6, 0.2304), Clips(1, 3, 2.0736, 3, 2.0736), Clips(1, 40, 2.0736, 40, 2.0736)


@dataclass(frozen=True)
class Anchor:
    rule: str
    clips: Clips
    mb: float
    seconds: float | None = None
    lane: str = ""
    harness: str = ""
    threads: int = 1
    systems: int = 1

    @property
    def work(self):
        return Work(self.clips, self.clips.count, self.threads, self.lane, self.harness, systems=self.systems)


DEMO = [
    Anchor("generate_captions", DEMO_00, 275, 28.6, harness="vtrace"),
    Anchor("generate_captions", DEMO_01, 303, 36.0, harness="vtrace"),
    Anchor("render_captions", DEMO_00, 86, 0.8, harness="reference"),
    Anchor("render_captions", DEMO_01, 88, 1.2, harness="reference"),
    Anchor("describe_references", DEMO_00, 1041, 11.7, lane="cpu"),
    Anchor("describe_references", DEMO_01, 970, 14.0, lane="cpu"),
    Anchor("score_renders", DEMO_00, 955, 9.6, lane="cpu"),
    Anchor("score_renders", DEMO_01, 963, 13.9, lane="cpu"),
    Anchor("segment_objects", DEMO_00, 166, 6.5),
    Anchor("segment_objects", DEMO_01, 156, 9.7),
    Anchor("prompt_objects", DEMO_00, 146, 2.6),
    Anchor("prompt_objects", DEMO_01, 148, 4.0),
]
PAGES = [  # for their time: their memory is what they may hold, see FULL_PAGE
    Anchor("render_captions", DEMO_00, 1169, 4.8, harness="vtrace", threads=2),
    Anchor("render_captions", DEMO_01, 1195, 7.2, harness="vtrace", threads=2),
]
RULES = {
    "ingest": "ingest_originals",
    "filter": "filter_clips",
    "annotate": "propose_annotations",
    "generate": "generate_captions",
    "prompt": "prompt_objects",
    "segment": "segment_objects",
    "describe": "describe_references",
    "score": "score_renders",
}
PEAKS_MB = {  # codecap bench memory, by stage
    SMALL: dict(zip(RULES, (106, 95, 152, 213, 130, 170, 966, 978), strict=True)),
    LARGE: dict(zip(RULES, (235, 132, 184, 224, 189, 221, 1031, 1006), strict=True)),
    LONG: {"annotate": 192, "generate": 483, "prompt": 185, "segment": 232, "describe": 1047, "score": 1042},
}
DRAWN = [
    Anchor(
        rule := RULES[stage],
        clips,
        mb,
        lane="cpu" if rule in ("describe_references", "score_renders") else "",
        harness="vtrace" if rule == "generate_captions" else "",
    )
    for clips, peaks in PEAKS_MB.items()
    for stage, mb in peaks.items()
]
SURVEY = Anchor("survey_originals", Clips(1, 10, 2.0736, 10, 2.0736), 131, 3.1)  # figures that move, 1080p
FULL_PAGE = Anchor("render_captions", Clips(1, 4, 0.9216, 4, 0.9216), 2427)  # a page that fills the 2,000 MB that it may hold
FEW, ALL = (Clips(count, 7, 0.2304, 7, 0.2304) for count in (30, 323))
WHOLE = [  # every row the largest of the demo's, with 8 objects
    Anchor("compare_systems", FEW, 174, systems=4),
    Anchor("compare_systems", ALL, 791, systems=16),
    Anchor("build_report", FEW, 165, systems=4),
    Anchor("build_report", ALL, 504, systems=16),
    Anchor("tabulate_dataset", ALL, 185),
]


@pytest.fixture(scope="module")
def demo():
    return configuration.load(configuration.PROJECT / "config" / "demo.yaml")


@pytest.fixture(scope="module")
def paper():
    return configuration.load()


@pytest.mark.parametrize("anchor", [*DEMO, *DRAWN, SURVEY, FULL_PAGE, *WHOLE], ids=lambda anchor: f"{anchor.rule}-{anchor.mb}")
def test_memory_is_enough_and_never_three_times_what_was_measured(demo, anchor):
    needed_mb = anchor.mb + SNAKEMAKE_MB
    assert needed_mb <= Sizes(demo).memory_mb(anchor.rule, anchor.work) <= 3 * needed_mb


@pytest.mark.parametrize("anchor", [*DEMO, *PAGES, SURVEY], ids=lambda anchor: f"{anchor.rule}-{anchor.seconds}")
def test_time_is_enough_and_never_three_times_what_was_measured(demo, anchor):
    needed_s = anchor.seconds + SNAKEMAKE_S
    assert needed_s <= Sizes(demo).most_s(anchor.rule, anchor.work) <= 3 * needed_s


def test_pages_are_rendered_by_all_threads_and_each_may_fill_its_memory(demo):
    one = replace(FULL_PAGE.work, left=8)
    four = replace(one, threads=4)
    sizes = Sizes(demo)
    assert sizes.most_s("render_captions", four) < sizes.most_s("render_captions", one) / 2
    more_mb = sizes.memory_mb("render_captions", four) - sizes.memory_mb("render_captions", one)
    assert more_mb == 3 * (demo["render"]["memory_mb"] + costs.BROWSER_MB)


def test_larger_and_longer_clips_need_more(demo):
    sizes = Sizes(demo)
    for rule in ("ingest_originals", "propose_annotations", "render_captions", "segment_objects"):
        small, large, long = (sizes.memory_mb(rule, Work(clips, 1)) for clips in (SMALL, LARGE, LONG))
        assert small < large <= long
        assert sizes.most_s(rule, Work(LARGE, 1)) < sizes.most_s(rule, Work(LONG, 1))


def test_a_network_is_counted_once_however_many_metrics_use_it(demo):
    held = [name for name, entry in demo["metrics"].items() if entry.get("encoder") == "efficientnet"]
    assert len(held) > 2
    fewer = copy.deepcopy(demo)
    for name in held[1:]:
        del fewer["metrics"][name]
    work = Work(SMALL, 1, lane="cpu")
    assert Sizes(fewer).memory_mb("score_renders", work) == Sizes(demo).memory_mb("score_renders", work)
    assert Sizes(fewer).most_s("score_renders", work) < Sizes(demo).most_s("score_renders", work)


def test_networks_on_a_gpu_take_less_time_and_their_weights_of_the_host(paper):
    work = Work(Clips(32, 40, 2.0736, 20, 0.9216), 32, lane="gpu", kind="gpu")
    sizes = Sizes(paper)
    for rule, most_mb in (("score_renders", 24_000), ("describe_references", 24_000), ("segment_objects", 12_000)):
        on_gpu, on_cpu = (replace(work, kind=kind) for kind in ("gpu", "cpu"))
        assert 4_000 < sizes.memory_mb(rule, on_gpu) < most_mb
        assert sizes.most_s(rule, on_gpu) < sizes.most_s(rule, on_cpu) / 10


def test_nobody_is_asked_about_references(paper):
    work = Work(SMALL, 1, lane="judge")
    sizes = Sizes(paper)
    assert sizes.memory_mb("describe_references", work) < 1000 < sizes.memory_mb("score_renders", work)


def test_the_papers_cpu_lane_loads_no_network(paper):
    work = Work(SMALL, 1, lane="cpu", harness="vtrace")
    assert Sizes(paper).memory_mb("score_renders", work) < 800


def test_videos_of_another_length_need_the_network_that_matches_shots(paper, monkeypatch):
    work = Work(SMALL, 1, lane="cpu", harness="text_to_video")
    monkeypatch.setattr("codecap.registry.said", lambda family, name, constant, default: constant == "OTHER_LENGTHS")
    assert Sizes(paper).memory_mb("score_renders", work) > 3000


def test_of_a_backend_that_is_not_listed_the_weights_tell():
    assert costs.backend("encoder of_my_own").cpu.mb < 500
    assert 4000 < costs.backend("encoder of_my_own", weights_gb=3).cpu.mb < 10_000
    assert costs.backend("harness an_agent").cpu.s > 100


def test_what_was_not_measured_says_so():
    measured = {"harness vtrace", "harness reference", "prompter match", "judge pixel", "tracker lk", "tracker cotracker3"}
    measured |= {"segmenter color", "encoder efficientnet"}
    assert {name for name, told in costs.BACKENDS.items() if not told.cpu.derived} == measured
    assert not any(told.derived for told in costs.RULES.values())


def test_a_slow_node_is_given_its_time(demo):
    work = Work(SMALL, 1, lane="cpu")
    assert Sizes(demo).most_s("score_renders", work) == SPREAD * Sizes(demo).job_s("score_renders", work)
