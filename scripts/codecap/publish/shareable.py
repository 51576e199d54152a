"""What may leave this machine of settings, addresses and reasons: no secret, and no folder of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from codecap.records import Candidate, LedgerEntry

_ADDRESS = re.compile(r"https?://[^\s/]+(/\S*)?", re.IGNORECASE)
_PRIVATE_KEYS = re.compile(r"proxy|cookie|passw|secret|token|username|(^|_)(key|env|paths?|pages|file|folder)$", re.IGNORECASE)
_NAME_IN_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*://)[^\s/@]+@", re.IGNORECASE)
_LONG_NAMES, _SHORT_NAMES = "token|secret|signature|passw(?:or)?d|apikey|credentials?", "key|sig|auth|session|jwt|pwd"
_SECRET_IN_ADDRESS = re.compile(
    rf"([?&;#](?:[\w.-]*(?:{_LONG_NAMES})|(?:[\w.-]*[_.-])?(?:{_SHORT_NAMES}))=)[^\s&;#]*", re.IGNORECASE
)
_OF_A_FILE = re.compile(r"\bfile:(//[^\s/]*)?(?=/)", re.IGNORECASE)
_FOLDERS = re.compile(r"(?<![\w:/.])~?/(?:[^\s/:]+/)+")


def is_address(locator: str) -> bool:
    """Whether others can fetch what lies there.

    >>> is_address("https://example.org/a.mp4"), is_address("/home/ada/a.mp4"), is_address("file:///home/ada/a.mp4")
    (True, False, False)
    """
    return bool(_ADDRESS.fullmatch(locator))


def text(said: str) -> str:
    """Words without folders of this machine, and without names, passwords and keys in addresses.

    >>> text("/home/ada/a.mp4: cut short, of http://ada:pw@example.org/x/a.mp4?token=t0p&t=3")
    'a.mp4: cut short, of http://example.org/x/a.mp4?token=&t=3'
    """
    for ours, instead in ((f"{Path.cwd()}/", ""), (str(Path.home()), "~")):  # whole: names of folders may hold blanks
        if ours.strip("/"):
            said = re.sub(rf"(?<![\w:/.]){re.escape(ours)}", instead, said)
    return _FOLDERS.sub("", _OF_A_FILE.sub("", address(said)))


def address(told: str) -> str:
    """Addresses without names, passwords and keys."""
    return _SECRET_IN_ADDRESS.sub(r"\1", _NAME_IN_ADDRESS.sub(r"\1", told))


def lacks_secret(locator: str) -> bool:
    """Whether `address` has taken a key out of an address.

    >>> lacks_secret("https://example.org/a.mp4?token="), lacks_secret("https://example.org/a.mp4?t=3")
    (True, False)
    """
    return any(found[0] == found[1] for found in _SECRET_IN_ADDRESS.finditer(locator))


def settings(value: Any) -> Any:
    """Settings without keys that hold secrets or places of one machine, at any depth.

    >>> settings({"plugin": "youtube", "cookies_file": "me.txt", "queries": [{"search": "charts", "proxy": "http://a"}]})
    {'plugin': 'youtube', 'queries': [{'search': 'charts'}]}
    """
    if isinstance(value, Mapping):
        return {key: settings(inner) for key, inner in value.items() if not _PRIVATE_KEYS.search(str(key))}
    if isinstance(value, list | tuple):
        return [settings(inner) for inner in value]
    return text(value) if isinstance(value, str) else value


def candidate(told: Candidate) -> Candidate:
    """With the address of its video; of a file of this machine, with its name alone."""
    name = PurePath(told.locator.replace("\\", "_")).name or "unnamed"
    locator = address(told.locator) if is_address(told.locator) else name
    return told.model_copy(update={"locator": locator, "query": text(told.query)})


def entry(told: LedgerEntry) -> LedgerEntry:
    """Of a ledger."""
    shared = candidate(told.candidate)
    reason = told.reason.replace(told.candidate.locator, shared.locator)
    return told.model_copy(update={"candidate": shared, "reason": text(reason)})
