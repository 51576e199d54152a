"""`make demo`, as a user sees it: all stages on the demo clips."""

import json
import statistics
from collections import defaultdict

import pytest

from codecap.clips_table import read_clips
from codecap.config import PROJECT
from codecap.records import Render, Score, Verdict, read_rows

pytestmark = pytest.mark.slow

CLIPS = sorted(clip.clip_id for clip in read_clips(PROJECT / "resources" / "demo" / "clips.tsv"))
SYSTEMS = ("vtrace", "still", "blank", "reference")


def video_means(demo, metric: str, kind: str | None = None) -> dict[str, dict[str, float]]:
    """Mean over items of each (system, clip)."""
    values = defaultdict(lambda: defaultdict(list))
    for path in (demo.folder / "results" / "6_score" / "cpu").glob("*/*.jsonl"):
        for row in read_rows(path, Score):
            if row.metric == metric and row.value is not None and kind in (None, row.kind):
                values[row.system][row.clip_id].append(row.value)
    return {system: {clip: statistics.fmean(found) for clip, found in clips.items()} for system, clips in values.items()}


def test_the_data_set_keeps_the_five_clips_and_drops_the_two_negatives(demo):
    verdicts = {
        row.clip_id: row for path in (demo.folder / "results" / "2_filter").glob("*.jsonl") for row in read_rows(path, Verdict)
    }
    assert sorted(clip for clip, row in verdicts.items() if row.decision == "keep") == CLIPS
    dropped = [row for row in verdicts.values() if row.decision == "drop"]
    assert len(dropped) == 2 and all(row.reasons for row in dropped)


def test_the_data_set_is_the_committed_table(demo):
    """Ingest copies what already is canonical, so the digests stay."""
    made = read_clips(demo.folder / "results" / "3_annotate" / "clips.tsv", demo.folder / "store" / "bulk" / "clips")
    committed = read_clips(PROJECT / "resources" / "demo" / "clips.tsv")
    assert [(clip.clip_id, clip.sha256, clip.frames) for clip in made] == [(c.clip_id, c.sha256, c.frames) for c in committed]
    assert all(clip.mp4.is_file() for clip in made)
    drafts = demo.folder / "results" / "3_annotate" / "annotations"
    assert sorted(path.stem for path in drafts.glob("*.json")) == CLIPS


def test_every_task_produced_a_video(demo):
    renders = [row for path in (demo.folder / "results" / "5_render").glob("*/*.jsonl") for row in read_rows(path, Render)]
    assert sorted((row.system, row.clip_id) for row in renders) == sorted((s, c) for s in SYSTEMS for c in CLIPS)
    assert {row.outcome for row in renders} == {"ok"}
    assert all(row.certificate.purity == [] for row in renders if row.system != "reference")


@pytest.mark.parametrize(
    ("metric", "kind"), [("visual_similarity", None), ("kss", None), ("object_iou", None), ("retention", "static")]
)
def test_understanding_beats_a_still_beats_an_empty_page(demo, metric, kind):
    """As means over the clips, and on nearly every clip: at most one of five may be out of order."""
    found = video_means(demo, metric, kind)
    means = {system: statistics.fmean(found[system].values()) for system in SYSTEMS}
    assert means["vtrace"] > means["still"] > means["blank"]
    for better, worse in (("vtrace", "still"), ("still", "blank")):
        out_of_order = [clip for clip in CLIPS if found[better][clip] < found[worse][clip]]
        assert len(out_of_order) <= 1, (better, worse, out_of_order)


def test_the_reference_itself_is_the_ceiling(demo):
    for metric in ("visual_similarity", "kss", "appearance"):
        assert min(video_means(demo, metric)["reference"].values()) >= 0.999
    assert min(video_means(demo, "retention")["reference"].values()) == 100


def test_every_number_is_marked_as_a_stand_in_where_it_is_one(demo):
    stand_ins = {"visual_similarity", "object_iou", "retention", "appearance", "mps", "mps_strict", "key_frames"}
    stand_ins |= {"frame_similarity", "frame_similarity_worst"}
    for path in (demo.folder / "results" / "6_score" / "cpu").glob("*/*.jsonl"):
        for row in read_rows(path, Score):
            assert row.proxy == (row.metric in stand_ins), row
            assert row.protocol, row


def test_the_report_and_its_tables_are_there(demo):
    report = demo.folder / "results" / "8_report"
    index = (report / "index.html").read_text()
    assert "proxy" in index
    assert sorted(path.stem for path in (report / "clips").glob("*.html")) == CLIPS
    tables = demo.tables()
    assert sorted(row["system"] for row in tables["main.csv"]) == sorted(SYSTEMS)
    columns = {"success_rate_low", "visual_similarity", "object_iou", "retention_dynamic", "retention_static"}
    assert columns <= set(tables["main.csv"][0])
    assert json.loads((demo.folder / "results" / "7_compare" / "comparison.json").read_text())["systems"]


def test_nothing_in_the_report_points_outside_of_it(demo):
    report = demo.folder / "results" / "8_report"
    for page in report.rglob("*.html"):
        text = page.read_text()
        assert str(demo.folder) not in text
        assert 'src="http' not in text and "url(http" not in text and "@import" not in text


def test_a_second_run_recomputes_nothing(demo):
    before = demo.made()
    assert "Nothing to be done" in demo.finish("dataset", "all")
    assert demo.made() == before
    assert set(before.values()) == {1}
