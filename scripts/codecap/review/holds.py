"""Who works on a clip: one tab of one person at a time, as long as it says so.

A hold is a small file beside the clip's journals, so that servers of several people see it. It ends by itself `HOLD_S` after the
tab renewed it last, by the clocks of the machines that the servers run on.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from codecap import store
from codecap.records import RecordError, Row, read_record, write_record
from codecap.store.leases import lease

HOLD_S = 30.0
Tab = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class Holder(Row):
    """The tab that holds a clip.

    Attributes:
        until: Unix seconds.
    """

    who: str
    tab: Tab
    until: float


@dataclass(frozen=True)
class Hold:
    """What a tab is told: whether it holds the clip, and who does."""

    mine: bool
    by: str | None
    tab: str | None

    def told(self) -> dict[str, bool | str | None]:
        return vars(self).copy()


def look(place: Path, who: str, tab: str | None) -> Hold:
    """Who holds it now; nobody, where no hold runs."""
    return _seen(_holder(place), who, tab)


def hold(place: Path, who: str, tab: str, take: bool = False) -> Hold:
    """Hold a free one, or renew one's hold; with `take` from another as well.

    Returns:
        Who holds it then.
    """
    store.make_folder(place.parent)
    with lease(place):
        holder = _holder(place)
        if take or holder is None or (holder.who, holder.tab) == (who, tab):
            holder = Holder(who=who, tab=tab, until=time.time() + HOLD_S)
            write_record(place, holder)
        return _seen(holder, who, tab)


def release(place: Path, who: str, tab: str) -> None:
    """Let go of it, if it is held."""
    if not place.exists():
        return
    with lease(place):
        if _seen(_holder(place), who, tab).mine:
            place.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        place.parent.rmdir()  # where nothing was edited, nothing stays


def _holder(place: Path) -> Holder | None:
    with contextlib.suppress(OSError, RecordError):
        holder = read_record(place, Holder)
        return holder if holder.until > time.time() else None
    return None


def _seen(holder: Holder | None, who: str, tab: str | None) -> Hold:
    if holder is None:
        return Hold(mine=False, by=None, tab=None)
    return Hold(mine=(holder.who, holder.tab) == (who, tab), by=holder.who, tab=holder.tab)
