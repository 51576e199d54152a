"""Where an item lies under its stage and system, and what its JSON file says.

    _<shelf>/<clip>.<key>.json                its value, and size and SHA-256 of each of its files
    _<shelf>/<clip>.<key>.<mark>.<suffix>     its files; the mark is the beginning of their SHA-256
    <clip>/<key>.json, <clip>/<key>.<suffix>  the same as stores have it that were begun with earlier versions
    <bucket>-<time>-<name>.items.zip          a pack: items as above, under the same names

Names of files say what is in them, so that two who make one item anew, each differently, do not write over one another's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHELVES = 16
MARK = 12  # hexadecimal digits
DRAFT = ".draft"  # in the names of files that are being written
PACK = ".items.zip"
SET_ASIDE = ".damaged"  # after a pack's name: what was whole in it is elsewhere, and it is read no more


@dataclass(frozen=True)
class File:
    """A file of an item.

    Attributes:
        member: its place under stage and system.
        size: bytes.
        sha256: of its bytes; None where it is not recorded.
    """

    member: str
    size: int
    sha256: str | None


@dataclass(frozen=True)
class Stored:
    """What an item's JSON file says."""

    value: Any
    files: Mapping[str, File]


def folder_of(root: Path, stage: str, system: str) -> Path:
    return Path(root) / stage / system


def shelf_of(clip_id: str) -> str:
    """The folder that an item of a clip is in: few files a folder, few folders a system.

    >>> shelf_of("A_001")
    '_1'
    """
    return f"_{int(hashlib.sha256(clip_id.encode()).hexdigest(), 16) % SHELVES:x}"


def members(clip_id: str, key: str) -> tuple[str, str]:
    """Where an item's JSON file may lie under its stage and system: its place, and that of earlier versions."""
    return f"{shelf_of(clip_id)}/{clip_id}.{key}.json", f"{clip_id}/{key}.json"


def file_member(clip_id: str, key: str, sha256: str, suffix: str) -> str:
    return f"{shelf_of(clip_id)}/{clip_id}.{key}.{sha256[:MARK]}.{suffix}"


def clip_of(member: str) -> str | None:
    """The clip whose item a JSON file is; None for another file.

    >>> clip_of("_1/A_001.0f.json"), clip_of("A_001/0f.json"), clip_of("_1/A_001.0f.ab12.masks.json.gz")
    ('A_001', 'A_001', None)
    """
    shelf, _, name = member.partition("/")
    stem = name.removesuffix(".json")
    if stem == name or name.startswith("."):
        return None
    if not shelf.startswith("_"):
        return shelf
    clip_id, dot, key = stem.rpartition(".")
    return clip_id if dot and key and shelf_of(clip_id) == shelf else None


def mark_in(path: Path) -> str | None:
    """The beginning of the SHA-256 of what is in an item's file, as its name says; None where its name does not.

    >>> mark_in(Path("_1/A_001.0f.0123456789ab.mp4")), mark_in(Path("A_001/0f.mp4"))
    ('0123456789ab', None)
    """
    parts = path.name.split(".")
    return parts[2] if len(parts) > 3 and len(parts[2]) == MARK else None


def write(value: Any, files: Mapping[str, File]) -> str:
    told = {suffix: {"size": file.size, "sha256": file.sha256} for suffix, file in files.items()}
    return json.dumps({"value": value, "files": told})


def read(told: str | bytes, member: str) -> Stored:
    """What the JSON file in a place says.

    Raises:
        ValueError: it is none of an item.
    """
    said = json.loads(told)
    if not isinstance(said, dict) or "value" not in said or not isinstance(said.get("files"), dict):
        raise ValueError(f"{member}: not an item")
    stem = member.removesuffix("json")
    files = {}
    for suffix, file in said["files"].items():
        if isinstance(file, int):
            files[suffix] = File(f"{stem}{suffix}", file, None)
        else:
            files[suffix] = File(f"{stem}{file['sha256'][:MARK]}.{suffix}", file["size"], file["sha256"])
    return Stored(said["value"], files)
