"""The config's section `exchange`. Nothing of it is part of a request's digest or of any rule's params."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from codecap.errors import UserError
from codecap.exchange.limits import Limits
from codecap.exchange.prices import TABLE
from codecap.exchange.question import Endpoint
from codecap.records import in_words


class Settings(Limits):
    """Keys of the section.

    Attributes:
        concurrency, requests_per_minute, tokens_per_minute: of each endpoint, see `Limits`.
        endpoints: other limits for single endpoints, by model or by host.
        budget_usd: most that all calls recorded in this store may have cost together; None: no limit.
        budget_calls: most calls that may have been paid for; None: no limit.
        tries: most tries of one question in a run.
        longest_wait_s: longest time from a question's first failure to its last try.
        prices: the price table.
    """

    endpoints: dict[str, dict[str, Any]] = {}
    budget_usd: Decimal | None = Field(default=None, ge=0)
    budget_calls: int | None = Field(default=None, ge=0)
    tries: int = Field(default=8, ge=1, le=100)
    longest_wait_s: float = Field(default=900, gt=0)
    prices: Path = TABLE

    @model_validator(mode="after")
    def _limits_are_right(self) -> Settings:
        for told in self.endpoints.values():
            Limits.model_validate(told)
        return self

    def limits(self, endpoint: Endpoint) -> Limits:
        """An endpoint's limits: what is said of its model, over what is said of its host, over the rest."""
        told = {name: getattr(self, name) for name in Limits.model_fields}
        for name in (endpoint.host, endpoint.model):
            told |= self.endpoints.get(name, {})
        return Limits.model_validate(told)


def of(section: Mapping[str, Any] | None) -> Settings:
    """The settings in a config's section.

    Raises:
        UserError: a key is unknown or a value is wrong.
    """
    try:
        return Settings.model_validate(dict(section or {}))
    except ValidationError as error:
        raise UserError(f"exchange: {in_words(error)}") from error
