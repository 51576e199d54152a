"""The originals of a published data set: from a folder of files that one has already, else from their sites through the sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from codecap import registry
from codecap.collect.candidates import open_source
from codecap.collect.fetching import Fetcher
from codecap.collect.sites.access import Access
from codecap.errors import UserError
from codecap.publish.folder import RECIPE, Published
from codecap.publish.origins import Origin
from codecap.records import Original
from codecap.video import file_sha256

FILES_ALONE = ("", "local", "page")  # plugins whose videos lie on their owner's machine
WHICH_FILE = ("tallest_px", "audio", "longest_s")  # settings of the publisher by which a site's file is chosen
HOW = (*Access.model_fields, "per_minute", "most_mb")  # of the caller: how a site is reached
MEMORY = ".fetched"


class Originals:
    """Fetches; an `Origin` in, an `Original` out.

    Args:
        published: what is to be fetched for. Of its settings only those are taken that choose a file: how a site is reached (proxy,
            cookies) says the caller's own configuration alone.
        sources: entries of that configuration. How a site is reached is taken from the one of the same name and plugin, else from
            the first of the plugin.
        out: files are put below `out/originals`.
        at_hand: files, and folders of files (all levels), that are there already.
    """

    def __init__(self, published: Published, sources: Mapping[str, Mapping[str, Any]], out: Path, at_hand: Iterable[Path]) -> None:
        self._at_hand = [Path(place) for place in at_hand]
        for place in self._at_hand:
            if not place.exists():
                raise UserError(f"{place}: no such file or folder; correct --originals")
        self._entries = dict(_entries(published, sources))
        for name in self._entries:
            try:
                open_source(name, self._entries)
            except ValueError as error:
                raise UserError(f"{published.folder / RECIPE}: sources: {error}") from error
        self._fetcher = Fetcher(self._entries, Path(out), Path(out) / MEMORY)

    def __call__(self, origin: Origin) -> Original:
        return self._found_at_hand(origin) or self._fetched(origin)

    def _fetched(self, origin: Origin) -> Original:
        candidate = origin.candidate
        if origin.plugin in FILES_ALONE or not origin.has_address:
            reason = f"only its owner has the file {candidate.locator}; if you have it, name it, or its folder, with --originals"
            return Original(candidate=candidate, status="failed", cause="private", reason=reason)
        return self._fetcher.fetch(candidate.model_copy(update={"source": _entry_of(origin)}))

    def _found_at_hand(self, origin: Origin) -> Original | None:
        """A file of the very bytes; for one that has no address also a file of its name."""
        named = [path for path in self._files if not origin.has_address and path.name == origin.candidate.locator]
        alike = [path for path in self._files if not origin.size_bytes or path.stat().st_size == origin.size_bytes]
        digests = {path: self._digest(path) for path in dict.fromkeys([*named, *alike])}
        for path in [path for path, digest in digests.items() if digest == origin.sha256] + named:
            return Original(
                candidate=origin.candidate, status="ok", path=path, sha256=digests[path], size_bytes=path.stat().st_size
            )
        return None

    @cached_property
    def _files(self) -> list[Path]:
        found = []
        for place in self._at_hand:
            found += [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
        return found

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = file_sha256(path)
        return self._digests[path]

    @cached_property
    def _digests(self) -> dict[Path, str]:
        return {}


def _entry_of(origin: Origin) -> str:
    """Name of the entry by which an original is fetched; one plugin may have had several, each with settings of its own."""
    return f"{origin.plugin}.{origin.candidate.source}"


def _entries(published: Published, sources: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, dict[str, Any]]]:
    """The entries of `sources` that are needed.

    Raises:
        UserError: this version has no such plugin.
    """
    known = registry.available("collect.sources")
    for origin in published.origins.values():
        plugin = origin.plugin
        if plugin in FILES_ALONE or not origin.has_address:
            continue
        if plugin not in known:
            raise UserError(f"clip {origin.clip_id}: this version has no source {plugin!r}; it has {', '.join(known)}")
        theirs = published.recipe.sources.get(origin.candidate.source, {})
        same = [entry for entry in (sources.get(origin.candidate.source, {}), *sources.values()) if entry.get("plugin") == plugin]
        mine = same[0] if same else {}
        address = origin.candidate.locator
        asked = {"urls": [address]} if plugin == "http" else {"queries": [{"url": address}]}
        chosen = {key: theirs[key] for key in WHICH_FILE if isinstance(theirs, Mapping) and key in theirs}
        yield _entry_of(origin), {"plugin": plugin, **asked, **chosen, **{key: mine[key] for key in HOW if key in mine}}
