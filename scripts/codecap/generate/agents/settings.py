"""What all agents' systems can be told: keys of a system's entry, over those of the configuration's section `agents`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from codecap.exchange import Endpoint
from codecap.exchange.keys import must_stay_at_home
from codecap.records import Row, in_words

LONGEST_DEADLINE_S = 30 * 86_400  # infinity is none that a job could have
UNUSED = ("temperature",)  # of an endpoint: an agent writes its requests itself


class AgentSettings(Row):
    """Keys of an entry.

    Attributes:
        endpoint: the model, see `codecap.exchange.Endpoint`; `thinking` is the agent's effort.
        version: the agent's; by default that in `versions`.
        versions: of the agents, and of the Node.js that is installed for them.
        folder: where they are installed; None: `codecap/agents` in the user's cache folder.
        deadline_s: how long a run may take; the agent is told.
        salvage_counts: whether a complete page that was there at the deadline makes the outcome `ok`; else it is kept beside it.
        at_once: runs at the same time, in each job.
        most_usd, most_rounds, most_calls: of one run, by the gateway's count; None for no limit.
        memory_mb, processes, disk_mb: of all that runs in a sandbox together, see `codecap.generate.sandbox.Box`.
        sandbox: the backend and its own settings.
        render: the configuration's section of this name: how the agent's own renders are made. No part of what a run is known by.
    """

    endpoint: Endpoint
    version: str | None = Field(default=None, pattern=r"^[0-9A-Za-z.+-]+$")
    versions: dict[str, str] = {}
    folder: Path | None = None
    deadline_s: float = Field(default=3600, gt=0, le=LONGEST_DEADLINE_S)
    salvage_counts: bool = False
    at_once: int = Field(default=4, ge=1)
    most_usd: Decimal | None = Field(default=None, gt=0)
    most_rounds: int | None = Field(default=None, ge=1)
    most_calls: int | None = Field(default=None, ge=1)
    memory_mb: int = Field(default=8000, ge=500)
    processes: int = Field(default=1000, ge=50)
    disk_mb: int = Field(default=2000, ge=50)
    sandbox: dict[str, Any] = {"backend": "bwrap"}
    render: dict[str, Any] = {}

    @classmethod
    def of(cls, harness: str, told: Mapping[str, Any]) -> Self:
        """
        Raises:
            ValueError: a key is unknown or a value is wrong.
        """
        try:
            return cls.model_validate(dict(told))
        except ValidationError as error:
            raise ValueError(f"harness {harness}: {in_words(error)}") from error

    @field_validator("most_usd")
    @classmethod
    def _by_its_value(cls, told: Decimal | None) -> Decimal | None:
        """5 and 5.0 are one limit, and make one run."""
        return None if told is None else Decimal(f"{told.normalize():f}")

    @field_validator("endpoint")
    @classmethod
    def _key_stays_at_home(cls, endpoint: Endpoint) -> Endpoint:
        must_stay_at_home(endpoint.key_env, endpoint.address)
        return endpoint

    @model_validator(mode="after")
    def _all_is_used(self) -> Self:
        idle = [name for name in UNUSED if getattr(self.endpoint, name) != Endpoint.model_fields[name].default]
        if idle:
            raise ValueError(f"endpoint.{idle[0]}: an agent writes its requests itself, this would have no effect")
        return self

    def must_think_in(self, harness: str, levels: tuple[str, ...]) -> None:
        """Raises ValueError where the endpoint's `thinking` is none of an agent's levels."""
        level = self.endpoint.thinking
        if level is not None and level not in levels:
            raise ValueError(f"harness {harness}: endpoint.thinking is {level!r}; its levels are {', '.join(levels)}")

    def version_of(self, program: str) -> str:
        """The pinned version of an agent, or of node.

        Raises:
            ValueError: none is named.
        """
        told = self.version if program != "node" and self.version else self.versions.get(program)
        if told is None:
            raise ValueError(f"agents.versions: names no version of {program}")
        return told
