"""The figures of a comparison on paper, as SVG and PDF: one module a figure, one style.

A figure's module has:
    NAME                    of its files
    TITLE                   of its place in the report
    draw(comparison, counted) -> (Figure, caption)     None where the run has nothing for it
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codecap.compare.comparison import Comparison
from codecap.publish.statistics import Statistics

FIGURES = ("dataset", "categories", "effort", "spending", "tool_calls", "agreement", "failures")


@dataclass(frozen=True)
class Drawn:
    """A figure whose files are there."""

    name: str
    title: str
    caption: str
    width_in: float


def draw_all(comparison: Comparison, counted: Statistics, folder: Path) -> list[Drawn]:
    """Write `NAME.svg`, `NAME.pdf` and `NAME.txt` (title, caption, width) of each figure that the run has something for.

    Args:
        counted: statistics of the data set.
        folder: is made; may be there.
    """
    from codecap.report.figures import agreement, categories, dataset, effort, failures, spending, style, tool_calls

    modules = {module.NAME: module for module in (agreement, categories, dataset, effort, failures, spending, tool_calls)}
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    names = "".join(system.heading for system in comparison.systems)
    for module in (modules[name] for name in FIGURES):
        with style.paper(names):
            drawn = module.draw(comparison, counted)
            if drawn is not None:
                figure, caption = drawn
                style.save(figure, folder / module.NAME)
                told = f"{module.TITLE}\n{caption}\n{figure.get_figwidth():g} in wide\n"
                (folder / f"{module.NAME}.txt").write_text(told, encoding="utf-8")
                made.append(Drawn(module.NAME, module.TITLE, caption, figure.get_figwidth()))
    return made


def drawn_in(folder: Path) -> list[Drawn]:
    """The figures that `draw_all` has written into a folder, in the paper's order."""
    found = []
    for name in FIGURES:
        told = folder / f"{name}.txt"
        if told.is_file():
            title, caption, width = told.read_text(encoding="utf-8").splitlines()
            found.append(Drawn(name, title, caption, float(width.split()[0])))
    return found
