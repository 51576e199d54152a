"""Settings of agents, and what a run is known by."""

import pytest

from codecap.generate.agents.settings import AgentSettings
from codecap.generate.harnesses import codex, pi, scripted

ENDPOINT = {"api": "openai", "model": "m-1", "base_url": "http://127.0.0.1:1/v1", "thinking": "high"}
TOLD = {"endpoint": ENDPOINT, "version": "1.0.0"}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"no_such": 1}, "no_such"),
        ({"deadline_s": 0}, "deadline_s"),
        ({"deadline_s": float("inf")}, "deadline_s"),
        ({"deadline_s": float("nan")}, "deadline_s"),
        ({"deadline_s": 1e300}, "deadline_s"),
        ({"version": "../x"}, "version"),
        ({"endpoint": ENDPOINT | {"temperature": 0.0}}, "an agent writes its requests itself"),
        ({"endpoint": ENDPOINT | {"key_env": "OPENAI_API_KEY"}}, "the key in OPENAI_API_KEY would be sent to 127.0.0.1:1"),
    ],
)
def test_what_is_wrong_is_told_with_its_key(told, words):
    with pytest.raises(ValueError, match=f"harness codex: .*{words}"):
        AgentSettings.of("codex", {**TOLD, **told})


def test_an_agent_without_a_pinned_version_is_refused():
    with pytest.raises(ValueError, match="names no version of codex"):
        codex.load({"endpoint": ENDPOINT})


@pytest.mark.parametrize(
    "told",
    [
        {"salvage_counts": True},
        {"at_once": 9},
        {"folder": "/elsewhere"},
        {"render": {"limit_s": 5}},
        {"sandbox": {"backend": "none"}},
    ],
)
def test_what_only_says_how_runs_are_made_or_read_is_no_part_of_what_they_are_known_by(told):
    assert codex.load(TOLD | told).identity == codex.load(TOLD).identity


@pytest.mark.parametrize(
    "told",
    [
        {"version": "1.0.1"},
        {"deadline_s": 60},
        {"memory_mb": 4000},
        {"most_rounds": 3},
        {"config": {"a": 1}},
        {"endpoint": ENDPOINT | {"thinking": "low"}},
        {"endpoint": ENDPOINT | {"model": "m-2"}},
        {"endpoint": ENDPOINT | {"extra": {"x": 1}}},
    ],
)
def test_what_was_asked_of_whom_is_what_a_run_is_known_by(told):
    assert codex.load(TOLD | told).identity != codex.load(TOLD).identity


def test_a_limit_in_usd_is_known_by_its_value():
    told = [codex.load(TOLD | {"most_usd": limit}).identity["limits"]["most_usd"] for limit in (5, 5.0, "5.00", 100, "1e2")]
    assert told == ["5", "5", "5", "100", "100"]


def test_a_server_s_address_is_no_part_of_it_and_a_wire_is():
    other = ENDPOINT | {"base_url": "http://127.0.0.1:2/v1"}
    assert pi.load(TOLD | {"endpoint": other}).identity == pi.load(TOLD).identity
    assert pi.load(TOLD | {"wire": "responses"}).identity != pi.load(TOLD).identity


def test_the_scripted_agent_needs_a_script_or_a_model(tmp_path):
    for told in ({}, {"script": "x", "endpoint": ENDPOINT}):
        with pytest.raises(ValueError, match="needs one of script and endpoint"):
            scripted.load(told)
    (tmp_path / "script.yaml").write_text("turns: [{say: x}]")
    first = scripted.load({"script": str(tmp_path / "script.yaml")}).identity
    (tmp_path / "script.yaml").write_text("turns: [{say: y}]")
    assert scripted.load({"script": str(tmp_path / "script.yaml")}).identity != first
