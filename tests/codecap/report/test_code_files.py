"""Code with its highlighting: pieces cover the text to its last unit, whatever the text is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from codecap.report import code_files
from codecap.report.code_files import LONGEST_LIT, LONGEST_SHOWN, CodeFiles, place_code, runs_of


def pieces(text: str) -> list[tuple[str, str]]:
    """What the page makes of the runs: a kind and its text; a unit is one of UTF-16."""
    units, found, start = text.encode("utf-16-le"), [], 0
    for length, kind in re.findall(r"(\d+)(\D)", runs_of(text)):
        end = start + 2 * int(length)
        found.append((kind, units[start:end].decode("utf-16-le")))
        start = end
    return [*found, (".", units[start:].decode("utf-16-le"))]


def told(script: Path) -> tuple[str, dict]:
    name, _, rest = script.read_text(encoding="utf-8").removeprefix("takeCode(").partition(", ")
    return json.loads(name), json.loads(rest.removesuffix(");\n"))


def test_pieces_of_a_page() -> None:
    text = '<b title="x">1</b>\n<script>\n// far\nconst a = 12 + "s";\n</script><style>p { color: red }</style>'
    found = pieces(text)
    assert "".join(value for _, value in found) == text
    kinds = {value.strip(): kind for kind, value in found}
    assert (kinds["title"], kinds['"x"']) == ("a", "s")
    assert (kinds["// far"], kinds["const"], kinds["12"], kinds['"s"']) == ("c", "k", "n", "s")
    assert next(value for kind, value in found if kind == "t") == "b "  # a blank belongs to the piece before it


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "no page at all",
        "</script>",
        "😀<b>😀</b> é \u2028",
        "<script>`${`${'",
        "\ufeff<p>\r\n",
        "<" * 300,
        "\x00\x01",
        "&amp;&",
    ],
)
def test_any_text_is_covered(text: str) -> None:
    assert "".join(value for _, value in pieces(text)) == text


@pytest.mark.parametrize("sign", ["&", "<", "<![CDATA[", "<script>\n", "{", '"', "`${"])
def test_a_hostile_page_ends_soon(sign: str) -> None:
    """Of these, `&` took the lexer's own rule minutes."""
    text = sign * (20_000 // len(sign))
    assert "".join(value for _, value in pieces(text)) == text


def test_a_long_page_is_plain_after_a_while() -> None:
    text = "<b>1</b>" * (LONGEST_LIT // 8 + 10)
    *_, (kind, rest) = pieces(text)
    assert (kind, len(rest)) == (".", 80)


def test_the_script_holds_text_only(tmp_path: Path) -> None:
    page, script = tmp_path / "page.html", tmp_path / "folder" / "code.js"
    page.write_bytes(b"\xef\xbb\xbf<p>\r\n\xff</script><script>alert(1)</script>\r")
    place_code(page, script, "sys")
    name, found = told(script)
    assert (name, found["text"], found["cut"]) == ("sys", "<p>\n�</script><script>alert(1)</script>\n", 0)
    page.write_text("x" * (LONGEST_SHOWN + 7))
    place_code(page, script, "sys")
    assert (len(told(script)[1]["text"]), told(script)[1]["cut"]) == (LONGEST_SHOWN, 7)


def test_many_pages_are_made_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.html").write_text("<b>1</b>")
    monkeypatch.setattr(code_files, "FEW_PAGES", 0)
    monkeypatch.setattr(code_files.os, "sched_getaffinity", lambda _: {0, 1})
    with CodeFiles(1) as codes:
        codes.place(tmp_path / "page.html", tmp_path / "code.js", "a")
    assert told(tmp_path / "code.js") == ("a", {"text": "<b>1</b>", "runs": "1.1t4.1t1.", "cut": 0})
    with pytest.raises(RuntimeError, match="ended with 1"), CodeFiles(1) as codes:
        codes.place(tmp_path / "gone.html", tmp_path / "gone.js", "a")


def test_an_error_elsewhere_ends_the_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_files, "FEW_PAGES", 0)
    monkeypatch.setattr(code_files.os, "sched_getaffinity", lambda _: {0, 1})
    with pytest.raises(KeyError), CodeFiles(1) as codes:
        raise KeyError("of the report")
    assert all(worker.poll() is not None for worker in codes._workers)
