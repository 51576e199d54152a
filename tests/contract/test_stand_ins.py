"""The embedded backends are stand-ins: without their files every real backend still loads, runs and gives the same numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from codecap.config import PROJECT

STAND_INS = (
    "score/encoders/efficientnet.py",
    "score/judges/pixel.py",
    "score/prompters/match.py",
    "score/segmenters/color.py",
    "score/trackers/lk.py",
    "score/matching",
    "score/segmenting",
)
TESTS_OF_REAL_BACKENDS = (
    "encoders/test_siglip2.py",
    "segmenters/test_sam3_1.py",
    "trackers/test_cotracker3.py",
    "judges/test_mllm.py",
)
IMPORT_THE_OTHERS = """
import codecap
from codecap import registry
assert codecap.__file__.startswith(__import__("os").getcwd()), codecap.__file__
for family in ("encoders", "judges", "prompters", "segmenters", "trackers"):
    names = registry.available(f"score.{family}")
    assert names and not {"efficientnet", "pixel", "match", "color", "lk"} & set(names), names
    for name in names:
        registry.load(f"score.{family}", name)
"""


@pytest.fixture
def without_stand_ins(tmp_path):
    """A copy of the project in which they do not exist."""
    for folder in ("scripts", "config", "resources/prompts", "tests"):
        shutil.copytree(PROJECT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("resources/weights.yaml", "pyproject.toml"):
        shutil.copy(PROJECT / name, tmp_path / name)
    (tmp_path / "resources" / "demo").symlink_to(PROJECT / "resources" / "demo")
    for name in STAND_INS:
        path = tmp_path / "scripts" / "codecap" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return tmp_path


@pytest.mark.slow
def test_the_real_backends_need_none_of_them(without_stand_ins):
    tests = [f"tests/codecap/score/{name}" for name in TESTS_OF_REAL_BACKENDS]
    for arguments in (["-c", IMPORT_THE_OTHERS], ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]):
        ran = subprocess.run(
            [sys.executable, *arguments],
            cwd=without_stand_ins,
            env={**os.environ, "PYTHONPATH": str(without_stand_ins / "scripts")},
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert "100%" in ran.stdout
