"""The tables that go into a paper, with the numbers of the CSV files: the paper's Tables 1 and 3, and those behind its figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codecap.compare.columns import SUCCESS, chief, shown_tables
from codecap.compare.comparison import GROUPS, Amount, Column, Comparison, System, SystemRow, TaskEntry
from codecap.compare.estimates import Estimate, Interval
from codecap.compare.pairs import RANKED
from codecap.compare.typeset import DAGGER, Cell, Group, Head, TextTable, cells_of, head_of, number, write_texts
from codecap.records import CATEGORIES, Outcome

INTERVALS = "Small numbers: ends of the 95 % percentile bootstrap interval over videos."
TITLES = {"main": "Main results", "stand_ins": "Results of stand-in backends", "exact": "Numbers without a stand-in"}
PARTS = {"": "", "_reconstruction": ", reconstruction", "_beside": ", beside the paper's metrics"}
STAND_IN = "Stand-in: made without the paper's models; not comparable with published numbers."
ALL = "All together"
TOGETHER = "All together: without floors and ceilings."
SPENT = {"cost_usd": "USD", "tokens": "Tokens", "rounds": "Rounds", "minutes": "Minutes", "tool_calls": "Tool calls"}


def write_tables(folder: Path, comparison: Comparison) -> None:
    """Write LaTeX and Markdown of all tables of `tables_of` that have lines."""
    write_texts(folder, tables_of(comparison))


def tables_of(comparison: Comparison) -> Iterator[TextTable]:
    """Each as it is printed; one without lines where the run has nothing for it."""
    for name, columns in shown_tables(comparison.columns):
        for suffix in ("", "_reconstruction", "_beside"):
            mine = [column for column in columns if _suffix(column) == suffix]
            yield _main(comparison, name.removesuffix("_beside") + suffix, mine) if mine else TextTable(name, "", [], [])
    yield _questions(comparison)
    yield _reconstruction(comparison)
    yield _by_category(comparison)
    yield _effort(comparison)
    yield _spent(comparison)
    yield _failures(comparison)
    yield _ranks(comparison)
    yield _correlations(comparison)
    yield _agreement(comparison)


def _suffix(column: Column) -> str:
    """Which of the printed tables a column stands in: a page of paper is narrow."""
    if column.table == "reconstruction":
        return "_reconstruction"
    return "_beside" if column.table == "beside" and not column.items else ""


def in_order(comparison: Comparison, columns: Sequence[Column]) -> list[tuple[str, list[SystemRow]]]:
    """Rows of each group that has any, the best first by the last of the paper's columns: overall retention in its Table 1."""
    rows = {row.system: row for row in comparison.main}
    ranking = [column for column in columns if column.table == "main" and column.higher_is_better] or [
        column for column in columns if column.higher_is_better
    ]

    def place(row: SystemRow) -> tuple[float, str]:
        mean = _cell(row, ranking[-1]).mean if ranking else None
        return -(mean if mean is not None else float("-inf")), row.system

    held = {group: [rows[system.name] for system in comparison.systems if system.group == group] for group in GROUPS}
    return [(group, sorted(of_group, key=place)) for group, of_group in held.items() if of_group]


def _cell(row: SystemRow, column: Column) -> Estimate:
    return row.success if column is SUCCESS else row.cells[column.name]


def _names(comparison: Comparison) -> dict[str, System]:
    return {system.name: system for system in comparison.systems}


def _name(system: System, incomplete: bool = False) -> Cell:
    return Cell(system.heading, incomplete=incomplete)


def _main(comparison: Comparison, name: str, columns: Sequence[Column]) -> TextTable:
    systems, groups, shown = _names(comparison), [], []
    for group, rows in in_order(comparison, columns):
        told = [cells_of(column, [_cell(row, column) for row in rows], group in RANKED) for column in (SUCCESS, *columns)]
        heads = [_name(systems[row.system], row.incomplete(columns)) for row in rows]
        groups.append(Group(GROUPS[group], [list(line) for line in zip(heads, *told, strict=True)]))
        shown += [row.system for row in rows]
    return TextTable(
        name=name,
        caption=f"{_title(name)}: {_counted(len(comparison.clips), 'video')}. Bold: the best of a group.",
        heads=[Head("System", number=False), head_of(SUCCESS), *(head_of(column) for column in columns)],
        groups=groups,
        notes=[
            INTERVALS,
            *([STAND_IN] if any(column.proxy for column in columns) else []),
            *_lacking(comparison, shown, columns),
        ],
    )


def _title(name: str) -> str:
    stem = next(stem for stem in TITLES if name.startswith(stem))
    return TITLES[stem] + PARTS[name.removeprefix(stem)]


def _lacking(comparison: Comparison, names: Iterable[str], columns: Sequence[Column]) -> list[str]:
    """A note on what the marked ones of some systems lack; none where all are whole."""
    rows = {row.system: row for row in comparison.main}
    produced: dict[str, list[TaskEntry]] = {name: [] for name in names}
    for task in comparison.tasks:
        if task.system in produced and task.outcome is not Outcome.INFRA_ERROR:
            produced[task.system].append(task)
    told = [_missing(comparison, rows[name], tasks, columns) for name, tasks in produced.items()]
    return _incomplete(filter(None, told))


def _incomplete(told: Iterable[str]) -> list[str]:
    each = "; ".join(told)
    return [f"{DAGGER} incomplete: {each}."] if each else []


def _missing(comparison: Comparison, row: SystemRow, tasks: Sequence[TaskEntry], columns: Sequence[Column]) -> str:
    """What a row lacks, in words: tasks that we failed at, and what is missing of a column beside them; empty where it is whole.

    Args:
        tasks: the system's, without those that we failed at.
    """
    told = [_counted(row.success.infra_error, "task")] if row.success.infra_error else []
    for column in columns:
        if column is SUCCESS:
            continue
        videos = sum(task.states[column.name] in ("unscored", "infra_error") for task in tasks)
        missing = [(videos, "video"), (row.cells[column.name].unscored_items, "item")]
        counts = [_counted(count, what) for count, what in missing if count]
        told += [f"{column.label} {' and '.join(counts)}"] if counts else []
    return f"{_names(comparison)[row.system].heading} lacks {', '.join(told)}" if told else ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _reconstruction(comparison: Comparison) -> TextTable:
    """A group a pair of systems of one model: its code's videos, and those filmed from its captions."""
    systems, rows = _names(comparison), {row.system: row for row in comparison.main}
    columns = [column for column in comparison.columns if column.table == "reconstruction"]
    names = list(dict.fromkeys(name for pair in comparison.reconstruction for name in (pair.code, pair.filmed)))
    groups = []
    for pair in comparison.reconstruction if columns else ():
        told = [cells_of(column, [rows[name].cells[column.name] for name in (pair.code, pair.filmed)], True) for column in columns]
        heads = [[Cell("Code rendering"), _name(systems[pair.code])], [Cell("Caption-to-video"), _name(systems[pair.filmed])]]
        lines = [[*head, *(cells[place] for cells in told)] for place, head in enumerate(heads)]
        groups.append(Group(pair.model, lines))
    return TextTable(
        name="reconstruction",
        caption="Video reconstruction from code and natural language captions of one model. Bold: the better of the two.",
        heads=[Head("Method", number=False), Head("System", number=False), *(head_of(column) for column in columns)],
        groups=groups,
        notes=[INTERVALS, *_lacking(comparison, names, columns)],
    )


def _questions(comparison: Comparison) -> TextTable:
    """The paper's Table 2: a group a set of questions, a line a model, and one of the original videos."""
    answered = comparison.answered
    accuracy = Column(name="accuracy", metric="accuracy", label="", unit="%", lowest=0, highest=100, higher_is_better=True)
    groups: dict[str, list[list[Cell]]] = {}
    lacking = []
    for pair in answered.pairs if answered else ():
        both = [_estimate(told, pair.questions) for told in (pair.code_accuracy, pair.words_accuracy)]
        names = [Cell(pair.model, incomplete=pair.incomplete), Cell(pair.code_label), Cell(pair.words_label)]
        names.append(Cell(str(pair.questions)))
        if pair.incomplete:
            lacking.append(
                f"{pair.code_label} and {pair.words_label} lack {_counted(pair.missing, 'question')} of {pair.question_set}"
            )
        difference = Cell(number(pair.difference.value), *_ends(pair.difference))
        groups.setdefault(pair.question_set, []).append([*names, *cells_of(accuracy, both, True), difference])
    for row in answered.rows if answered else ():
        if (row.medium, row.type) == ("original", ""):
            told = Cell(number(row.accuracy.value), *_ends(row.accuracy), incomplete=row.incomplete)
            line = [Cell("Original videos"), Cell("–"), Cell("–"), Cell(str(row.questions)), told, Cell("–"), Cell("–")]
            groups.setdefault(row.question_set, []).append(line)
            if row.incomplete:
                lost = _counted(row.unscored + row.infra_error, "question")
                lacking.append(f"{row.label} lack {lost} of {row.question_set}")
    return TextTable(
        name="questions",
        caption="Questions answered from rendered videos and from captions in words, in percent. Bold: the better of the two.",
        heads=[
            Head("Model", number=False), Head("Code by", number=False), Head("Words by", number=False), Head("Questions"),
            Head("From the video", "(%) ↑"), Head("From the words", "(%) ↑"), Head("Difference"),
        ],
        groups=[Group(heading, lines) for heading, lines in groups.items()],
        notes=["Small numbers: ends of the 95 % bootstrap interval over clips.", *_incomplete(lacking)],
    )  # fmt: skip


def _estimate(told: Interval, count: int) -> Estimate:
    return Estimate(mean=told.value, low=told.low, high=told.high, n=count)


def _by_category(comparison: Comparison) -> TextTable:
    """A group a column of the paper's Figure 4, a line a system, a number a category."""
    systems = _names(comparison)
    categories = sorted({row.category for row in comparison.by_category})
    cells = {(row.category, row.system): row.cells for row in comparison.by_category}
    groups = []
    for column in chief(comparison.columns):
        names = [row.system for _, rows in in_order(comparison, [column]) for row in rows]
        told = [
            dict(zip(names, cells_of(column, [cells[category, name][column.name] for name in names], False), strict=True))
            for category in categories
        ]
        groups.append(Group(column.label, [[_name(systems[name]), *(of[name] for of in told)] for name in names]))
    return TextTable(
        name="by_category",
        caption="Scores by category. " + "; ".join(f"{letter}: {CATEGORIES[letter]}" for letter in categories) + ".",
        heads=[Head("System", number=False), *(Head(letter) for letter in categories)],
        groups=groups,
        notes=[INTERVALS, *_lacking(comparison, systems, chief(comparison.columns))],
    )


def _amount(amount: Amount) -> Cell:
    return Cell(number(amount.mean))


def _effort(comparison: Comparison) -> TextTable:
    rows, spent = {row.system: row for row in comparison.main}, {told.system: told for told in comparison.spent}
    columns = [column for column in comparison.columns if column.table == "main"]
    shown = [level.system for series in comparison.series for level in series.levels]
    groups = []
    for series in comparison.series:
        names = [level.system for level in series.levels]
        told = [cells_of(column, [_cell(rows[name], column) for name in names], True) for column in (SUCCESS, *columns)]
        amounts = [[_amount(getattr(spent[name], what)) for name in names] for what in ("cost_usd", "minutes")]
        heads = [Cell(level.level or "–") for level in series.levels]
        groups.append(Group(series.name, [list(line) for line in zip(heads, *told, *amounts, strict=True)]))
    return TextTable(
        name="effort",
        caption="Fidelity and cost by thinking effort; US dollars and minutes are means of a caption.",
        heads=[Head("Effort", number=False), head_of(SUCCESS), *map(head_of, columns), Head("USD"), Head("Minutes")],
        groups=groups,
        notes=[INTERVALS, *_lacking(comparison, shown, columns)],
    )


def _spent(comparison: Comparison) -> TextTable:
    systems = _names(comparison)
    groups = []
    for group, heading in GROUPS.items():
        mine = [row for row in comparison.spent if systems[row.system].group == group]
        told = [row for row in mine if any(getattr(row, name).n for name in SPENT)]
        lines = [[_name(systems[row.system]), *(_amount(getattr(row, name)) for name in SPENT)] for row in told]
        groups.append(Group(heading, lines))
    return TextTable(
        name="spent",
        caption="What a caption took in the mean. A failed caption counts with what it took.",
        heads=[Head("System", number=False), *map(Head, SPENT.values())],
        groups=groups,
    )


def _failures(comparison: Comparison) -> TextTable:
    """Shares of the causes among the failed tasks; failures of ours are no system's."""
    systems = _names(comparison)
    outcomes = list(dict.fromkeys(cause.outcome for told in comparison.causes for cause in told.causes))
    lines = []
    for told in comparison.causes:
        shares = {cause.outcome: number(cause.share_percent) for cause in told.causes}
        name = Cell(ALL) if told.system is None else _name(systems[told.system])
        counts = [Cell(f"{told.failed} of {told.tasks}"), Cell(number(told.rate_percent))]
        if told.failed:
            lines.append([name, *counts, *(Cell(shares.get(outcome, "–")) for outcome in outcomes)])
    heads = [Head("Failed"), Head("Rate", "(%)")]
    return TextTable(
        name="failures",
        caption=f"Why tasks failed: share of each cause among the failed ones, in percent. {TOGETHER}",
        heads=[Head("System", number=False), *heads, *(Head(outcome.value.replace("_", " ")) for outcome in outcomes)],
        groups=[Group("", lines)],
    )


def _ranks(comparison: Comparison) -> TextTable:
    systems = _names(comparison)
    columns = [column for column in (SUCCESS, *comparison.columns) if column is SUCCESS or column.table != "beside"]
    ranks = {(rank.system, rank.column): rank for rank in comparison.ranks}
    columns = [column for column in columns if any((system, column.name) in ranks for system in systems)]
    groups, shown = [], []
    for group, rows in in_order(comparison, columns):
        lines = []
        for row in rows if group in RANKED and columns else ():
            told = [ranks.get((row.system, column.name)) for column in columns]
            cells = [
                Cell("–")
                if rank is None
                else Cell(str(rank.rank), *map(str, (rank.low, rank.high) if rank.low else ("", "")), incomplete=rank.incomplete)
                for rank in told
            ]
            lines.append([_name(systems[row.system]), *cells])
            shown.append(row.system)
        groups.append(Group(GROUPS[group], lines))
    return TextTable(
        name="ranks",
        caption="Ranks within the group, and the ends between which they lie in 95 % of the draws of the videos.",
        heads=[Head("System", number=False), *(Head(column.label) for column in columns)],
        groups=groups if any(group.lines for group in groups) else [],
        notes=_lacking(comparison, shown, columns),
    )


def _correlation(told: Interval) -> Cell:
    def text(value: float | None) -> str:
        return "" if value is None else f"{round(value, 3) + 0.0:.3f}"

    return Cell("–") if told.value is None else Cell(text(told.value), text(told.low), text(told.high))


def _correlations(comparison: Comparison) -> TextTable:
    labels = {column.name: column.label for column in comparison.columns if column.table != "beside"}
    lines = [
        [Cell(labels[row.first]), Cell(labels[row.second]), Cell(str(row.n)), _correlation(row.pearson), _correlation(row.spearman)]
        for row in comparison.correlations
        if row.first in labels and row.second in labels
    ]
    return TextTable(
        name="correlations",
        caption="Correlation of the metrics over produced videos, without floors and ceilings. Intervals are over clips.",
        heads=[Head("Metric", number=False), Head("and", number=False), Head("Videos"), Head("Pearson"), Head("Spearman")],
        groups=[Group("", lines)],
    )


def _agreement(comparison: Comparison) -> TextTable:
    """Of each pair of score sets, over videos: both means and the correlations, all systems together and each."""
    agreement, systems = comparison.agreement, _names(comparison)
    labels = {told.name: told.label for told in agreement.sets} if agreement else {}
    groups: dict[str, list[list[Cell]]] = {}
    for row in agreement.rows if agreement else ():
        if row.level != "video":
            continue
        name = Cell(ALL) if row.system is None else _name(systems[row.system])
        means = [Cell(number(told.value), *_ends(told)) for told in (row.first_mean, row.second_mean)]
        line = [name, Cell(row.kind), Cell(str(row.n)), *means, _correlation(row.pearson), _correlation(row.spearman)]
        groups.setdefault(f"{labels[row.first]}, {labels[row.second]}", []).append(line)
    return TextTable(
        name="agreement",
        caption=f"Agreement of judges and people on videos, whose value is the mean over their focal points. {TOGETHER}",
        heads=[
            Head("System", number=False), Head("Points", number=False), Head("Videos"), Head("First mean"), Head("Second mean"),
            Head("Pearson"), Head("Spearman"),
        ],
        groups=[Group(heading, lines) for heading, lines in groups.items()],
    )  # fmt: skip


def _ends(told: Interval) -> tuple[str, str]:
    return ("", "") if told.low is None else (number(told.low), number(told.high))
