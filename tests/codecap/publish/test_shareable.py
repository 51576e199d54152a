"""What leaves the machine, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.publish import shareable
from codecap.records import Candidate, LedgerEntry


def test_addresses_lose_names_and_passwords_and_files_their_folders() -> None:
    def shared(locator: str) -> str:
        return shareable.candidate(Candidate(candidate_id="a", source="s", locator=locator)).locator

    assert shared("https://ada:secret@example.org/a/b.mp4?x=1") == "https://example.org/a/b.mp4?x=1"
    assert shared("/home/ada/films/b.mp4") == "b.mp4"
    assert shared("C:\\films\\b.mp4") == "C:_films_b.mp4"
    assert shared("/") == "unnamed"
    assert (
        shared("https://a.example/v?list=PL1&access_token=s3&key=K#auth=x")
        == "https://a.example/v?list=PL1&access_token=&key=#auth="
    )
    assert shared("https://a.example/v?monkey=1&design=2&keyed=3") == "https://a.example/v?monkey=1&design=2&keyed=3"


def test_words_lose_the_folders_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "my films").mkdir()
    monkeypatch.chdir(tmp_path / "my films")
    monkeypatch.setenv("HOME", "/home/Ada Lovelace")
    assert shareable.text("file:///home/ada/b.mp4 and ~/deep/c.mp4") == "b.mp4 and c.mp4"
    assert shareable.text(f"{tmp_path}/my films/store/b.mp4: gone") == "store/b.mp4: gone"
    told = "cannot write /home/Ada Lovelace; see https://x.example/home/Ada"
    assert shareable.text(told) == "cannot write ~; see https://x.example/home/Ada"
    query = Candidate(candidate_id="a", source="s", locator="b.mp4", query="url: https://ada:pw@x.example/p?token=t")
    assert shareable.candidate(query).query == "url: https://x.example/p?token="


def test_a_reason_that_names_the_file() -> None:
    told = LedgerEntry(
        candidate=Candidate(candidate_id="a", source="s", locator="/home/ada/my films/b.mp4"),
        status="failed",
        reason="/home/ada/my films/b.mp4: cannot be opened; see /var/log/x/y.log",
    )
    assert shareable.entry(told).reason == "b.mp4: cannot be opened; see y.log"


def test_settings_keep_what_is_asked_and_lose_what_is_secret() -> None:
    told = {
        "plugin": "vimeo",
        "proxy_env": "P",
        "cookies_env": "C",
        "queries": [{"user": "ada", "quota": 3}],
        "endpoint": {"model": "m", "key_env": "K", "base_url": "http://me:pw@host/v1"},
        "paths": ["/home/ada"],
        "pages": ["drafts/ada.html"],
        "keep_above": 0.5,
    }
    assert shareable.settings(told) == {
        "plugin": "vimeo",
        "queries": [{"user": "ada", "quota": 3}],
        "endpoint": {"model": "m", "base_url": "http://host/v1"},
        "keep_above": 0.5,
    }
