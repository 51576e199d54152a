"""What a comparison says, as records: the one file that the report is made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from codecap.compare.answer_records import QuestionAnswering
from codecap.compare.certainty import Detectable, MetricCorrelation, Pair, Rank, Stability
from codecap.compare.estimates import Estimate, Group, Interval
from codecap.compare.paper import Published, Reconstruction
from codecap.records import Certificate, Outcome, RecordError, Row, Usage

State = Literal["ok", "failed", "unscored", "infra_error", "absent"]
Items = Literal["", "objects", "focal_points"]

GROUPS: dict[Group, str] = {
    "agentic": "Agentic systems",
    "non_agentic": "Non-agentic systems",
    "floor": "Floors",
    "ceiling": "Ceilings",
}


class ComparisonError(RecordError):
    """Rows that cannot stand in one table; the message names them and the way out."""


class Column(Row):
    """One column of a table: a metric, or the part of one that has several."""

    name: str  # the metric's, or metric_part
    metric: str
    part: Literal["", "dynamic", "static", "overall"] = ""
    label: str
    unit: str = ""
    lowest: float | None = None
    highest: float | None = None
    higher_is_better: bool | None = None  # None: it describes, it does not rank
    items: Items = ""
    table: Literal["main", "reconstruction", "beside"] = "beside"
    proxy: bool = False
    protocol: str = ""

    @property
    def zero_when_failed(self) -> bool:
        """A failed task scores 0 where 0 is bad. Of a lag or a size, 0 would praise it: such a column leaves the task out."""
        return self.higher_is_better is True


class System(Row):
    name: str
    label: str  # as the config has it
    heading: str  # the label; with the harness, or the name, where two systems have one label
    group: Group
    harness: str = ""
    versions: list[str] = Field(default_factory=list)  # of the harness, as its captions say
    render_protocols: list[str] = Field(default_factory=list)


class SystemRow(Row):
    """A line of the main table."""

    system: str
    tasks: int
    ok: int
    failed: int
    infra_error: int
    salvaged: int  # pages found whole at the deadline: failed here, kept beside the table
    impure: int  # renders whose page carries media data, external references or file access
    success: Estimate  # of 100 x ok / (tasks without infra_error)
    cells: dict[str, Estimate]
    cost_usd: float | None = None  # sum over captions that tell it
    wall_s: float | None = None  # mean of a caption

    def incomplete(self, columns: Iterable[Column]) -> bool:
        """Tasks that we failed at, or anything without a number in those of the columns that hold the paper's metrics."""
        return self.success.incomplete or any(self.cells[column.name].incomplete for column in columns if column.table != "beside")


class CategoryRow(Row):
    category: str
    system: str
    tasks: int
    success: Estimate
    cells: dict[str, Estimate]


class Difference(Row):
    """A system against the best one of its group on the same videos: mean of (system - best), paired bootstrap."""

    column: str
    system: str
    best: str
    mean: float
    low: float | None  # None: of one video
    high: float | None
    p_value: float | None  # of this comparison alone, not corrected for their number
    n: int

    @property
    def separated(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


class FailureCount(Row):
    system: str
    outcome: Outcome
    count: int
    clips: list[str]


class ItemScore(Row):
    metric: str
    item: str | None
    kind: str | None
    value: float | None
    status: str
    detail: str = ""


class TaskEntry(Row):
    """One (system, clip): what became of it, its numbers, and where its files lie."""

    system: str
    clip_id: str
    outcome: Outcome
    detail: str = ""
    salvaged: bool = False
    values: dict[str, float | None]  # a video's value by column
    states: dict[str, State]
    unscored_items: dict[str, int] = Field(default_factory=dict)
    items: list[ItemScore] = Field(default_factory=list)
    mp4: Path | None = None
    html: Path | None = None
    certificate: Certificate | None = None
    cost_usd: float | None = None
    rounds: int | None = None
    caption_wall_s: float | None = None
    render_wall_s: float | None = None
    usage: Usage = Usage()
    tool_calls: dict[str, int] = Field(default_factory=dict)  # by class


class Amount(Row):
    """What captions took, over those that say it."""

    mean: float | None = None
    median: float | None = None
    total: float | None = None
    n: int = 0


class ToolShare(Row):
    """Tool calls of one class."""

    name: str
    calls: int
    share_percent: float  # of all of the system's
    mean: float  # a caption


class Spent(Row):
    """What a system's captions took: the failed ones too, and without those that we failed at."""

    system: str
    captions: int
    cost_usd: Amount
    minutes: Amount
    rounds: Amount
    tokens: Amount  # all that is billed; parts of it by name below
    parts: dict[str, Amount]
    tool_calls: Amount  # of systems that call tools
    tools: list[ToolShare]


class Cause(Row):
    outcome: Outcome
    count: int
    share_percent: float  # of the failed tasks


class Causes(Row):
    """Why tasks failed."""

    system: str | None  # None: all but floors and ceilings together
    tasks: int  # without those that we failed at
    failed: int
    rate_percent: float | None  # of the tasks; None: there are none
    causes: list[Cause]  # the most frequent first


class EffortLevel(Row):
    """One system of a series: the same model at one level of thinking effort."""

    level: str  # "" where it is left to the model
    system: str


class EffortSeries(Row):
    """Systems that the configuration puts into one series, from low effort to high."""

    name: str
    levels: list[EffortLevel]


class ScoreSet(Row):
    """Retention scores of one judge, of one person, or of all persons together (the mean a focal point)."""

    name: str  # the metric's entry; "people"; "rater 1", by the order of the names
    label: str
    protocol: str = ""
    proxy: bool = False
    points: int  # that it scored


class AgreementRow(Row):
    """Two sets on the focal points that both scored: the means, and how they correlate."""

    first: str
    second: str
    system: str | None  # None: all but floors and ceilings together
    kind: Literal["dynamic", "static", "overall"]
    level: Literal["point", "video"]  # a video's value is the mean over its points of that kind
    n: int  # points or videos
    clips: int  # that these are of
    first_mean: Interval
    second_mean: Interval
    pearson: Interval
    spearman: Interval
    reason: str = ""  # why there is no correlation


class VideoPair(Row):
    """One video's values in two sets, over the points that both scored."""

    first: str
    second: str
    system: str
    clip_id: str
    kind: Literal["dynamic", "static", "overall"]
    first_value: float
    second_value: float
    points: int


class Agreement(Row):
    sets: list[ScoreSet]
    rows: list[AgreementRow]
    videos: list[VideoPair]


class ClipEntry(Row):
    clip_id: str
    category: str
    mp4: Path
    frames: int = Field(ge=1)
    width_px: int
    height_px: int
    source: str = ""
    licence: str = ""
    annotated: bool = False


class Comparison(Row):
    title: str
    systems: list[System]
    columns: list[Column]
    clips: list[ClipEntry]
    main: list[SystemRow]
    by_category: list[CategoryRow]
    differences: list[Difference]
    failures: list[FailureCount]
    tasks: list[TaskEntry]
    spent: list[Spent] = Field(default_factory=list)
    causes: list[Causes] = Field(default_factory=list)
    series: list[EffortSeries] = Field(default_factory=list)
    agreement: Agreement | None = None  # where two sets of retention scores are there
    pairs: list[Pair] = Field(default_factory=list)
    ranks: list[Rank] = Field(default_factory=list)
    detectable: list[Detectable] = Field(default_factory=list)
    correlations: list[MetricCorrelation] = Field(default_factory=list)
    stability: list[Stability] = Field(default_factory=list)
    reconstruction: list[Reconstruction] = Field(default_factory=list)
    published: Published | None = None
    answered: QuestionAnswering | None = None  # where questions were asked
    resamples: int
    problems: list[str] = Field(default_factory=list)  # of the configuration: what is left out of the run, and why
    notes: list[str] = Field(default_factory=list)  # what a reader must know before he believes a number

    @property
    def proxy(self) -> bool:
        return any(column.proxy for column in self.columns)
