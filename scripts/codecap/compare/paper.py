"""What stands beside the paper's tables, as records: ours, and why the two can or cannot be compared."""

from __future__ import annotations

from pydantic import Field

from codecap.compare.estimates import Estimate
from codecap.records import Row


class Reconstruction(Row):
    """A code system and a caption-to-video system of one model, as the paper's Table 3."""

    model: str
    code: str
    filmed: str


class PublishedCell(Row):
    """A number of the paper, ours beside it, and why the two cannot be compared."""

    column: str
    label: str
    published: float
    ours: Estimate | None = None
    reasons: list[str] = Field(default_factory=list)  # of this column alone


class PublishedLine(Row):
    """A line of one of the paper's tables.

    Attributes:
        heads: what names the line, by the table's own column heads.
        system: ours that it stands beside; None where the run has none.
        reasons: why the line cannot be compared, whatever the column. None here and in its cells: as far as the paper tells it,
            both were made by the same protocol.
    """

    heads: dict[str, str]
    group: str = ""
    system: str | None = None
    reasons: list[str] = Field(default_factory=list)
    cells: list[PublishedCell]

    @property
    def here(self) -> bool:
        """This run has something beside it."""
        return self.system is not None or any(cell.ours is not None for cell in self.cells)


class PublishedTable(Row):
    name: str  # table_1
    title: str
    lines: list[PublishedLine]


class Published(Row):
    """The paper's tables beside ours."""

    source: str
    tables: list[PublishedTable]
    untold: list[str]  # what the paper does not tell, so that nobody can compare it
