"""Scores of people in a run: what they re-run, and where they are shown."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from codecap.config import PROJECT
from codecap.records import Annotation, read_record

pytestmark = pytest.mark.slow

DEMO = PROJECT / "resources" / "demo"


def import_scores(folder: Path, score: int) -> None:
    """One person gives all points of one clip the same score but one."""
    points = read_record(DEMO / "annotations" / "A_001.json", Annotation).focal_points
    lines = [f"vtrace,A_001,{point.focal_id},{score if number else 0},Ada" for number, point in enumerate(points)]
    (folder / "scores.csv").write_text("\n".join(["system,clip_id,focal_id,score,rater", *lines]) + "\n")
    ran = subprocess.run(
        [sys.executable, "-m", "codecap", "humans", "import", "scores.csv"], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr


def test_scores_of_people_re_run_the_comparison_alone(demo, tmp_path):
    run = demo.copy(tmp_path)
    before = run.made()
    import_scores(run.folder, 4)
    run.configure(humans="store/durable/humans")
    for score in (4, 3):
        import_scores(run.folder, score)
        told = run.finish("all")
        ran = set(re.findall(r"^(?:local)?rule (\w+):", told, flags=re.MULTILINE))
        assert ran == {"compare_systems", "build_report", "all"}
        row = next(row for row in run.tables()["agreement.csv"] if (row["level"], row["kind"]) == ("point", "overall"))
        count = int(row["n"])
        assert float(row["second_mean"]) == pytest.approx(20 * score * (count - 1) / count, abs=1e-3)
        assert "Nothing to be done" in run.finish("all")
    assert run.made() == before
    assert 'id="agreement"' in (run.folder / "results" / "8_report" / "index.html").read_text()
