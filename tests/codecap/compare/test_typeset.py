"""Tables to print: text is escaped, the best is bold, what is incomplete is marked, and the numbers are those of the CSV files."""

from __future__ import annotations

import re

import pytest

from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import Column
from codecap.compare.estimates import Estimate
from codecap.compare.typeset import Cell, Group, Head, TextTable, cells_of, in_latex, in_markdown, latex, markdown, number

HOSTILE = "\\input{/etc/passwd} $\\alpha$ a|b `c` <b>&~^#_%</b> [x](http://y) **z**\n# h"
COSINE = Column(name="c", metric="c", label="C", lowest=-1, highest=1, higher_is_better=True)
SIZE = Column(name="s", metric="s", label="S", unit="bytes", lowest=0, higher_is_better=False)


def cells(line: str) -> list[str]:
    """Of a line of Markdown."""
    return [text.strip() for text in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_no_text_is_a_command_in_latex():
    told = in_latex(HOSTILE)
    bare = re.sub(r"\\(?:[a-z]+\{\}|[%&#_$}{])|\{[][*]\}", "", told)  # what is left without escapes
    assert not set(bare) & set("\\{}$&#^_%~[]*\n")
    assert in_latex("5 – 6 % ↑") == r"5 -- 6 \% $\uparrow$"
    assert in_latex("--low") == "-{-}low"  # two hyphens, no dash
    assert in_latex('a "b"') == r"a \textquotedblright{}b\textquotedblright{}"  # \textquotedbl is not in LaTeX's first encoding


def test_no_text_is_markup_in_markdown():
    told = in_markdown(HOSTILE)
    assert "\n" not in told and "<" not in told
    assert re.search(r"(?<!\\)([|`*\[$_]|://)", told) is None
    assert in_markdown("plain 50 % (a, b)") == "plain 50 % (a, b)"


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (0.97351, COSINE, "0.9735"),
        (-0.00001, COSINE, "0.0000"),
        (73.236, None, "73.24"),
        (12345.6, SIZE, "12346"),
        (999.5, SIZE, "999.50"),
    ],
)
def test_numbers_are_printed_as_in_the_paper(value, column, text):
    assert number(value, column) == text


def test_all_that_print_as_the_best_are_bold():
    told = cells_of(
        COSINE, [Estimate(mean=0.91231, low=0.9, high=0.92, n=9), Estimate(mean=0.91229), Estimate(mean=0.9), Estimate()], True
    )
    assert [cell.best for cell in told] == [True, True, False, False]
    assert (told[0].low, told[0].high, told[3].text) == ("0.9000", "0.9200", "–")
    assert [cell.best for cell in cells_of(SIZE, [Estimate(mean=10.0), Estimate(mean=20.0)], True)] == [True, False]  # smaller
    assert not any(cell.best for cell in cells_of(COSINE, [Estimate(mean=1.0)], True))  # nobody to be better than
    assert not any(cell.best for cell in cells_of(COSINE, [Estimate(mean=1.0), Estimate(mean=0.0)], False))
    (ends,) = cells_of(SIZE, [Estimate(mean=1000.0, low=997.2, high=1003.0)], False)
    assert (ends.text, ends.low, ends.high) == ("1000", "997", "1003")


def test_a_table_by_hand():
    table = TextTable(
        "t-1",
        "A & B",
        [Head("System", number=False), Head("Visual similarity", "↑")],
        [
            Group("First", [[Cell("x_y"), Cell("0.5", "0.4", "0.6", best=True, incomplete=True)]]),
            Group("", []),
            Group("Second", [[Cell("z"), Cell("-0.1")]]),
        ],
        ["† incomplete"],
    )
    assert latex(table).splitlines() == [
        r"% \usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering\small",
        r"\caption{A \& B}",
        r"\label{tab:t-1}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"System & \shortstack[r]{Visual\\similarity\\$\uparrow$} \\",
        r"\midrule",
        r"\multicolumn{2}{l}{\textit{First}} \\",
        r"x\_y & \textbf{0.5}\textsuperscript{\textdagger}$_{0.4}^{0.6}$ \\",
        r"\midrule",
        r"\multicolumn{2}{l}{\textit{Second}} \\",
        r"z & $-$0.1 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip\footnotesize \textsuperscript{\textdagger} incomplete",
        r"\end{table}",
    ]
    assert markdown(table).splitlines() == [
        "**A &amp; B**",
        "",
        "| System | Visual similarity ↑ |",
        "| --- | ---: |",
        "| *First* |  |",
        r"| x\_y | **0.5**† (0.4–0.6) |",
        "| *Second* |  |",
        "| z | -0.1 |",
        "",
        "† incomplete",
    ]


def test_printed_numbers_are_those_of_the_other_files(sixteen):
    """What stands in Markdown is rounded from what the record and the CSV file hold."""
    columns = [SUCCESS, *(column for column in sixteen.made.columns if column.table == "main")]
    headings = {in_markdown(system.heading): system.name for system in sixteen.made.systems}
    rows = {row.system: row for row in sixteen.made.main}
    in_csv = {line["system"]: line for line in sixteen.table("main")}
    lines = (sixteen.folder / "tables" / "main.md").read_text(encoding="utf-8").splitlines()
    printed = {
        headings.get(name.removesuffix("†")): numbers for name, *numbers in (cells(line) for line in lines if line[:1] == "|")
    }
    for system, row in rows.items():
        for column, text in zip(columns, printed[system], strict=True):
            cell = row.success if column is SUCCESS else row.cells[column.name]
            mean, low, high = (number(value, column) for value in (cell.mean, cell.low, cell.high))
            assert re.sub(r"[*†]", "", text) == f"{mean} ({low}–{high})"
            assert float(mean) == pytest.approx(float(in_csv[system][column.name]), abs=0.006)


def test_the_best_of_a_group_is_bold_and_what_is_incomplete_is_marked(sixteen):
    text = (sixteen.folder / "tables" / "main.md").read_text(encoding="utf-8")
    lines = {cells(line)[0]: line for line in text.splitlines() if line.startswith("| ")}
    assert lines["Astra"].count("**") == 2 * 6 and "**" not in lines["Empty page"]
    assert lines["Refusing"].count("**") == 2 * 5  # the best of its group in all but the success rate, where a film is
    assert lines["Lost two†"].count("†") == 1 + 6 and lines["Unmeasured†"].count("†") == 2
    lacking = "Lost two lacks 2 tasks; Unmeasured lacks Visual similarity 2 videos; One object less lacks Object IoU 1 item."
    assert text.rstrip().endswith(lacking)
    source = (sixteen.folder / "tables" / "main.tex").read_text(encoding="utf-8")
    rows = [line for line in source.splitlines() if line.endswith(r" \\") and "multicolumn" not in line]
    assert len(rows) == 17 and {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {6}
    assert source.count("{") == source.count("}") and r"R\&D\_v2 50\% \{\$x\}" in source


def test_every_printed_table_has_both_files(sixteen):
    folder = sixteen.folder / "tables"
    names = {path.stem for path in folder.glob("*.tex")}
    assert names == {path.stem for path in folder.glob("*.md")}
    assert {"main", "main_reconstruction", "main_beside", "reconstruction", "by_category", "effort"} <= names
    assert {"spent", "failures", "ranks", "correlations"} <= names
