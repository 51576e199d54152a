"""The image that jobs run in when a run is told `--sdm apptainer`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from codecap.errors import UserError

VARIABLE = "CODECAP_CONTAINER"
BUILT_AS = "envs/codecap.sif"


class ContainerMissing(UserError):
    """There is no image to run jobs in; the message says how to get one."""


def image(project: Path, deployment: Collection[str]) -> str | None:
    """Where the image is: `CODECAP_CONTAINER`, a file or an address with `://`, else `envs/codecap.sif` in the project folder.

    Args:
        project: the folder of the Snakefile.
        deployment: what `--sdm` names; without `apptainer` there is no image, whatever lies there.

    Raises:
        ContainerMissing: no image is there, or environments by conda are asked for inside it, which has no conda.
    """
    if "apptainer" not in deployment:
        return None
    if "conda" in deployment:
        raise ContainerMissing("--sdm apptainer conda: the image holds all that jobs need, and no conda; give one of the two")
    named = os.environ.get(VARIABLE) or str(project / BUILT_AS)
    if "://" in named:
        return named
    path = Path(named).absolute()
    if not path.exists():
        raise ContainerMissing(
            f"--sdm apptainer: there is no image {path}; build it in {project} with "
            f"`apptainer build --fakeroot {BUILT_AS} envs/codecap.def`, or set {VARIABLE} to one that is there"
        )
    return str(path)
