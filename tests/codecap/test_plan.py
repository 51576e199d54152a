"""What is wrong with the systems of a run is told before anything is paid for."""

import subprocess
import sys

import pytest

from codecap import config, plan
from codecap.config import PROJECT

DEMO = PROJECT / "config" / "demo.yaml"
ENDPOINT = {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "key_env": None}
JOBS = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
WORDS = {"label": "Words", "harness": "describe", "endpoint": ENDPOINT}
FILMED = {"label": "Filmed", "harness": "caption_to_video", "captions_of": "words", "video": "http_jobs"}
FILMED |= {"videos": {"http_jobs": JOBS}}
MYSTERY = {"label": "Mystery", "harness": "crystal_ball"}


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """The checked plan of a run with these models and systems."""
    monkeypatch.chdir(tmp_path)

    def make(models, systems="all") -> plan.Plan:
        told = config.load(DEMO, overrides={"models": models, "systems": systems})
        made = plan.make(told)
        plan.require(told, made)
        return made

    return make


def jobs(**told):
    return {"videos": {"http_jobs": JOBS | told}}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"videos": {}}, "base_url: Field required"),
        (jobs(pol_s=3), "pol_s: Extra inputs"),
        (jobs(key_env="OPENAI_API_KEY"), "the key in OPENAI_API_KEY would be sent to 127.0.0.1:9"),
        ({"promt": "x"}, "promt: Extra inputs"),
        ({"prompt": "Film this."}, "prompt must say {caption} once"),
        ({"video": "hand_drawn"}, "no generate.videos called 'hand_drawn'; this version has: diffusers, http_jobs"),
        ({"video": "diffusers", "videos": {"diffusers": {"stepps": 3}}}, "stepps: Extra inputs"),
    ],
)
def test_wrong_settings_of_what_films_captions_are_told_before_these_are_bought(planned, wrong, words):
    with pytest.raises(plan.PlanError) as error:
        planned({"words": WORDS, "filmed": FILMED | wrong})
    assert "models.filmed: " in str(error.value) and words in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sandbox": {"backend": "none"}}, "set i_trust_the_model: true"),
        ({"sandbox": {"backend": "jail"}}, "no generate.sandbox.backends called 'jail'"),
        ({"sandbox": {"backend": "bwrap", "programm": "x"}}, "programm"),
        ({"deadline_s": float("inf")}, "deadline_s"),
    ],
)
def test_wrong_settings_of_an_agent_are_told_before_it_runs(planned, wrong, words):
    trial = {"label": "A trial", "harness": "scripted", "endpoint": ENDPOINT}
    with pytest.raises(plan.PlanError) as error:
        planned({"trial": trial | wrong})
    assert "models.trial: " in str(error.value) and words in str(error.value)


def test_right_settings_of_it_are_planned(planned):
    local = FILMED | {"video": "diffusers", "videos": {"diffusers": {"steps": 3}}}
    made = planned({"words": WORDS, "filmed": FILMED, "local": local}, ["still", "words", "filmed", "local"])
    assert list(made.captioners) == ["still", "filmed", "local", "words"] and made.problems == []


def test_wrong_settings_of_what_is_free_are_told_too(planned):
    models = {"traced": {"label": "Traced", "harness": "vtrace", "mode": "vtrace", "budjet_kb": 9}}
    models |= {
        "itself": {"label": "Itself", "harness": "reference", "rate_hz": 2},
        "words": WORDS | {"framerate": 2},
    }
    with pytest.raises(plan.PlanError) as error:
        planned(models)
    assert "models.traced: generate.harnesses vtrace: wrong settings: harness vtrace: budjet_kb" in str(error.value)
    assert "models.itself: " in str(error.value) and "takes no settings, got: rate_hz" in str(error.value)
    assert "models.words: " in str(error.value) and "framerate: Extra inputs" in str(error.value)


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ({"mystery": MYSTERY}, "models.mystery.harness: no harness called 'crystal_ball'; this version has: caption_to_video, "),
        ({"filmed": FILMED | {"captions_of": "still"}}, "models.filmed.captions_of: must name a system of texts that takes part"),
    ],
)
def test_a_system_that_cannot_take_part_is_left_out_of_all_and_is_an_error_where_it_is_named(planned, models, words):
    left_out = planned(models)
    assert [problem for problem in left_out.problems if problem.startswith(words)] and not {*models} & {*left_out.captioners}
    with pytest.raises(plan.PlanError, match="systems names what cannot take part:") as error:
        planned(models, ["still", *models])
    assert words in str(error.value)


def test_checking_imports_no_library_of_networks(tmp_path):
    program = f"""
import sys
from pathlib import Path
from codecap import config, plan
models = {{"words": {WORDS!r}, "filmed": {FILMED | {"video": "diffusers", "videos": {}}!r}}}
told = config.load(Path({str(DEMO)!r}), overrides={{"models": models}})
plan.require(told, plan.make(told))
print(sorted({{"torch", "diffusers", "transformers", "scipy", "openai"}} & {{*sys.modules}}))
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
