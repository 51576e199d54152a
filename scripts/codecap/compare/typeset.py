"""Tables to print: LaTeX with booktabs, and Markdown. Whatever text stands in them is escaped, and nothing else."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codecap.compare.comparison import Column
from codecap.compare.estimates import Estimate
from codecap.records import write_whole

DAGGER = "†"
LETTERS = (  # by the number of columns, so that a table is no wider than a page's text
    (6, r"\small"),
    (8, r"\footnotesize\setlength{\tabcolsep}{3pt}"),
    (math.inf, r"\scriptsize\setlength{\tabcolsep}{2pt}"),
)
HEAD_LETTERS = 13  # on a line of a column's head
BETTER = {True: "↑", False: "↓", None: ""}
IN_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}",
    "*": "{*}", "|": r"\textbar{}", '"': r"\textquotedblright{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "–": "--", "…": r"\ldots{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "†": r"\textsuperscript{\textdagger}", "≥": r"$\geq$",
    "×": r"$\times$", "−": r"$-$",
}  # fmt: skip
IN_MARKDOWN = {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {sign: f"\\{sign}" for sign in "\\`*_[]|~$@"}


@dataclass(frozen=True)
class Head:
    """Of a column: its name, and its unit and the better direction below or behind it."""

    text: str
    more: str = ""
    number: bool = True


@dataclass(frozen=True)
class Cell:
    """A text, or a number as it is printed, with the ends of its interval."""

    text: str
    low: str = ""
    high: str = ""
    best: bool = False
    incomplete: bool = False


@dataclass(frozen=True)
class Group:
    """Lines that stand together, under a heading where there are several groups."""

    heading: str
    lines: list[list[Cell]]


@dataclass(frozen=True)
class TextTable:
    """
    Attributes:
        name: of its files.
        notes: what stands below it.
    """

    name: str
    caption: str
    heads: list[Head]
    groups: list[Group]
    notes: list[str] = field(default_factory=list)


def write_texts(folder: Path, tables: Iterable[TextTable]) -> None:
    """Write `NAME.tex` and `NAME.md` of each table that has lines."""
    for table in tables:
        if any(group.lines for group in table.groups):
            write_whole(folder / f"{table.name}.tex", [latex(table)])
            write_whole(folder / f"{table.name}.md", [markdown(table)])


def number(value: float | None, column: Column | None = None, like: float | None = None) -> str:
    """A number as the paper prints it: 4 decimals on a scale of at most 4, else 2; whole numbers from 1,000 up.

    Args:
        like: another number, whose decimals it gets: the ends of an interval are printed as its mean.

    >>> number(None), number(1234.5), number(41.256), number(-0.001)
    ('–', '1234', '41.26', '0.00')
    """
    if value is None:
        return "–"
    scale = None if column is None or column.lowest is None or column.highest is None else column.highest - column.lowest
    decimals = 4 if scale is not None and scale <= 4 else 0 if abs(value if like is None else like) >= 1000 else 2
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def head_of(column: Column) -> Head:
    """Label, unit, direction and the mark of a stand-in."""
    more = [f"({column.unit})"] if column.unit else []
    more += [BETTER[column.higher_is_better]] if column.higher_is_better is not None else []
    return Head(column.label + (" (stand-in)" if column.proxy else ""), " ".join(more))


def cells_of(column: Column, estimates: Sequence[Estimate], ranked: bool) -> list[Cell]:
    """Estimates of a group in one column; bold are all that print as the best of several."""
    texts = [number(estimate.mean, column) for estimate in estimates]
    best = None
    measured = [estimate.mean for estimate in estimates if estimate.mean is not None]
    if ranked and column.higher_is_better is not None and len(estimates) > 1 and measured:
        best = number((max if column.higher_is_better else min)(measured), column)
    return [
        Cell(
            text,
            *(("", "") if estimate.low is None else (number(end, column, estimate.mean) for end in (estimate.low, estimate.high))),
            best=estimate.mean is not None and text == best,
            incomplete=estimate.incomplete,
        )
        for text, estimate in zip(texts, estimates, strict=True)
    ]


def in_latex(text: str) -> str:
    r"""
    >>> in_latex("50 % of A_1")
    '50 \\% of A\\_1'
    """
    told = _one_line(text)
    signs = zip(f" {told}", told, strict=False)  # each with the one before it: two hyphens would become a dash
    return "".join("{-}" if sign == before == "-" else IN_LATEX.get(sign, sign) for before, sign in signs)


def in_markdown(text: str) -> str:
    r"""
    >>> in_markdown("<b>a|b</b>")
    '&lt;b&gt;a\\|b&lt;/b&gt;'
    """
    return "".join(IN_MARKDOWN.get(sign, sign) for sign in _one_line(text)).replace("://", "\\://")


def _one_line(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", text).strip()


def latex(table: TextTable) -> str:
    """A floating table with caption and label; needs the package booktabs, and textcomp before LaTeX of 2020."""
    width = len(table.heads)
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering" + next(letters for most, letters in LETTERS if width <= most),
        rf"\caption{{{in_latex(table.caption)}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9-]', '-', table.name)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if head.number else 'l' for head in table.heads)}}}",
        r"\toprule",
        " & ".join(_latex_head(head) for head in table.heads) + r" \\",
    ]
    headed = sum(bool(group.lines) for group in table.groups) > 1
    for group in table.groups:
        if not group.lines:
            continue
        lines.append(r"\midrule")
        if headed:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{in_latex(group.heading)}}}}} \\")
        lines += [" & ".join(_latex_cell(cell) for cell in line) + r" \\" for line in group.lines]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip\footnotesize {in_latex(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}", ""])


def _latex_head(head: Head) -> str:
    """A head on as many lines as it takes, so that its column is not wider than its numbers need."""
    lines = textwrap.wrap(head.text, HEAD_LETTERS, break_long_words=False) + ([head.more] if head.more else [])
    if len(lines) == 1:
        return in_latex(lines[0])
    broken = r"\\".join(map(in_latex, lines))
    return rf"\shortstack[{'r' if head.number else 'l'}]{{{broken}}}"


def _latex_cell(cell: Cell) -> str:
    text = _minus(in_latex(cell.text), cell)
    text = rf"\textbf{{{text}}}" if cell.best else text
    text += IN_LATEX[DAGGER] if cell.incomplete else ""
    return text + (rf"$_{{{cell.low}}}^{{{cell.high}}}$" if cell.low else "")


def _minus(text: str, cell: Cell) -> str:
    return f"$-${text[1:]}" if text.startswith("-") and text[1:].replace(".", "", 1).isdigit() and cell.text else text


def markdown(table: TextTable) -> str:
    """A table as GitHub and most others read it, the caption above it."""
    lines = [
        f"**{in_markdown(table.caption)}**",
        "",
        _line(f"{in_markdown(head.text)} {in_markdown(head.more)}".strip() for head in table.heads),
        _line("---:" if head.number else "---" for head in table.heads),
    ]
    headed = sum(bool(group.lines) for group in table.groups) > 1
    for group in table.groups:
        if headed and group.lines:
            lines.append(_line([f"*{in_markdown(group.heading)}*", *[""] * (len(table.heads) - 1)]))
        lines += [_line(_markdown_cell(cell) for cell in line) for line in group.lines]
    return "\n".join([*lines, *(f"\n{in_markdown(note)}" for note in table.notes), ""])


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _markdown_cell(cell: Cell) -> str:
    text = in_markdown(cell.text)
    text = f"**{text}**" if cell.best else text
    text += DAGGER if cell.incomplete else ""
    return text + (f" ({cell.low}–{cell.high})" if cell.low else "")
