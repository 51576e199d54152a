"""Agreement on the first page: the plot's geometry, what is told where there is none, and nothing where nobody else scored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codecap.compare.comparison import Agreement, AgreementRow, Comparison, Interval, ScoreSet, System, VideoPair
from codecap.report.agreement_section import pair_views
from codecap.report.charts import SCATTER_LEFT, SCATTER_SIDE, SCATTER_TOP, scatter
from codecap.report.site import build_report


def row(kind: str, level: str, pearson: Interval = Interval(), reason: str = "", system: str | None = None) -> AgreementRow:  # noqa: B008
    return AgreementRow(
        first="retention", second="people", system=system, kind=kind, level=level, n=4, clips=2, first_mean=Interval(value=41.26),
        second_mean=Interval(value=50, low=40, high=60), pearson=pearson, spearman=pearson, reason=reason,
    )  # fmt: skip


def pair(system: str, clip_id: str, first: float, second: float) -> VideoPair:
    return VideoPair(
        first="retention", second="people", system=system, clip_id=clip_id, kind="overall", first_value=first, second_value=second,
        points=3,
    )  # fmt: skip


@pytest.fixture
def comparison(run) -> Comparison:
    strong = Interval(value=0.9424, low=0.9, high=0.97)
    rows = [
        row(kind, level, strong)
        if (kind, level) != ("static", "video")
        else row(kind, level, reason="retention gives all of them 40")
        for level in ("video", "point")
        for kind in ("dynamic", "static", "overall")
    ]
    sets = [
        ScoreSet(name="retention", label="Judge retention", points=9, proxy=True),
        ScoreSet(name="people", label="People (one rater)", points=9),
    ]
    clip_id = run.comparison.clips[0].clip_id
    agreement = Agreement(sets=sets, rows=rows, videos=[pair("atlas", clip_id, 60, 80), pair("blank", clip_id, 0, 100)])
    return run.comparison.model_copy(update={"agreement": agreement})


def test_a_dot_lies_at_both_values():
    systems = [System(name=name, label=name, heading=name, group=group) for name, group in (("a", "agentic"), ("z", "floor"))]
    plot = scatter([pair("a", "A_1", 25, 75), pair("z", "A_1", 0, 100)], systems, ("one", "other"))
    assert [(dot.x, dot.y) for dot in plot.dots] == [
        (SCATTER_LEFT + SCATTER_SIDE * 0.25, SCATTER_TOP + SCATTER_SIDE * 0.25),  # 75 is a quarter from the top
        (SCATTER_LEFT, SCATTER_TOP),
    ]
    assert [dot.hollow for dot in plot.dots] == [False, True]
    assert plot.dots[0].title == "a, A_1: 25.0 and 75.0, 3 points"
    assert plot.ticks[0] == (SCATTER_LEFT, SCATTER_TOP + SCATTER_SIDE, "0")


def test_the_view_tells_numbers_intervals_and_reasons(comparison):
    (view,) = pair_views(comparison)
    assert view.title == "Judge retention and people (one rater)"
    assert view.headline == "Pearson 0.942 (0.900 – 0.970) over 4 videos of 2 clips."
    told = {(line["level"], line["kind"]): (line["pearson"], line["reason"]) for line in view.correlations}
    assert told["Focal points", "dynamic"] == (("0.942", "0.900 – 0.970"), "")
    assert told["Videos", "static"] == (("none", ""), "retention gives all of them 40")
    assert [line["heading"] for line in view.means] == ["Atlas 2 (single)", "Empty page"]  # one system to compare: no line of all
    assert view.means[0]["first"][2] == ("41.3", "") and view.means[0]["second"][2] == ("50.0", "40.0 – 60.0")


def test_the_page_has_the_section_only_where_two_sets_are(run, comparison, tmp_path: Path):
    html = {}
    for name, made in (("with", comparison), ("without", run.comparison)):
        bare = made.model_copy(update={"clips": [], "tasks": []})
        html[name] = build_report(bare, annotations=[], tracks=[], out_dir=tmp_path / name).read_text(encoding="utf-8")
    assert 'id="agreement"' not in html["without"] and 'href="#agreement"' not in html["without"]
    section = re.search(r'<section id="agreement">.*?</section>', html["with"], flags=re.DOTALL)[0]
    assert section.count("<circle") == 2 and section.count('class="object-1 hollow"') == 1
    assert "none: retention gives all of them 40" in section and "nan" not in section.lower()
    assert 'id="pair-choice"' not in section  # one pair: nothing to choose
