"""How videos are shown to a model: settings that all who ask about videos share, and what is said beside each picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import Field, field_validator

from codecap.clock import time_of
from codecap.exchange import Endpoint, Picture, Text
from codecap.exchange.keys import must_stay_at_home
from codecap.records import Row
from codecap.showing.album import ENCODINGS, Encoding
from codecap.showing.sheets import Limits, Sheet
from codecap.store import digest_of


class Showing(Row):
    """Keys of the config.

    Attributes:
        endpoint: the model that is asked, see `codecap.exchange.Endpoint`.
        rate_hz: frames of the global grid that are shown a second.
        longest_px, largest_mpx: longest side and area of a picture, in pixels and in millions of pixels; larger frames and grids
            are scaled down to them, nothing is enlarged. More is lost at the provider, who scales down what is larger.
        picture: how pictures are encoded: "jpeg" (quality 95, colour at full resolution) or "png" (two to three times the size).
        most_output_tokens: limit of an answer, thinking included.
    """

    endpoint: Endpoint
    rate_hz: float = Field(default=2, gt=0, le=24)
    longest_px: int = Field(default=2048, ge=256)
    largest_mpx: float = Field(default=2.5, ge=0.06)
    picture: Encoding = "jpeg"
    most_output_tokens: int = Field(default=8192, ge=256)

    @field_validator("endpoint")
    @classmethod
    def _key_stays_at_home(cls, endpoint: Endpoint) -> Endpoint:
        must_stay_at_home(endpoint.key_env, endpoint.address)
        return endpoint

    @property
    def limits(self) -> Limits:
        return Limits(self.longest_px, int(self.largest_mpx * 1e6))

    @property
    def told(self) -> str:
        """What of this makes the numbers, readable."""
        asked = [self.endpoint.model]
        asked += [f"temperature {self.endpoint.temperature:g}"] if self.endpoint.temperature is not None else []
        asked += [f"thinking {self.endpoint.thinking}"] if self.endpoint.thinking is not None else []
        asked += [f"by {self.endpoint.api} {self._request}"]
        size = f"{ENCODINGS[self.picture][2]} up to {self.longest_px} px and {self.largest_mpx:g} Mpx"
        return f"{' '.join(asked)}, {self.rate_hz:g} fps, {size}, grids above {self.endpoint.images} pictures"

    @property
    def _request(self) -> str:
        """Digest of what else is in each request."""
        told = self.endpoint.model_dump(mode="json", include={"output_limit", "structured", "extra"})
        return digest_of([told, self.most_output_tokens])[:6]


class Pictures(Protocol):
    def __getitem__(self, sheet: Sheet) -> Picture: ...


def seconds(frame: int) -> str:
    """
    >>> seconds(35)
    '1.458'
    """
    return f"{time_of(frame):.3f}"


def shown(whose: str, sheets: Sequence[Sheet], pictures: Pictures | Mapping[Sheet, Picture]) -> list[Text | Picture]:
    """Each picture after a line that says whose it is and the time of each of its frames."""
    parts: list[Text | Picture] = []
    for sheet in sheets:
        times = ", ".join(f"{seconds(frame)} s" for frame in sheet.frames)
        order = ""
        if len(sheet.frames) > 1:
            order = f"grid, {sheet.columns} across and {sheet.rows} down, from left to right, then from top to bottom: "
        parts += [Text(f"{whose}, {order}{times}"), pictures[sheet]]
    return parts
