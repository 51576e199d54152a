"""The table as it is shipped, what a configuration needs of it, and how wrong entries are told."""

import hashlib
import os
import subprocess
import sys

import pytest
from pydantic import ValidationError

from codecap import config, registry, weights
from codecap.config import PROJECT
from codecap.errors import UserError
from codecap.weights import Entry, needs


def test_every_entry_says_where_it_comes_from():
    for name, told in weights.table().items():
        assert told.licence and told.about, name
        for part in told.parts:
            assert part.kind == "hub" or part.source.startswith("https://")


def test_every_plugin_that_is_named_is_there():
    families = {
        "score",
        "shots",
        "generate.videos",
        *(f"score.{family}s" for family in ("encoder", "segmenter", "tracker", "judge", "prompter")),
    }
    for told in weights.table().values():
        for plugin in (*told.needed_by, *told.default_of):
            family, name = plugin.rsplit(".", 1)
            assert family in families and name in registry.available(family), plugin


def test_no_plugin_has_two_defaults():
    defaults = [plugin for told in weights.table().values() for plugin in told.default_of]
    assert len(defaults) == len(set(defaults))


def test_the_demo_needs_nothing_and_the_paper_what_it_names():
    demo = needs.of(config.load(PROJECT / "config" / "demo.yaml"))
    assert not [name for name in demo if weights.entry(name).size_gb]
    paper = needs.of(config.load())
    assert set(paper) >= {"vjepa2_1_code", "vjepa2_1_vitG_384", "dreamsim_ensemble", "siglip2_so400m_384"}
    assert needs.to_prepare(paper) == ["vjepa2_1_vitG_384"]
    assert needs.also_for_preparing("vjepa2_1_vitG_384") == ["vjepa2_1_code"]


def test_systems_need_what_makes_their_videos_or_is_served_beside_them():
    filmed = {"label": "a", "harness": "caption_to_video", "captions_of": "b", "video": "diffusers"}
    served = {"label": "b", "harness": "direct", "serve": {"weights": "siglip2_base_224"}}
    told = config.load(PROJECT / "config" / "demo.yaml", overrides={"models": {"a": filmed, "b": served}, "systems": "all"})
    assert needs.of(told)["wan2_1_t2v_1_3b"] == ["generate.videos.diffusers"]
    assert needs.of(told)["siglip2_base_224"] == ["generate.serve"]
    filmed["videos"] = {"diffusers": {"folder": "/mine"}}
    told = config.load(PROJECT / "config" / "demo.yaml", overrides={"models": {"a": filmed}, "systems": "all"})
    assert "wan2_1_t2v_1_3b" not in needs.of(told)


def test_a_setting_names_other_weights_or_none():
    assert weights.needed("score.encoders.vjepa2_1", {"weights": "vjepa2_1_vitb_384"}) == ["vjepa2_1_code", "vjepa2_1_vitb_384"]
    assert weights.needed("score.encoders.vjepa2_1", {"checkpoint": "/a", "code": "/b"}) == []
    assert weights.needed("score.encoders.siglip2", {"folder": "/somewhere"}) == []
    assert weights.needed("score.trackers.cotracker3", {"folder": "/somewhere"}) == ["cotracker3_offline"]
    assert weights.needed("score.encoders.efficientnet", {}) == []


def test_keys_know_the_revision_before_anything_is_read():
    first = needs.revisions("score.encoders.siglip2", {})
    assert first == ["siglip2_so400m_384  e8e487298228002f3d8a82e0cd5c8ea9c567f57f"]
    assert needs.revisions("score.encoders.siglip2", {"weights": "siglip2_base_224"}) != first


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "file", "source": "http://example.org/a", "into": "a"},
        {"kind": "file", "source": "https://example.org/a"},
        {"kind": "file", "source": "https://example.org/a", "into": "../a"},
        {"kind": "file", "source": "https://example.org/a", "into": "/a"},
        {"kind": "file", "source": "https://example.org/a", "into": "a", "sha256": "abc"},
        {"kind": "git", "source": "https://example.org/a"},
        {"kind": "git", "source": "https://example.org/a", "revision": "main"},
    ],
)
def test_wrong_parts_are_refused(part):
    with pytest.raises(ValidationError):
        Entry.model_validate({"licence": "MIT", "parts": [part]})


def test_a_wrong_table_names_the_file(tmp_path, monkeypatch):
    (tmp_path / "weights.yaml").write_text("a: {parts: []}")
    monkeypatch.setattr(weights, "TABLE", tmp_path / "weights.yaml")
    with pytest.raises(UserError, match=r"weights.yaml: wrong entry"):
        weights.table()


def test_tiktoken_finds_its_table_by_its_name_in_the_folder():
    """tiktoken looks for a file that is named by the SHA-1 of the address."""
    (part,) = weights.entry("cl100k_base").parts
    assert part.into == hashlib.sha1(part.source.encode()).hexdigest()


def test_a_job_begins_offline():
    code = (
        "import os; from codecap import job\n"
        "with job.running():\n"
        "    import huggingface_hub\n"
        "    assert huggingface_hub.is_offline_mode()\n"
        "    print(os.environ['TIKTOKEN_CACHE_DIR'], os.environ['TORCH_FORCE_WEIGHTS_ONLY_LOAD'])\n"
    )
    env = {**os.environ, "CODECAP_WEIGHTS": "/w", "TIKTOKEN_CACHE_DIR": ""}
    env = {key: value for key, value in env.items() if key not in ("TIKTOKEN_CACHE_DIR", "HF_HUB_OFFLINE")}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    assert told.split() == ["/w/cl100k_base", "1"]


def test_an_explicit_file_is_told_by_its_digest(tmp_path):
    file = tmp_path / "w.bin"
    file.write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
    assert weights.find("anything", file).revision == f"sha256:{known[:12]}"
    with pytest.raises(weights.WeightsMissing, match="no weights there"):
        weights.find("anything", tmp_path / "nothing")
