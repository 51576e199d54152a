"""What a publisher says of a data set: the configuration's section `dataset`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError, field_validator

from codecap.errors import UserError
from codecap.publish.licences import DEFAULT_ALLOWED, is_pattern
from codecap.records import Row, in_words


class About(Row):
    """Of a data set.

    Attributes:
        licence: of the annotations, tables and metadata; each video keeps its own.
        published: day of the publication, 2026-11-30; by default today's.
        media_licences: SPDX identifiers (a `*` is any version) of those licences under which videos are published.
    """

    name: str = Field(default="codecap-dataset", pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$")
    version: str = Field(default="1.0.0", pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")
    description: str = Field(default="", max_length=5000)
    licence: str = Field(default="CC-BY-4.0", min_length=1, max_length=200)
    url: str = Field(default="", pattern=r"^(https?://\S+)?$", max_length=500)
    creators: tuple[str, ...] = ()
    citation: str = Field(default="", max_length=5000)
    published: str = Field(default="", validate_default=True)
    media_licences: tuple[str, ...] = DEFAULT_ALLOWED

    @field_validator("published")
    @classmethod
    def _is_a_day(cls, told: str) -> str:
        return datetime.date.fromisoformat(told).isoformat() if told else datetime.datetime.now(datetime.UTC).date().isoformat()

    @field_validator("media_licences")
    @classmethod
    def _are_understood(cls, told: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in told:
            if not is_pattern(pattern):
                raise ValueError(f"{pattern!r} is no licence that can allow it; say one by SPDX, as CC-BY-4.0, CC-BY-* or MIT")
        return told

    @staticmethod
    def of(told: Mapping[str, Any]) -> About:
        """From the configuration.

        Raises:
            UserError: a key is unknown or a value is wrong.
        """
        try:
            return About.model_validate({key: value for key, value in told.items() if value is not None})
        except ValidationError as error:
            raise UserError(f"dataset: {in_words(error)}") from error
