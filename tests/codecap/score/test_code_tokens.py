from importlib import resources

import pytest

from codecap import weights
from codecap.records import Clip
from codecap.score import Task, Unscored, code_tokens
from codecap.weights import WeightsMissing, manifest


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """The real table, from a package that carries it, as `codecap weights fetch cl100k_base` leaves it."""
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    there = tmp_path / code_tokens.TABLE
    there.mkdir()
    carried = resources.files("tiktoken_ext") / "data" / "cl100k_base.tiktoken"
    (there / weights.entry(code_tokens.TABLE).file).write_bytes(carried.read_bytes())
    manifest.write(code_tokens.TABLE, manifest.Manifest(files=manifest.take(there)))


def count(tmp_path, text):
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    return code_tokens.load({}).compare({}, {}, task(page))[0].value


def task(page):
    clip = Clip(clip_id="A_001", category="A", mp4="a.mp4", sha256="0", frames=1, width_px=2, height_px=2)
    return Task(clip=clip, render=None, shots=[], page=page)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # as OpenAI's cookbook counts them
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("", 0),
    ],
)
def test_counts_are_those_of_the_library_that_defines_them(fetched, tmp_path, text, tokens):
    assert count(tmp_path, text) == tokens


def test_a_special_token_in_a_page_is_text(fetched, tmp_path):
    assert count(tmp_path, "<|endoftext|>") == 7


def test_a_video_has_no_code(fetched):
    with pytest.raises(Unscored, match="no page"):
        code_tokens.load({}).compare({}, {}, task(None))


def test_without_the_table_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path))
    with pytest.raises(WeightsMissing, match="codecap weights fetch cl100k_base"):
        code_tokens.load({})
