"""Print what an environment installs with pip, one pin a line, read from pyproject.toml: `python envs/pins.py > pins.txt`.

It needs nothing but Python, since it runs before anything is installed. SAM 2 itself is not among them: see `envs/sam2.txt`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
BUILDS_SAM2 = "setuptools"  # without build isolation, so that the torch that is there is used


def pins(pyproject: Path = PYPROJECT) -> list[str]:
    """The package's dependencies, then what SAM 2 imports and is built with."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for_sam2 = [pin for pin in extras["sam2"] if not pin.startswith("sam2==")]
    for_sam2 += [pin for pin in extras["test"] if pin.startswith(f"{BUILDS_SAM2}==")]
    return [*project["dependencies"], *for_sam2]


if __name__ == "__main__":
    print(*pins(), sep="\n")
