"""What tokens cost: the dated price table, and exact sums.

Prices are US dollars for a million tokens, so tokens times price are millionths of a dollar, exact in decimals.
"""

from __future__ import annotations

import datetime
import fnmatch
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from codecap import config as configuration
from codecap.errors import UserError
from codecap.records import Row, Usage, in_words

TABLE = configuration.PROJECT / "config" / "prices.yaml"
MILLION = Decimal(1_000_000)


class Rates(Row):
    """USD for a million tokens.

    Attributes:
        input: not from a cache.
        cache_read, cache_write: where the provider has such prices; otherwise they cost what input does.
        output: thinking included.
    """

    input: Decimal = Field(ge=0)
    cache_read: Decimal | None = Field(default=None, ge=0)
    cache_write: Decimal | None = Field(default=None, ge=0)
    output: Decimal = Field(ge=0)

    def usd(self, usage: Usage) -> Decimal:
        millionths = (
            usage.input_uncached * self.input
            + usage.input_cache_read * (self.input if self.cache_read is None else self.cache_read)
            + usage.input_cache_write * (self.input if self.cache_write is None else self.cache_write)
            + usage.output * self.output
        )
        return millionths / MILLION


class LongContext(Rates):
    """The rates of a whole request whose input, cached or not, is larger than `above_tokens`."""

    above_tokens: int = Field(gt=0)


class Dated(Rates):
    """A model's rates from a day on (UTC), until the next entry's."""

    since: datetime.date = Field(alias="from")
    long_context: LongContext | None = None


class Priced(Row):
    """One entry of the table.

    Attributes:
        models: names as endpoints have them; * stands for any characters.
        host: of the servers that it holds for; * for any.
        source: where the prices were read.
        prices: in any order.
    """

    models: list[str] = Field(min_length=1)
    host: str = "*"
    source: str = Field(min_length=1)
    prices: list[Dated] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_a_day(self) -> Priced:
        days = [dated.since for dated in self.prices]
        if len(set(days)) < len(days):
            raise ValueError("two prices from the same day")
        return self


class PriceTable:
    """All prices of a table; the first entry that names a model counts."""

    def __init__(self, entries: list[Priced], path: Path) -> None:
        self.entries, self.path = entries, path

    @classmethod
    def read(cls, path: Path = TABLE) -> PriceTable:
        """Read a price table.

        Raises:
            UserError: it is missing or wrong; the message names the file and the place.
        """
        told = configuration.read(path)
        if set(told) != {"models"} or not isinstance(told["models"], list):
            raise UserError(f"{path}: must have one key, models, with a list of entries")
        entries = []
        for number, entry in enumerate(told["models"], start=1):
            try:
                entries.append(Priced.model_validate(_exact(entry)))
            except ValidationError as error:
                raise UserError(f"{path}: entry {number} of models: {in_words(error)}") from error
        return cls(entries, Path(path))

    def rates(self, model: str, host: str, day: datetime.date) -> Dated | None:
        """A model's rates on a day; None when the table has none."""
        for entry in self.entries:
            if fnmatch.fnmatchcase(host, entry.host) and any(fnmatch.fnmatchcase(model, name) for name in entry.models):
                until_then = [dated for dated in entry.prices if dated.since <= day]
                return max(until_then, key=lambda dated: dated.since, default=None)
        return None

    def usd(self, model: str, host: str, day: datetime.date, usage: Usage) -> Decimal | None:
        """What a call cost, exactly; None when the model has no price that day."""
        dated = self.rates(model, host, day)
        if dated is None:
            return None
        whole = usage.input_uncached + usage.input_cache_read + usage.input_cache_write
        long = dated.long_context
        return (long if long is not None and whole > long.above_tokens else dated).usd(usage)

    def how_to_add(self, model: str) -> str:
        return f"no price for {model!r} today in {self.path}; add an entry there (0 for a server of your own)"


def _exact(told: Any) -> Any:
    """Numbers as they were written: 0.1, not the nearest binary fraction."""
    if isinstance(told, dict):
        return {key: _exact(value) for key, value in told.items()}
    if isinstance(told, list):
        return [_exact(value) for value in told]
    return str(told) if isinstance(told, float) else told


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def cents(usd: Decimal) -> str:
    """An amount as tables show it.

    >>> cents(Decimal("1.005")), cents(Decimal("0.00042"))
    ('1.00', '0.00042')
    """
    if usd and usd < Decimal("0.01"):
        return f"{usd.normalize():f}"
    return f"{usd.quantize(Decimal('0.01'))}"
