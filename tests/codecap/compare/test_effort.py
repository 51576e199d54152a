"""Levels of effort as series, and their file beside fidelity and cost."""

import csv
from pathlib import Path

import pytest

from codecap.compare.columns import MetricInfo
from codecap.compare.comparison import Comparison
from codecap.compare.effort import series_of
from codecap.compare.tables import tabulate
from codecap.records import Caption, Clip, Outcome, Render, Score, Usage, read_record

SIMILARITY = MetricInfo("visual_similarity", "Visual similarity", "", -1, 1, True)


def entry(series: str | None, thinking: str | None) -> dict:
    told = {"harness": "pi", "agentic": True, "endpoint": {"api": "openai", "model": "m", "thinking": thinking}}
    return told | ({"series": series} if series else {})


def test_levels_go_from_low_to_high_whatever_the_order_of_the_entries():
    words = ("xhigh", "low", None, "medium", "high", "16384", "off", "4096", "ultra")
    models = {f"s{number}": entry("GPT-6-sol", thinking) for number, thinking in enumerate(words)}
    (series,), notes = series_of(models | {"other": entry(None, "low")})
    assert series.name == "GPT-6-sol" and notes == []
    assert [held.level for held in series.levels] == ["", "off", "low", "medium", "high", "xhigh", "ultra", "4096", "16384"]
    assert [held.system for held in series.levels][:3] == ["s2", "s6", "s1"]


def test_two_systems_of_one_level_are_told():
    (series,), notes = series_of({"a": entry("S", "low"), "b": entry("S", "low"), "c": entry("S", "high")})
    assert [held.system for held in series.levels] == ["a", "b", "c"]
    assert notes == ["Series S has more than one system of 'low': a, b."]
    assert series_of({"a": {"harness": "vtrace"}}) == ([], [])


def test_the_files_of_figures_5_6_7_and_10(tmp_path):
    clips = [
        Clip(clip_id=name, category="A", mp4=Path("x.mp4"), sha256="0", frames=48, width_px=64, height_px=48)
        for name in ("A_1", "A_2")
    ]
    told = {  # system -> by clip: cost, rounds, minutes, similarity (None: the page timed out)
        "xhigh": [(1.5, 40, 30, 0.9), (0.5, 20, 10, 0.7)],
        "low": [(0.2, 4, 3, 0.6), (0.4, 8, 5, None)],
    }
    captions, renders, scores = [], [], []
    for system, rows in told.items():
        for clip, (usd, rounds, minutes, value) in zip(clips, rows, strict=True):
            place = {"system": system, "clip_id": clip.clip_id, "key": "k"}
            captions.append(
                Caption(
                    **place,
                    outcome=Outcome.OK,
                    cost_usd=usd,
                    rounds=rounds,
                    wall_s=60 * minutes,
                    usage=Usage(input_uncached=10 * rounds, output=rounds),
                    tool_calls={"view_reference": rounds // 2, "write_code": rounds // 4},
                )
            )
            renders.append(Render(**place, outcome=Outcome.OK if value else Outcome.RENDER_TIMEOUT))
            if value:
                scores.append(
                    Score(metric="visual_similarity", system=system, clip_id=clip.clip_id, value=value, status="ok", protocol="p")
                )
    made = tabulate(
        title="t",
        models={"xhigh": entry("Sol", "xhigh"), "low": entry("Sol", "low")},
        metrics=[SIMILARITY],
        clips=clips,
        annotations=[],
        captions=captions,
        renders=renders,
        scores=scores,
        out_dir=tmp_path,
        resamples=50,
    )

    def read(name: str) -> list[dict[str, str]]:
        with (tmp_path / "tables" / f"{name}.csv").open() as file:
            return list(csv.DictReader(file))

    low, xhigh = read("effort")
    assert [low["level"], low["system"], xhigh["level"]] == ["low", "low", "xhigh"]
    assert (low["visual_similarity"], low["success_rate"], low["cost_usd_mean"]) == ("0.3", "50", "0.3")  # a failure is 0
    assert (xhigh["visual_similarity"], xhigh["cost_usd_mean"], xhigh["minutes_mean"]) == ("0.8", "1", "20")
    assert low["tokens_mean"] == "66"  # (44 + 88) / 2
    spent = {line["system"]: line for line in read("spent")}
    assert (spent["xhigh"]["cost_usd_total"], spent["xhigh"]["rounds_median"], spent["xhigh"]["cost_usd_n"]) == ("2", "30", "2")
    assert spent["low"]["tokens_output_mean"] == "6" and spent["low"]["tool_calls_mean"] == "4.5"  # (2 + 1 + 4 + 2) / 2
    calls = [(line["class"], line["calls"], line["share_percent"]) for line in read("tool_calls") if line["system"] == "xhigh"]
    assert calls[0] == ("view_reference", "30", "66.6667") and calls[2] == ("write_code", "15", "33.3333")
    causes = read("failure_causes")
    assert [(line["system"], line["cause"], line["failure_rate_percent"]) for line in causes] == [
        ("low", "render_timeout", "50"),
        ("", "render_timeout", "25"),
    ]
    assert read_record(tmp_path / "comparison.json", Comparison) == made
    assert made.spent[0].minutes.mean == pytest.approx(20) and made.series[0].levels[0].system == "low"
