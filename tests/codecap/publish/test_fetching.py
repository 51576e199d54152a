"""The originals of a published folder: from a server, through the source that had them, or from files at hand."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from codecap.errors import UserError
from codecap.publish.fetching import Originals
from codecap.publish.folder import Published, read_published
from codecap.publish.rebuild import rebuild

ONE, OWN = "A_site-one_f000036", "F_own"


class Silent(SimpleHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(collected, tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """A server on this machine that has the one video: its address, and the paths that it was asked for."""
    (tmp_path / "www").mkdir()
    shutil.copyfile(collected.originals["A_site-one"], tmp_path / "www" / "one.mp4")
    handler = type("Here", (Silent,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path / "www"))) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}", handler.asked
        listening.shutdown()
        thread.join(5)


@pytest.fixture
def published(folder_without_videos: Path) -> Published:
    return read_published(folder_without_videos)


def moved(published: Published, address: str) -> Published:
    """The same data set, its video at another address."""
    origins = {
        clip_id: origin.model_copy(update={"candidate": origin.candidate.model_copy(update={"locator": address})})
        if origin.has_address
        else origin
        for clip_id, origin in published.origins.items()
    }
    return replace(published, origins=origins)


def test_a_video_is_fetched_once_through_its_source(server, published: Published, tmp_path: Path) -> None:
    address, asked = server
    here = moved(published, f"{address}/one.mp4")
    rows = {row.clip_id: row for row in rebuild(here, tmp_path / "out", Originals(here, {}, tmp_path / "out", []))}
    assert [row.state for row in rows.values()] == ["bit-equal", "bit-equal", "lost"]
    assert "--originals" in rows[OWN].reason and "private/" not in rows[OWN].reason
    assert set(asked) == {"/one.mp4"}
    assert not list((tmp_path / "out" / "originals").rglob("*.mp4"))  # cut, and removed


def test_what_is_no_more_is_lost_with_its_cause(server, published: Published, tmp_path: Path) -> None:
    address, _ = server
    here = moved(published, f"{address}/gone.mp4")
    rows = rebuild(here, tmp_path / "out", Originals(here, {}, tmp_path / "out", []))
    assert [row.state for row in rows] == ["lost"] * 3 and rows[0].reason.startswith("gone: ")


def test_files_at_hand_are_taken_by_their_bytes_and_by_their_name(collected, published: Published, tmp_path: Path) -> None:
    """One has another name but the published bytes; of the one without an address the name is enough."""
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    kept = tmp_path / "mine" / "deep" / "whatever.bin"
    shutil.copyfile(collected.originals["A_site-one"], kept)
    shutil.copyfile(collected.originals["F_own"], tmp_path / "mine" / "F_own.mp4")
    fetch = Originals(published, {}, tmp_path / "out", [tmp_path / "mine"])
    rows = rebuild(published, tmp_path / "out", fetch)
    assert [row.state for row in rows] == ["bit-equal"] * 3
    assert kept.exists()  # what was there before is not ours to remove


def test_a_folder_that_is_not_there(published: Published, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="correct --originals"):
        Originals(published, {}, tmp_path, [tmp_path / "nowhere"])


def test_how_a_site_is_reached_says_the_own_configuration_alone(published: Published, tmp_path: Path) -> None:
    """A published recipe that names a proxy and cookies changes nothing."""
    theirs = {"site": {"plugin": "http", "proxy": "http://evil.example:1", "cookies_file": "/etc/passwd", "audio": True}}
    hostile = replace(published, recipe=published.recipe.model_copy(update={"sources": theirs}))
    mine = {"any": {"plugin": "http", "urls": ["http://x.example/a.mp4"], "timeout_s": 7}}
    entry = Originals(hostile, mine, tmp_path, [])._entries["http.site"]
    assert entry == {"plugin": "http", "urls": ["http://127.0.0.1:9/one.mp4"], "audio": True, "timeout_s": 7}


def test_each_original_is_fetched_with_the_settings_of_its_own_entry(published: Published, tmp_path: Path) -> None:
    """Two entries of one plugin, one of which took smaller files: clips of the other must not come in that size."""
    theirs = {"large": {"plugin": "vimeo", "tallest_px": 2160}, "small": {"plugin": "vimeo", "tallest_px": 240}}
    origins = {}
    for (clip_id, origin), name, number in zip(list(published.origins.items())[:2], theirs, (1, 2), strict=True):
        candidate = origin.candidate.model_copy(update={"source": name, "locator": f"https://vimeo.com/{number}"})
        origins[clip_id] = origin.model_copy(update={"plugin": "vimeo", "candidate": candidate})
    two = replace(published, origins=origins, recipe=published.recipe.model_copy(update={"sources": theirs}))
    mine = {
        "mine": {"plugin": "vimeo", "queries": [{"user": "ada"}], "cookies_from_browser": "firefox"},
        "small": {"plugin": "vimeo", "queries": [{"user": "ada"}], "most_mb": 5, "tallest_px": 9999},
    }
    entries = Originals(two, mine, tmp_path, [])._entries
    assert [entries[f"vimeo.{name}"]["tallest_px"] for name in theirs] == [2160, 240]
    assert entries["vimeo.large"]["cookies_from_browser"] == "firefox" and entries["vimeo.small"]["most_mb"] == 5


def test_a_recipe_whose_settings_are_wrong(published: Published, tmp_path: Path) -> None:
    theirs = {"site": {"plugin": "http", "tallest_px": "high"}}
    with pytest.raises(UserError, match=r"recipe.json: sources: .*tallest_px"):
        Originals(replace(published, recipe=published.recipe.model_copy(update={"sources": theirs})), {}, tmp_path, [])


def test_a_source_that_this_version_has_not(published: Published, tmp_path: Path) -> None:
    origins = {ONE: published.origins[ONE].model_copy(update={"plugin": "os"})}
    with pytest.raises(UserError, match="no source 'os'"):
        Originals(replace(published, origins=origins), {}, tmp_path, [])
