"""A second entry of one metric: its own name, its own numbers, and nothing done again for it."""

import numpy as np
import pytest

from codecap import config, registry, store, video
from codecap.compare.columns import columns_of, describe, table_sets
from codecap.config import PROJECT
from codecap.records import Annotation, FocalPoint, Outcome, Render
from codecap.score import Task
from codecap.score.engine import choice
from codecap.score.engine.choice import Choice
from codecap.score.engine.lane import Lane
from codecap.score.engine.single import clip_of
from codecap.video import CanonicalWriter

DEMO = PROJECT / "config" / "demo.yaml"
SECOND = {"retention_coarse": {"module": "retention", "lane": "cpu", "judge": "pixel", "judges": {"pixel": {"long_side_px": 64}}}}


def film(mp4, ball):
    with CanonicalWriter(mp4, 96, 64) as writer:
        for k in range(48):
            rgb = np.full((64, 96, 3), 230, np.uint8)
            rgb[30:50, 5 + k : 25 + k] = ball
            writer.add(rgb)
    return clip_of(mp4, mp4.stem)


@pytest.fixture
def task(tmp_path):
    clip, shown = film(tmp_path / "T_001.mp4", (200, 40, 40)), film(tmp_path / "render.mp4", (200, 90, 90))
    point = FocalPoint(focal_id="ball", kind="static", description="a ball", start_s=0.5, end_s=1.5)
    render = Render(system="s", clip_id="T_001", key=shown.sha256, outcome=Outcome.OK, mp4=shown.mp4)
    return Task(clip, render, [(0, 48)], annotation=Annotation(clip_id="T_001", focal_points=[point]))


def entries(**more) -> dict:
    settings = config.load(DEMO, overrides={"metrics": more})
    choice.check(settings)
    return settings


def lane(root, settings, *names):
    return Lane([choice.metric(settings, name) for name in names], Choice("shots", {}, "c"), root, root)


def test_a_second_judge_adds_its_rows_and_computes_nothing_of_the_first_again(tmp_path, task):
    root, settings = tmp_path / "store", entries(**SECOND)
    (first,) = lane(root, settings, "retention").score(task)
    before = [entry["stage"] for entry in store.made(root)]
    rows = lane(root, settings, "retention", "retention_coarse").score(task)
    assert rows[0] == first
    assert [row.metric for row in rows] == ["retention", "retention_coarse"]
    assert ("160 px" in rows[0].protocol, "64 px" in rows[1].protocol) == (True, True)
    made = [entry["stage"] for entry in store.made(root)][len(before) :]
    assert sorted(made) == ["describe/retention_coarse", "score/retention_coarse"]


def test_it_has_columns_of_its_own_beside_the_papers(tmp_path, task):
    settings = entries(**SECOND)
    rows = lane(tmp_path / "store", settings, "retention", "retention_coarse").score(task)
    metrics = {name: settings["metrics"][name] for name in ("retention_coarse", "retention")}
    columns = {column.name: column for column in columns_of(describe(metrics), rows)}
    assert list(columns)[:3] == ["retention_dynamic", "retention_static", "retention_overall"]
    assert columns["retention_overall"].label == "Retention, overall"
    assert columns["retention_coarse_overall"].label == "Retention (coarse), overall"
    assert columns["retention_coarse_overall"].items == "focal_points"
    assert (columns["retention_overall"].table, columns["retention_coarse_overall"].table) == ("main", "beside")


def test_a_hosted_second_judge_and_a_stand_in_are_in_two_tables(tmp_path, task):
    settings = entries(**SECOND)
    first, second = lane(tmp_path / "store", settings, "retention", "retention_coarse").score(task)
    metrics = {name: settings["metrics"][name] for name in ("retention", "retention_coarse")}

    def sets(*rows):
        found = table_sets(columns_of(describe(metrics), rows))
        return {name: sorted({column.metric for column in columns}) for name, columns in found}

    assert sets(first, second) == {"main": ["retention", "retention_coarse"]}
    hosted = {"proxy": False}
    assert sets(first, second.model_copy(update=hosted)) == {"main": ["retention"], "exact": ["retention_coarse"]}
    assert sets(first.model_copy(update=hosted), second) == {"main": ["retention"], "stand_ins": ["retention_coarse"]}


def test_a_second_column_of_a_second_entry_keeps_the_entrys_name(tmp_path, task):
    settings = entries(mps_wide={"module": "mps", "lane": "cpu", "tracker": "lk"})
    rows = lane(tmp_path / "store", settings, "mps", "mps_wide").score(task)
    assert {row.metric for row in rows} == {"mps", "mps_strict", "mps_wide", "mps_wide_strict"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"judged": {"module": "judgement", "lane": "cpu"}}, "no metric called 'judgement'"),
        ({"iou_b": {"module": "object_iou", "lane": "cpu", "prompter": "match", "segmenter": "color"}}, "those of the run"),
        ({"kss": {"module": "lag", "lane": "cpu"}}, "kss is a metric itself"),
        ({"retention_b": {"module": "retention", "lane": "judge", "judge": "nobody"}}, "no judge called 'nobody'"),
        (
            {
                "retention_b": {
                    "module": "retention",
                    "lane": "judge",
                    "judge": "mllm",
                    "judges": {"mllm": {"endpoint": {"api": "openai", "modle": "m"}}},
                }
            },
            r"metrics.retention_b.judges.mllm: .*endpoint.model: Field required; endpoint.modle: Extra inputs",
        ),
    ],
)
def test_entries_that_cannot_be_measured_are_refused_before_anything_is_planned(entry, words):
    with pytest.raises(registry.Unavailable, match=words):
        entries(**entry)


def test_a_full_hit_loads_and_decodes_nothing(tmp_path, task, monkeypatch):
    root, settings = tmp_path / "store", entries(**SECOND)
    rows = lane(root, settings, "retention", "retention_coarse").score(task)

    def refuse(*told, **more):
        raise AssertionError("nothing is to be done")

    monkeypatch.setattr(registry, "make", refuse)
    monkeypatch.setattr(video, "decode", refuse)
    assert lane(root, settings, "retention", "retention_coarse").score(task) == rows
