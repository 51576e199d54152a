"""The study's page among the results, and in a report's folder, which is published as one."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from codecap.shards import RESULTS

FOLDER = RESULTS / "9_validity"
FILES = ("index.html", "curves.csv", "demands.csv", "curves.svg", "curves.pdf")
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
