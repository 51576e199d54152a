"""Pages as models give them: fenced, bare, several, cut off, refused."""

import time

import pytest

from codecap.generate import extraction
from codecap.generate.extraction import blocks, documents, page_in

PAGE = "<!DOCTYPE html>\n<html><head><script>window.seek = s => {}</script></head><body></body></html>"
OTHER = PAGE.replace("s => {}", "s => { draw(s) }")
INNER = (
    "<!doctype html>\n<html><body><iframe srcdoc='<html><p>in</p></html>'></iframe>\n"
    "<script>const p = `<html></html>`;</script></body></html>"
)


@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        f"```html\n{PAGE}\n```",
        f"```\n{PAGE}\n```",
        f"~~~~ HTML\n{PAGE}\n~~~~",
        f"   ```html\n{PAGE}\n   ```",
        f"Here is the page:\n\n```html\n{PAGE}\n```\n\nIt follows the video's time.",
        f"Here it is: {PAGE} I hope it helps.",
        f"<think>First `<html>`, then ```html\n<html></html>\n```</think>\n```html\n{PAGE}\n```",
        f"```html\n{PAGE}\n",  # the fence alone was not closed
        f"```js\nconst a = 1;\n```\n```html\n{PAGE}\n```\n```css\np {{}}\n```",
        f"\ufeff{PAGE}\n\n",
        f"```html\r\n{PAGE}\r\n```".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"First a draft:\n```html\n{OTHER}\n```\nWith the colours mended:\n```html\n{PAGE}\n```",
        f"{OTHER}\n\nBetter:\n\n{PAGE}",
        f"```html\n{PAGE}\n```\nThe next version would begin so:\n```html\n<!doctype html><html><body>\n```",
        f"````markdown\n```\n````\n```html\n{PAGE}\n```",
        f"```html\n{PAGE}```\n\nThis page shows a box.",
        f"```html\n{PAGE}\n\nThis page shows a box.",
        f"```html\n{PAGE}``` This page shows a box.",
        f"```html\n{PAGE}```\n\nIts style, apart:\n```css\np {{}}\n```\nThat is all.",
        f"```html\n{PAGE}\n\nIts style, apart:\n```css\np {{}}\n```\nThat is all.",
        f"```html\n{OTHER}```\n\nWith the colours mended:\n```html\n{PAGE}\n```",
        f"```html\n{OTHER}\n\nWith the colours mended:\n```html\n{PAGE}\n```",
        f"First a box.</think>\n```html\n{PAGE}\n```",
        f"```html\n{PAGE}\n```\nA model that thinks says </think> at its end.",
    ],
)
def test_the_last_complete_page_is_found(answer):
    found = page_in(answer)
    assert found.page is not None and found.page.split() == PAGE.split() and found.page.endswith("</html>\n")


HELD = "<!doctype html><html><p>inner</p></html>"


@pytest.mark.parametrize("inner", [f"<script>const f = `{HELD}`", f"<script>const f = `{HELD}`</script><div", f"<!-- {HELD}"])
@pytest.mark.parametrize("fence", ["", "```html\n"])
def test_a_document_within_a_page_that_is_cut_off_is_no_page(inner, fence):
    assert page_in(f"{fence}<!doctype html><html><body>{inner}", cut_off=True).page is None


@pytest.mark.parametrize("name", ["index.html", "// index.html", "# out/index.html:", "/* page.htm */"])
def test_a_fence_may_begin_with_the_name_of_its_file(name):
    draft, final = (HELD.replace("inner", word) for word in ("draft", "final"))
    assert page_in(f"```html\n{draft}\n```\nBetter:\n```html\n{name}\n{final}\n```\n").page == final + "\n"


def test_a_page_that_is_cut_off_after_its_end_is_complete():
    assert page_in(f"```html\n{PAGE}\n```\nA few words on the ea", cut_off=True).page == PAGE + "\n"


@pytest.mark.parametrize("around", ["{}", "```html\n{}\n```", "So: {} Done."])
def test_a_page_that_holds_pages_is_one(around):
    assert page_in(around.format(INNER)).page == INNER + "\n"


def test_three_backticks_in_a_script_do_not_cut_the_page():
    page = "<!doctype html>\n<html><script>\nconst help = `\n```\nnot a fence of ours\n```\n`;\n</script></html>"
    assert page_in(f"```html\n{page}\n```").page == page + "\n"


@pytest.mark.parametrize(
    ("answer", "cut_off", "reason"),
    [
        ("", False, "the answer is empty"),
        ("  \n", False, "the answer is empty"),
        ("<think>hm", False, "the answer is empty"),
        ("I cannot see a video.", False, "no page in the answer: I cannot see a video."),
        ("```js\nwindow.seek = 1\n```", False, "no page in the answer: ```js window.seek = 1 ```"),
        (PAGE.removesuffix("</html>"), False, "the page is not closed by </html>"),
        (f"```html\n{PAGE[:60]}", True, "cut off at the limit of output tokens, within the page"),
        ("Let me think about", True, "cut off at the limit of output tokens, before the page"),
        ("", True, "cut off at the limit of output tokens, before anything but thinking"),
        (f"<think>A draft:\n```html\n{PAGE}\n```\nBut wait", False, "the answer is empty"),
        (f"<thinking>{PAGE}", True, "cut off at the limit of output tokens, before anything but thinking"),
        ("A box, I see.</think>\nI cannot.", False, "no page in the answer: I cannot."),
        ("<think>first", True, "cut off at the limit of output tokens, before anything but thinking"),
        ("<div>a fragment</div></html>", False, "no page in the answer: <div>a fragment</div></html>"),
        ("x" * 400, False, "no page in the answer: " + "x" * 159 + "…"),
    ],
)
def test_why_there_is_none(answer, cut_off, reason):
    found = page_in(answer, cut_off)
    assert (found.page, found.reason) == (None, reason)


@pytest.mark.parametrize("part", ["<html>", "<a>", "<html><!---->", "&", "<"])
def test_a_page_of_very_many_tags_is_read_to_a_bound(part, monkeypatch):
    monkeypatch.setattr(extraction, "MOST_PARTS", 5_000)
    read = []
    walk = extraction._Walk.updatepos
    monkeypatch.setattr(extraction._Walk, "updatepos", lambda self, *at: read.append(None) or walk(self, *at))
    assert documents("<html>" + part * 20_000 + "<script>'</html>'") == []
    assert len(read) <= 5_001
    assert documents("<html>" + part * 1_000 + "</html>")


def test_where_nothing_is_closed_nothing_is_read(monkeypatch):
    monkeypatch.setattr(extraction, "_Walk", None)
    assert documents("<html>" * 10_000) == documents("</html>" + "<html>" * 10_000) == []


def test_fences_are_those_of_markdown():
    assert blocks("a\n```\nb\n````\nc") == [("b", True)]
    assert blocks("~~~\n```\n~~~") == [("```", True)]
    assert blocks("``` a`b\nc") == []
    assert blocks("```x\nopen") == [("open", False)]
    assert blocks("```x\n</html>``\n</html>```\nprose") == [("</html>``\n</html>", True)]


def test_a_script_after_the_end_of_the_document_is_of_the_page_where_its_fence_is_closed():
    page = f"{PAGE}\n<script>window.seek = s => '<html></html>'</script>"
    assert page_in(f"```html\n{page}\n```\nIt moves.").page == page + "\n"


@pytest.mark.parametrize(
    "oddity", ["<![anything[ x ]]>", "<!-- <html> -->", "<![CDATA[</html>]]>", "<a b='</html>'>", "<? x ?>", "\x00"]
)
def test_odd_markup_within_a_page_is_a_page(oddity):
    page = f"<!doctype html>\n<html><body>{oddity}<script>1</script></body></html>"
    assert page_in(f"So: {page} Done.").page == page + "\n"


@pytest.mark.parametrize("part", ["<html>", "<!doctype html>\n", "```\n", "<!--", "<script>", "<a b='", "</", "<![x["])
def test_a_hostile_answer_takes_seconds_at_most(part):
    began = time.process_time()
    assert page_in("<html>" + part * (60_000 // len(part))).page is None
    assert time.process_time() - began < 5
