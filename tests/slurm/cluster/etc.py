"""/etc/slurm: the cluster's files in it while the cluster is up, and what was there before put back afterwards."""

import os
from collections.abc import Iterable
from pathlib import Path

ETC = Path("/etc/slurm")
ASIDE = ".set-aside-by-codecap-tests"


def take(folder: Path, names: Iterable[str], etc: Path = ETC) -> None:
    """Put links to a folder's files in place of those that are there, which are set aside.

    What a killed cluster left is replaced: its links, and not what it had set aside.
    """
    etc.mkdir(parents=True, exist_ok=True)
    for name in names:
        place, aside = etc / name, etc / f"{name}{ASIDE}"
        if place.is_symlink() and (aside.exists() or _is_of_a_cluster(place)):
            place.unlink()
        elif os.path.lexists(place):
            place.rename(aside)
        place.symlink_to(folder / name)


def give_back(folder: Path, names: Iterable[str], etc: Path = ETC) -> None:
    """Remove the links to a folder's files, if they are there, and put back what had been set aside."""
    for name in names:
        place, aside = etc / name, etc / f"{name}{ASIDE}"
        if place.is_symlink() and place.readlink() == folder / name:
            place.unlink()
            if os.path.lexists(aside):
                aside.rename(place)


def taken_by(etc: Path = ETC) -> Path | None:
    """Folder of the cluster whose files are in place."""
    place = etc / "slurm.conf"
    return place.readlink().parent if place.is_symlink() and _is_of_a_cluster(place) else None


def _is_of_a_cluster(link: Path) -> bool:
    """Whether a link leads to a test cluster's file, or to one that is no more."""
    return (link.readlink().parent / "cluster.json").exists() or not link.exists()
