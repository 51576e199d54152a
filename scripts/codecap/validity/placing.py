"""The study's page among the results, and in a report's folder, which is published as one."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from codecap.compare.comparison import Column
from codecap.shards import RESULTS

FOLDER = RESULTS / "9_validity"
PROTOCOLS = "protocols.json"  # by column
FILES = ("index.html", "curves.csv", "demands.csv", "curves.svg", "curves.pdf", PROTOCOLS)
ASSETS = "assets"
PLACE = "validity"  # in a report


def digest(folder: Path = FOLDER) -> str:
    """Of the study's files; "none" where it was not made. A report that shows another one is built anew."""
    found = hashlib.sha256()
    for name in FILES:
        if not (folder / name).is_file():
            return "none"
        found.update((folder / name).read_bytes())
    return found.hexdigest()[:16]


def place(folder: Path, report: Path) -> bool:
    """Copy the study into a report's folder; false where it was not made."""
    if digest(folder) == "none":
        return False
    (report / PLACE).mkdir()
    for name in FILES:
        shutil.copyfile(folder / name, report / PLACE / name)
    shutil.copytree(folder / ASSETS, report / PLACE / ASSETS)
    return True


def write_protocols(columns: Iterable[Column], folder: Path) -> None:
    """Note how the study's numbers were made, for the report that it will be a part of."""
    told = {column.name: column.protocol for column in columns}
    (folder / PROTOCOLS).write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def made_otherwise(folder: Path, columns: Sequence[Column]) -> list[str]:
    """Labels of a comparison's columns whose numbers are made by another protocol than the study's: it speaks of other backends.

    Empty where there is no study.
    """
    if digest(folder) == "none":
        return []
    told = json.loads((folder / PROTOCOLS).read_text(encoding="utf-8"))
    return [column.label for column in columns if column.protocol and told.get(column.name, column.protocol) != column.protocol]
