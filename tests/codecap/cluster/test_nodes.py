"""Which node a job needs, for the paper's protocol, the demo, and what a user may set between them."""

import copy
import inspect

import pytest

from codecap import config as configuration
from codecap import estimate, registry
from codecap.cluster import nodes
from codecap.score.engine.choice import BACKENDS, OBJECTS_METRIC

DEMO = configuration.PROJECT / "config" / "demo.yaml"


@pytest.fixture(scope="module")
def paper():
    return configuration.load()


@pytest.fixture(scope="module")
def demo():
    return configuration.load(DEMO)


def with_metric(config, name, **settings):
    changed = copy.deepcopy(config)
    changed["metrics"][name] |= settings
    return changed


def test_the_papers_protocol_holds_gpus_for_networks_alone_and_asks_from_nodes_with_a_network(paper):
    kinds = {rule: nodes.kind_of(paper, rule) for rule in ("prompt_objects", "segment_objects", "render_captions", "build_report")}
    assert kinds == {"prompt_objects": "network", "segment_objects": "gpu", "render_captions": "cpu", "build_report": "cpu"}
    scores = {lane: nodes.kind_of(paper, "score_renders", lane) for lane in ("cpu", "gpu", "judge")}
    assert scores == {"cpu": "cpu", "gpu": "gpu", "judge": "network"}
    references = {lane: nodes.kind_of(paper, "describe_references", lane) for lane in ("cpu", "gpu", "judge")}
    assert references == {"cpu": "cpu", "gpu": "gpu", "judge": "cpu"}  # nobody is asked about a reference alone


def test_the_demo_holds_no_gpu_and_needs_no_network(demo):
    rules = ("generate_captions", "prompt_objects", "segment_objects", "describe_references", "score_renders")
    found = {
        nodes.kind_of(demo, rule, lane, {"harness": "vtrace"}) for rule in rules for lane in ("cpu", "gpu", "judge", "answers")
    }
    assert found == {"cpu"}


def test_a_lane_of_stand_ins_holds_no_gpu_whatever_its_name(demo):
    config = with_metric(demo, "visual_similarity", lane="gpu")
    assert nodes.kind_of(config, "score_renders", "gpu") == "cpu"


def test_a_network_that_is_set_to_the_cpu_holds_no_gpu(paper):
    config = with_metric(paper, OBJECTS_METRIC, segmenter="sam2", segmenters={"sam2": {"device": "cpu"}})
    assert nodes.kind_of(config, "segment_objects") == "cpu"
    config = with_metric(paper, OBJECTS_METRIC, segmenter="sam2", segmenters={"sam2": {"device": "cuda"}})
    assert nodes.kind_of(config, "segment_objects") == "gpu"


def test_weights_of_the_users_own_hold_a_gpu_too(paper, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    config = with_metric(paper, OBJECTS_METRIC, segmenter="sam2", segmenters={"sam2": {"folder": str(tmp_path)}})
    assert nodes.kind_of(config, "segment_objects") == "gpu"


def test_a_judge_of_another_lane_needs_a_network_there(paper):
    config = with_metric(paper, "retention", lane="cpu")
    assert nodes.kind_of(config, "score_renders", "cpu") == "network"


def test_a_judge_in_the_gpu_lane_is_refused(paper):
    with pytest.raises(configuration.ConfigError, match=r"metrics\.retention\.lane: gpu.*judge mllm.*set the lane to judge"):
        nodes.check(with_metric(paper, "retention", lane="gpu"))
    nodes.check(paper)


def test_without_the_objects_metric_its_rules_need_nothing(demo):
    config = copy.deepcopy(demo)
    del config["metrics"][OBJECTS_METRIC]
    assert nodes.kind_of(config, "segment_objects") == nodes.kind_of(config, "prompt_objects") == "cpu"


def test_harnesses_need_a_network_unless_they_say_that_they_do_not():
    told = {name: nodes.asks_network(name) for name in registry.available("generate.harnesses")}
    assert not told["reference"] and not told["vtrace"] and told["direct"]
    assert registry.said("generate.harnesses", "vtrace", "NO_SUCH_CONSTANT", default=True) is True


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        ("cpu", {"harness": "vtrace"}),
        ("network", {"harness": "direct", "endpoint": {"api": "openai", "model": "m"}}),
        ("gpu", {"harness": "direct", "endpoint": {"api": "openai", "model": "m"}, "serve": {}}),
        ("gpu", {"harness": "codex", "serve": {"options": {"max_model_len": 1000}, "gpus": 4}}),
        ("cpu", {"harness": "direct", "serve": {"command": "llama-server --port {port}", "gpus": 0}}),
        ("network", {"harness": "caption_to_video", "captions_of": "a", "video": "http_jobs"}),
        ("gpu", {"harness": "caption_to_video", "captions_of": "a", "video": "diffusers"}),
        ("cpu", {"harness": "caption_to_video", "video": "diffusers", "videos": {"diffusers": {"device": "cpu"}}}),
    ],
)
def test_a_model_of_ones_own_holds_a_gpu_and_asks_nobody(demo, kind, entry):
    assert nodes.kind_of(demo, "generate_captions", entry=entry) == kind


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"harness": "caption_to_video", "captions_of": "a", "video": "wan"}, "video: nothing called 'wan' makes videos"),
        ({"harness": "direct", "endpoint": {"api": "openai"}, "serve": {"command": "server"}}, "serve: .*command must say"),
        ({"harness": "direct", "endpoint": {"api": "google"}, "serve": {}}, "serve: the endpoint's api must be openai"),
    ],
)
def test_systems_that_no_job_could_be_placed_by_are_refused(demo, entry, words):
    config = {**demo, "systems": "all", "models": {"mine": {"label": "x", **entry}}}
    with pytest.raises(configuration.ConfigError, match=rf"models\.mine\.{words}"):
        nodes.check(config)
    nodes.check({**config, "models": {"mine": {"label": "x", "enabled": False, **entry}}})


DRAFTS = ("ask_proposer", "draft_annotations", "propose_annotations")


def test_a_model_is_asked_for_drafts_by_jobs_of_their_own_that_hold_no_gpu(paper, demo):
    hosted = {"proposer": "mllm"}
    assert [nodes.kind_of({**paper, **hosted}, rule) for rule in DRAFTS] == ["network", "gpu", "gpu"]  # SAM follows
    assert [nodes.kind_of({**demo, **hosted}, rule) for rule in DRAFTS] == ["network", "cpu", "cpu"]
    assert [nodes.kind_of(paper, rule) for rule in DRAFTS[1:]] == ["cpu", "cpu"]


def test_a_model_that_proposes_needs_a_segmenter_that_follows(demo):
    metrics = {name: entry for name, entry in demo["metrics"].items() if name != OBJECTS_METRIC}
    with pytest.raises(configuration.ConfigError, match=r"proposer: .*metrics\.object_iou"):
        nodes.check({**demo, "proposer": "mllm", "metrics": metrics})
    nodes.check({**demo, "metrics": metrics})


def test_who_asks_is_who_is_counted_in_the_estimate_of_costs(paper, demo):
    for config in (paper, demo):
        named = {
            f"{name}, {family} {backend}" for name, entry in config["metrics"].items() for family, backend in nodes.askers(entry)
        }
        if nodes.kind_of(config, "prompt_objects") == "network":
            named.add(f"{OBJECTS_METRIC}, prompter {config['metrics'][OBJECTS_METRIC]['prompter']}")
        assert named == {name for name, _, _ in estimate.scorers(config)}


@pytest.mark.parametrize("family", [*BACKENDS, "prompter", "segmenter"])
def test_backends_that_ask_have_an_endpoint_and_no_others(family):
    for name in registry.available(f"score.{family}s"):
        try:
            module = registry.load(f"score.{family}s", name)
        except registry.Unavailable:
            continue  # its package is the user's to install
        classes = [held for _, held in inspect.getmembers(module, inspect.isclass) if held.__module__ == module.__name__]
        asks = any(hasattr(held, "questions_expected") for held in classes)
        settings = getattr(module, "Settings", None)
        assert asks == (settings is not None and "endpoint" in settings.model_fields), name
