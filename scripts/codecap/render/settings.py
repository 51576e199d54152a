"""Settings of a render, as in the config's `render` section."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

PURITY = ("record", "fail")
LEAST_MEMORY_MB = 300


@dataclass(frozen=True)
class RenderSettings:
    """How pages are rendered.

    Attributes:
        engine: plugin of `codecap.render.engines`.
        limit_s: longest time for a whole page, from its opening to the last of its frames; then `render_timeout`.
        load_limit_s: longest time until the page's load event.
        seek_limit_s: longest time for one `seek` and the picture after it.
        seek_wait_s: how long a page that has loaded may take to define `window.seek`.
        repeat_samples: frames that are asked for again, backwards and shuffled, to see whether `seek` is repeatable; 0: not tested.
        skip_unchanged: take no picture of a frame in which nothing has changed (engine `beginframe`); gives the same frames.
        memory_mb: what a page's browser may hold, all its processes together; then `render_crash`.
        codec: of the video: see `codecap.video.CanonicalWriter`.
        purity: "record" what is no code in a page, or "fail" it: `runtime_error`.
    """

    engine: str = "beginframe"
    limit_s: float = 900.0
    load_limit_s: float = 60.0
    seek_limit_s: float = 20.0
    seek_wait_s: float = 2.0
    repeat_samples: int = 3
    skip_unchanged: bool = True
    memory_mb: int = 2000
    codec: str = "h264"
    purity: str = "record"

    @classmethod
    def of(cls, told: Mapping[str, Any] | RenderSettings) -> RenderSettings:
        """Settings from a mapping; what it does not name keeps its default.

        Raises:
            ValueError: a key that is not a setting, or a limit that is not a positive number.

        >>> RenderSettings.of({"seek_limit_s": 5}).seek_limit_s
        5
        """
        if isinstance(told, RenderSettings):
            return told
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(told) - set(known))
        if unknown:
            raise ValueError(f"render: unknown setting {', '.join(unknown)}; known are {', '.join(known)}")
        settings = cls(**told)
        for name in ("limit_s", "load_limit_s", "seek_limit_s", "seek_wait_s"):
            if not math.isfinite(getattr(settings, name)):
                raise ValueError(f"render: {name} is {getattr(settings, name)}; it must be a number of seconds")
        if settings.memory_mb < LEAST_MEMORY_MB:
            raise ValueError(f"render: memory_mb is {settings.memory_mb}; a browser alone needs {LEAST_MEMORY_MB}")
        for name in ("limit_s", "load_limit_s", "seek_limit_s"):
            if getattr(settings, name) <= 0:
                raise ValueError(f"render: {name} is {getattr(settings, name)}; it must be above 0")
        if settings.seek_wait_s < 0 or settings.repeat_samples < 0:
            raise ValueError("render: seek_wait_s and repeat_samples must not be negative")
        if settings.purity not in PURITY:
            raise ValueError(f"render: purity is {settings.purity!r}; it is one of {', '.join(PURITY)}")
        return settings
