"""Every plugin keeps its folder's protocol, and the registry finds it by name and nothing else."""

import inspect
import json
import math
import subprocess
import sys

import pytest

from codecap import config, registry
from codecap.config import PROJECT
from codecap.errors import UserError

METRICS = registry.available("score")
FAMILIES = {
    "score.encoders": ("prepare", "embed_frames", "embed_video"),
    "score.prompters": ("prompt",),
    "score.segmenters": ("segment",),
    "score.trackers": ("prepare", "seed", "track"),
    "score.judges": ("watch", "judge"),
    "annotate.proposers": ("propose",),
    "generate.harnesses": ("version",),
    "generate.sandbox.backends": ("check", "port", "inside", "start"),
    "generate.videos": ("version", "make"),
}
BACKENDS = [(family, name) for family in FAMILIES for name in registry.available(family)]
SERVICE = {"base_url": "https://example.invalid/v1", "model": "some-model"}
ENDPOINT = {"endpoint": {"api": "openai", "model": "some-model"}}
WITH_WEIGHTS = [  # their own tests hold them to the protocol, on small checkpoints
    *(("encoder", name) for name in ("dreamsim", "siglip2", "vjepa2", "vjepa2_1")),
    *(("segmenter", name) for name in ("sam2", "sam2_package", "sam3", "sam3_1")),
    ("tracker", "cotracker3"),
]
SETTINGS = {
    ("generate.harnesses", "vtrace"): {"mode": "blank"},
    ("generate.harnesses", "direct"): ENDPOINT,
    ("generate.harnesses", "describe"): ENDPOINT,
    ("generate.harnesses", "revise"): ENDPOINT,
    ("generate.harnesses", "codex"): {**ENDPOINT, "version": "1"},
    ("generate.harnesses", "pi"): {**ENDPOINT, "version": "1"},
    ("generate.harnesses", "scripted"): ENDPOINT,
    ("generate.harnesses", "claude_code"): {"endpoint": {"api": "anthropic", "model": "some-model"}, "version": "1"},
    ("generate.harnesses", "caption_to_video"): {"captions_of": "a", "video": "http_jobs", "videos": {"http_jobs": SERVICE}},
    ("generate.sandbox.backends", "none"): {"i_trust_the_model": True},
    ("generate.sandbox.backends", "apptainer"): {"image": "x.sif"},
    ("generate.videos", "http_jobs"): SERVICE,
    ("annotate.proposers", "mllm"): ENDPOINT,
    ("score.judges", "mllm"): ENDPOINT,
    ("score.prompters", "mllm"): ENDPOINT,
}
OF_WEIGHTS = [(f"score.{family}s", name) for family, name in WITH_WEIGHTS]
STAND_INS = {"color", "efficientnet", "lk", "match", "pixel"}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_what_it_is(name):
    module = registry.load("score", name)
    assert name == module.NAME
    assert module.LABEL and isinstance(module.UNIT, str)
    lowest, highest = module.RANGE
    assert lowest < highest and not math.isnan(lowest)
    assert module.HIGHER_IS_BETTER in (True, False, None)
    assert set(module.NEEDS) <= {"objects", "focal_points", "tracks", "page"}
    assert getattr(module, "CLOCK", "reference") in {"reference", "own", "shots"}
    assert all(field.description or module.Settings.__doc__ for field in module.Settings.model_fields.values())


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_refuses_unknown_settings(name):
    with pytest.raises(registry.Unavailable, match="no_such_setting"):
        registry.make("score", name, {"no_such_setting": 1})


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"code_tokens"}))  # its table is fetched, the demo does without
def test_a_metric_of_the_demo_loads_and_keeps_the_protocol(name):
    from codecap.score.engine import choice

    settings = config.load(PROJECT / "config" / "demo.yaml")
    metric = registry.make("score", name, choice.metric(settings, name).settings)
    assert isinstance(metric.protocol, str) and metric.protocol
    assert isinstance(metric.proxy, bool)
    for method in ("watch_reference", "watch_candidate", "compare"):
        assert callable(getattr(metric, method))


@pytest.mark.parametrize(("family", "name"), [backend for backend in BACKENDS if backend not in OF_WEIGHTS])
def test_a_backend_keeps_the_protocol(family, name):
    plugin = registry.make(family, name, SETTINGS.get((family, name), {}))
    assert isinstance(plugin.protocol, str) and plugin.protocol
    if family.startswith("score."):
        assert plugin.proxy is (name in STAND_INS)
    for method in FAMILIES[family]:
        assert callable(getattr(plugin, method))


@pytest.mark.parametrize("name", registry.available("generate.harnesses"))
def test_a_harness_that_is_paid_says_what_is_asked_of_whom_and_no_key_or_address(name):
    harness = registry.make("generate.harnesses", name, SETTINGS.get(("generate.harnesses", name), {}))
    assert harness.kind in ("code", "text", "video")
    if not registry.said("generate.harnesses", name, "PAID", default=False):
        assert callable(harness.caption)
        return
    begins = "run" if registry.said("generate.harnesses", name, "FROM", default=None) is None else "run_from"
    assert all(callable(getattr(harness, method)) for method in (begins, "read", "end"))
    told = json.dumps(harness.identity, sort_keys=True)
    assert "key_env" not in told and "base_url" not in told


@pytest.mark.parametrize(("family", "name"), OF_WEIGHTS)
def test_a_backend_without_its_weights_says_how_to_get_them(family, name, tmp_path, monkeypatch):
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path))
    settings = {"device": "cpu"} if name != "sam3_1" else {}
    with pytest.raises(UserError, match="codecap weights (fetch|prepare) |torch sees no GPU"):
        registry.make(family, name, settings)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("family", "name"), BACKENDS)
def test_a_backend_refuses_unknown_settings(family, name):
    with pytest.raises(registry.Unavailable, match="no_such_setting"):
        registry.make(family, name, {**SETTINGS.get((family, name), {}), "no_such_setting": 1})


@pytest.mark.parametrize("name", registry.available("shots"))
def test_a_shot_detector_keeps_the_protocol(name):
    module = registry.load("shots", name)
    assert module.THRESHOLD > 0 and callable(module.cuts)


def test_an_unknown_plugin_names_those_there_are():
    with pytest.raises(registry.Unavailable, match=r"no score.encoders called 'dinov9'; this version has: dreamsim, effi"):
        registry.load("score.encoders", "dinov9")


def test_planning_loads_no_heavy_library():
    """Snakemake reads the plan in every cluster job: it must not import torch to do so."""
    code = "import sys; from codecap import plan; from codecap.score.engine import choice; from codecap import config;"
    code += "from pathlib import Path; choice.check(config.load(Path(sys.argv[1])));"
    code += "print(sorted({'torch', 'timm', 'skimage', 'scenedetect', 'playwright', 'matplotlib'} & set(sys.modules)))"
    demo = str(PROJECT / "config" / "demo.yaml")
    told = subprocess.run([sys.executable, "-c", code, demo], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[]"


def test_every_rule_has_its_script_and_every_script_its_rule():
    rules = {
        line.split()[1].rstrip(":")
        for path in (PROJECT / "rules").glob("*.smk")
        for line in path.read_text().splitlines()
        if line.startswith("rule ")
    }
    assert {path.stem for path in (PROJECT / "scripts").glob("*.py")} == rules


def test_scripts_do_nothing_when_imported():
    for path in (PROJECT / "scripts").glob("*.py"):
        tree = inspect.cleandoc(path.read_text())
        assert '\nif "snakemake" in globals():\n' in tree, path
