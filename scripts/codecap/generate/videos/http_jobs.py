"""Videos by a hosted service of jobs: ordered, asked about until they are done, downloaded. Settings: `JobApi`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap.exchange import at_once, opened
from codecap.generate.jobs.api import JobApi
from codecap.generate.jobs.running import Jobs
from codecap.generate.videos import Order


def load(settings: Mapping[str, Any]) -> HttpJobs:
    return HttpJobs(JobApi.model_validate(dict(settings)))


class HttpJobs:
    """Use within an open `codecap.exchange.session`."""

    def __init__(self, api: JobApi) -> None:
        self.api = api
        self.protocol = f"{api.model}, {api.shortest_s:g}-{api.longest_s:g} s"
        self.identity = {"video": "http_jobs", **api.identity}

    @property
    def at_once(self) -> int:
        return at_once(self.api)

    def version(self) -> str:
        return self.api.model

    def make(self, order: Order, out: Path) -> dict[str, Any]:
        done = Jobs(opened(), self.api).video(order, out)
        return {
            "job": done.job,
            "answer": done.answer,
            "seconds_ordered": self.api.seconds(order),
            "usage": done.usage.model_dump(),
            "cost_usd": None if done.usd is None else float(done.usd),
            "wall_s": done.wall_s,
        }

    def spoilt(self, order: Order) -> str:
        return Jobs(opened(), self.api).spoilt(order)
