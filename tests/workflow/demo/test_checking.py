"""What a reader can check himself of the demo: its numbers, made again, and Snakemake's own report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile

from codecap import plan


def test_five_numbers_chosen_at_random_come_out_the_same(demo):
    words = ["reproduce", "--json", "--random", "5", "--videos", "--seed", "20"]
    command = [sys.executable, "-m", "codecap", *words]
    done = subprocess.run(command, cwd=demo.folder, env=demo.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert len(found) == 5 and {made["verdict"] for made in found} == {"same"}
    assert all(made["published"] == made["recomputed"] and not made["causes"] for made in found)


def test_snakemakes_own_report_has_the_key_tables_and_figures(demo, tmp_path, monkeypatch):
    """Without a network: all that the page shows comes with the package."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody is there
    report = tmp_path / "report.zip"
    demo.finish("--report", str(report))
    with zipfile.ZipFile(report) as packed:
        names = packed.namelist()
        page = packed.read("report/report.html").decode()
    tables = {name.rsplit("/", 1)[1] for name in names if name.endswith(".csv")}
    assert {"main.csv", "by_category.csv", "failures.csv", "protocols.csv"} <= tables
    assert any(name.endswith(".svg") for name in names)
    assert '"Tables"' in page and '"Figures"' in page and "percentile bootstrap interval over videos" in page
    assert "resources/demo/clips.tsv" in page  # of the workflow's description
    assert not re.search(r'(?:src|href)="https?://', page)


def test_the_study_of_validity_is_planned_on_its_own(demo):
    """On the demo's clips, whatever the run is about; a shard a clip and step."""
    told = demo.finish("--dry-run", "--quiet", "rules", "--", "validity")
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", told, re.MULTILINE))
    clips = str(len(plan.all_clips({"clips": "resources/demo/clips.tsv", "clips_folder": None})))
    assert {
        rule: jobs.get(rule) for rule in ("damage_clips", "prompt_damages", "segment_damages", "score_damages")
    } == dict.fromkeys(("damage_clips", "prompt_damages", "segment_damages", "score_damages"), clips)
    assert jobs["draw_validity"] == "1" and "render_captions" not in jobs
