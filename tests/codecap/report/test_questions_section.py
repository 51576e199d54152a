"""Questions on the first page: numbers as they are, words of models as text, nothing where nothing was asked."""

import pytest

from codecap.compare.answers import summarise
from codecap.compare.comparison import Comparison, System
from codecap.questions.planned import ORIGINAL
from codecap.records import Answer
from codecap.report.pages import environment
from codecap.report.questions_section import set_views

MODELS = {"atlas": {"label": "Atlas 2", "endpoint": {"model": "at"}}, "blank": {"label": "Empty page"}}
TEXTS = {"atlas-words": {"label": "<b>Atlas</b>, words", "endpoint": {"model": "at"}}}
MEDIUM = {"atlas-words": "caption", ORIGINAL: "original"}


def answer(system, number, correct, undetermined=False, **told):
    made = {"question_set": "quiz", "question_id": f"q{number}", "type": ("<i>kind</i>", "entity")[number % 2]}
    made |= {"system": system, "clip_id": f"A_{number % 3}", "medium": MEDIUM.get(system, "render"), "status": "ok"}
    return Answer(**made, correct=correct, undetermined=undetermined, protocol="asked with 'cannot be determined'", **told)


def compared(**told):
    nothing = ("columns", "clips", "main", "by_category", "differences", "failures", "tasks")
    system = System(name="atlas", label="Atlas 2", heading="Atlas 2", group="agentic")
    return Comparison(title="t", systems=[system], **{name: [] for name in nothing}, resamples=200, **told)


@pytest.fixture(scope="module")
def comparison():
    rows = [answer("atlas", number, number < 7) for number in range(8)]
    rows += [answer("atlas-words", number, number < 4, undetermined=number > 5) for number in range(8)]
    rows += [answer("blank", number, False, undetermined=True) for number in range(8)]
    rows += [answer(ORIGINAL, number, True) for number in range(8)]
    return compared(answered=summarise(rows, MODELS, TEXTS, resamples=200))


def test_what_a_view_says(comparison):
    (view,) = set_views(comparison)
    assert view.undetermined and view.original == "100.0" and len(view.types) == 4
    atlas, blank, words, original = view.lines
    assert (atlas["page"], words["page"], original["page"]) == ("systems/atlas.html", "", "")
    assert atlas["best"] and not original["best"]  # the original is no competitor
    assert atlas["cells"]["accuracy"][0] == "87.5" and blank["cells"]["cap_p"] == ("none", "")
    assert words["counts"] == "4 right, 2 wrong, 2 undetermined"
    (pair,) = view.pairs
    assert (pair["code"][0], pair["words"][0], pair["difference"][0]) == ("87.5", "50.0", "+37.5")


def test_the_page_shows_it_as_text(comparison):
    template = environment().get_template("questions.html.j2")
    html = template.render(question_sets=set_views(comparison), tables=["answers.csv"])
    assert "&lt;b&gt;Atlas&lt;/b&gt;, words" in html and "<b>Atlas" not in html
    assert "&lt;i&gt;kind&lt;/i&gt;" in html and "<i>kind" not in html
    assert "+37.5" in html and "Coverage, CapR" in html and 'href="tables/answers.csv"' in html


def test_nothing_is_shown_where_nothing_was_asked():
    assert set_views(compared()) == []
