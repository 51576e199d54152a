"""The paper's tables beside ours: the same protocol, or not comparable and why. Parts of the protocol are compared one by one."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from codecap.clock import FPS
from codecap.compare import published_answers
from codecap.compare.answer_records import QuestionAnswering
from codecap.compare.columns import SUCCESS
from codecap.compare.comparison import ClipEntry, Column, ComparisonError, System, SystemRow
from codecap.compare.effort import level_of
from codecap.compare.estimates import Estimate
from codecap.compare.paper import Published, PublishedCell, PublishedLine, PublishedTable, Reconstruction
from codecap.compare.protocol_parts import differences
from codecap.config import read
from codecap.generate.entries import settings_of

PAPER = Path(__file__).resolve().parents[3] / "resources" / "paper"
HEADS = {"model": "Model", "harness": "Harness", "method": "Method"}  # columns of a table that name its lines
OURS = ("group", "asks", "runs_in")  # columns that say how a line's system is configured here
CODE = "code"
QUESTIONS = "table_2"
LABELS = {  # of columns that the run does not measure
    "success_rate": "Video production success rate",
    "visual_similarity": "Visual similarity",
    "object_iou": "Object-level spatio-temporal IoU",
    "retention_dynamic": "Retention, dynamic",
    "retention_static": "Retention, static",
    "retention_overall": "Retention, overall",
    "appearance": "AS",
    "mps": "MPS",
    "kss": "KSS",
}


@dataclass(frozen=True)
class Run:
    """What of a run is set beside the paper.

    Attributes:
        config: the whole configuration.
        models: its systems that are compared, as configured.
        answered: what questions and answers come to, where any were asked.
    """

    config: Mapping[str, Any]
    models: Mapping[str, Mapping[str, Any]]
    systems: Sequence[System]
    columns: Sequence[Column]
    main: Sequence[SystemRow]
    clips: Sequence[ClipEntry]
    reconstruction: Sequence[Reconstruction]
    answered: QuestionAnswering | None = None


def published(run: Run, folder: Path = PAPER) -> Published:
    """The tables of `folder`, each line beside the system of the run that is configured like it.

    Raises:
        ComparisonError: a table there cannot be read.
    """
    protocol = read(folder / "protocol.yaml")
    beside = _Beside(run, protocol)
    questions = published_answers.Beside(run.answered, run.config, protocol["answers"], protocol["effort"])
    tables = []
    for name, title in protocol["titles"].items():
        line = questions.line if name == QUESTIONS else beside.line
        lines = [line(row) for row in read_table(folder / f"{name}.csv")]
        tables.append(PublishedTable(name=name, title=title, lines=lines))
    return Published(source=protocol["source"], tables=tables, untold=protocol["untold"])


def read_table(path: Path) -> list[dict[str, str]]:
    """Lines of one of the paper's tables; numbers stay as they are printed there."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (OSError, csv.Error) as error:
        raise ComparisonError(f"{path}: cannot be read as one of the paper's tables: {error}") from error
    for number, row in enumerate(rows, start=2):
        for column, text in row.items():
            if column not in HEADS and column not in OURS and text and not _is_number(text):
                raise ComparisonError(f"{path}:{number}: {column} is no number: {text!r}")
    return rows


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


class _Beside:
    """Finds for each line of the paper what this run has beside it."""

    def __init__(self, run: Run, protocol: Mapping[str, Any]) -> None:
        self._run, self._protocol = run, protocol
        self._columns = {column.name: column for column in (SUCCESS, *run.columns)}
        self._rows = {row.system: row for row in run.main}
        self._of_run = [*differences(run.config, protocol["run"]), *_other_videos(run.clips, protocol["videos"])]

    def line(self, row: Mapping[str, str]) -> PublishedLine:
        system = self._filmed_or_code(row) if "method" in row else self._as_configured(row)
        numbers = {name: text for name, text in row.items() if name not in HEADS and name not in OURS and text}
        return PublishedLine(
            heads={HEADS[name]: row[name] for name in HEADS if name in row},
            group=row.get("group", ""),
            system=system,
            reasons=[] if system is None else [*self._of_run, *self._of_system(system)],
            cells=[self._cell(name, float(text), system) for name, text in numbers.items()],
        )

    def _as_configured(self, row: Mapping[str, str]) -> str | None:
        """The first system of the run that asks the line's model through its harness with the paper's effort."""
        wanted = (row["asks"], row["runs_in"], self._protocol["effort"])
        return next((name for name, entry in self._run.models.items() if _asks(entry) == wanted), None)

    def _filmed_or_code(self, row: Mapping[str, str]) -> str | None:
        """One of the first two systems of the line's model, by code and by film, that have the paper's effort."""
        for pair in self._run.reconstruction:
            if pair.model == row["asks"] and level_of(self._run.models[pair.code]) == self._protocol["effort"]:
                return pair.code if row["runs_in"] == CODE else pair.filmed
        return None

    def _of_system(self, name: str) -> Iterator[str]:
        entry, told = self._run.models[name], next(system for system in self._run.systems if system.name == name)
        harness = entry["harness"]
        version = self._protocol["versions"].get(harness)
        if version is not None:
            others = [found for found in told.versions if not f"{found},".startswith(f"{version},")]
            if others:
                yield f"made with {', '.join(others)}; the paper's with {version}"
        parts = self._protocol["agents"] if version is not None else self._protocol.get(harness, {})
        yield from differences(settings_of(self._run.config, entry), parts)

    def _cell(self, name: str, number: float, system: str | None) -> PublishedCell:
        column = self._columns.get(name)
        label = column.label if column else LABELS.get(name, name)
        if system is None or column is None:
            return PublishedCell(column=name, label=label, published=number)
        row = self._rows[system]
        ours = row.success if column is SUCCESS else row.cells[name]
        return PublishedCell(column=name, label=label, published=number, ours=ours, reasons=[*self._of_column(column, ours)])

    def _of_column(self, column: Column, ours: Estimate) -> Iterator[str]:
        entry = self._run.config["metrics"].get(column.metric)
        if entry is not None:
            yield from differences(entry, self._protocol["metrics"].get(column.metric, {}))
        if ours.incomplete:
            missing = ours.unscored + ours.infra_error
            yield f"ours is incomplete: {missing} videos, {ours.unscored_items} items without a number"


def _asks(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Model, harness and effort of a system's entry."""
    endpoint = entry.get("endpoint")
    return (endpoint.get("model", "") if isinstance(endpoint, Mapping) else ""), entry.get("harness", ""), level_of(entry)


def _other_videos(clips: Sequence[ClipEntry], wanted: Mapping[str, float]) -> Iterator[str]:
    """Whether the videos can be the paper's: their number, and the mean and median duration that it gives."""
    durations = [clip.frames / FPS for clip in clips]
    found = {
        "count": len(clips),
        "mean_s": round(fmean(durations), 1) if durations else 0.0,
        "median_s": round(median(durations), 1) if durations else 0.0,
    }
    if found != dict(wanted):
        told = "{count} videos of {mean_s:g} s in the mean and {median_s:g} s in the median"
        yield f"other videos: {told.format(**found)}; the paper's are {told.format(**wanted)}"
