"""What entries of `models` say of themselves, without their harnesses being imported."""

from pathlib import Path

import pytest

from codecap import config as configuration
from codecap import registry
from codecap.config import PROJECT
from codecap.generate import entries

CONFIG = configuration.load()
PAPER = configuration.load(PROJECT / "config" / "paper.yaml")
ASKING = [name for name, entry in CONFIG["models"].items() if entries.asks_its_endpoint(entry)]


def test_without_being_named_nothing_that_costs_money_takes_part():
    assert not [name for name, entry in configuration.systems(CONFIG).items() if entries.keys_of(entry)]
    named = configuration.systems({**CONFIG, "systems": ["gpt-6-sol"]})
    assert list(named) == ["gpt-6-sol"]


def test_the_papers_table_has_its_rows():
    """Table 1: eleven agentic and five other configurations, all with medium effort."""
    systems = {name: entry for name, entry in configuration.systems(PAPER).items() if entries.asks_its_endpoint(entry)}
    assert {entry["endpoint"]["thinking"] for entry in systems.values()} == {"medium"}
    agentic = [entry["harness"] for entry in systems.values() if entry.get("agentic")]
    assert sorted(agentic) == ["claude_code", *["codex"] * 3, *["pi"] * 7]
    assert [entry["harness"] for entry in systems.values() if not entry.get("agentic")] == ["direct"] * 5
    assert len({entry["endpoint"]["model"] for entry in systems.values()}) == 7


@pytest.mark.parametrize("name", ASKING)
def test_every_entry_that_ships_can_be_loaded_and_has_a_price(name):
    from codecap.exchange import Endpoint
    from codecap.exchange.prices import TABLE, PriceTable, today

    entry = CONFIG["models"][name]
    harness = registry.make(entries.FAMILY, entry["harness"], entries.settings_of(CONFIG, entry))
    assert harness.identity["harness"] == entry["harness"]
    endpoint = Endpoint.model_validate(entry["endpoint"])
    assert PriceTable.read(TABLE).rates(endpoint.model, endpoint.host, today()) is not None


def test_every_film_of_captions_that_ships_can_be_loaded():
    films = [entry for entry in CONFIG["models"].values() if entry["harness"] == "caption_to_video"]
    made = [registry.make(entries.FAMILY, entry["harness"], entries.settings_of(CONFIG, entry)) for entry in films]
    assert len(made) == 3 and {film.maker.version() for film in made} == {"doubao-seedance-2-5-260628"}


def test_a_request_to_anthropic_stays_below_its_32_mb():
    """At 640 kB a picture, in base64: a JPEG of 1568 px that is full of detail."""
    asked = [CONFIG["models"][name]["endpoint"] for name in ASKING if CONFIG["models"][name]["endpoint"]["api"] == "anthropic"]
    assert asked and all(endpoint["images"] * 640_000 <= 32_000_000 for endpoint in asked)


def test_entries_that_ship_are_different_systems():
    made = [
        str(registry.make(entries.FAMILY, entry["harness"], entries.settings_of(CONFIG, entry)).identity)
        for name, entry in CONFIG["models"].items()
        if name in ASKING
    ]
    assert len(set(made)) == len(made)


def test_a_shared_section_lies_under_the_entrys_own_keys():
    told = entries.settings_of(CONFIG, CONFIG["models"]["qwen3-8-max-pi-xhigh"])
    assert told["deadline_s"] == 7200 and told["memory_mb"] == CONFIG["agents"]["memory_mb"]
    assert told["render"] == CONFIG["render"] and "label" not in told and "enabled" not in told
    assert "render" not in entries.settings_of(CONFIG, CONFIG["models"]["gpt-6-sol"])


def test_keys_are_found_wherever_an_entry_names_them(monkeypatch):
    monkeypatch.delenv("HERS", raising=False)
    monkeypatch.setenv("MINE", "x")
    entry = {"video": "http_jobs", "videos": {"http_jobs": {"key_env": "HERS"}}, "endpoint": {"key_env": "MINE"}}
    assert sorted(entries.keys_of(entry)) == ["HERS", "MINE"]
    assert entries.without_key({"a": entry}, ["a"]) == {"HERS": ["a"]}
    assert entries.keys_of(entry | {"video": "diffusers"}) == ["MINE"]
    monkeypatch.setenv("MINE", "  ")
    assert set(entries.without_key({"a": entry}, ["a"])) == {"HERS", "MINE"}


def test_the_example_of_adding_a_model_is_five_lines_and_works(tmp_path):
    lines = (PROJECT / "config" / "models.yaml").read_text().splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("#   my_model:"))
    example = [line.removeprefix("# ").partition("   #")[0] for line in lines[start : start + 4]]
    mine = Path(tmp_path / "mine.yaml")
    mine.write_text("\n".join(["models:", *example]) + "\n")
    entry = configuration.load(mine)["models"]["my_model"]
    assert (
        registry.make(entries.FAMILY, entry["harness"], entries.settings_of(CONFIG, entry)).settings.endpoint.thinking == "medium"
    )
