"""The page's time stands where `seek` put it: a script that runs before the page's own, in every frame, for every engine.

It virtualises Date, performance, timers and other delays, animation frames and random numbers, holds CSS and Web Animations,
SMIL and the animated pictures of `<img>` at the clock, and finishes CSS transitions. The clock stands during a seek, but passes
for a task that reads it more than 10,000 times, which may wait for it. The engine drives it through one frozen object on `window`,
whose calls return promises:

- `ready(wait_ms)`: the page starts up at time 0; true when it has a `window.seek`, for which it is given `wait_ms` of virtual and
  of real time.
- `seek(seconds)`: one frame. `{state: "done" | "missing", settle: bool}`; `settle` says that the page uses something that only a
  frame drawn for real can serve, so that one more is to be drawn before the picture. It is rejected with the page's own error.
- `settle()`: what is left to do after such a frame; true when another would be needed.

Media elements are not held, nor is the time in workers and in frames of another origin driven. Animated pictures run by real time
where they are no `<img>`: in CSS (backgrounds, masks, borders) and in SVG's `<image>`; and where the page's own content policy
forbids `blob:` pictures, or reading the picture by `fetch`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

CONTROL = "__codecap"
PARTS = (
    "virtual/clock.js",
    "virtual/window.js",
    "virtual/animations.js",
    "virtual/animation_controls.js",
    "virtual/smil.js",
    "virtual/images.js",
    "virtual/control.js",
)


@cache
def init_script(seed: int = 24) -> str:
    """The script for `Page.addScriptToEvaluateOnNewDocument` or Playwright's `add_init_script`, for the page's own world.

    Args:
        seed: of Math.random and crypto's random numbers, a 32-bit integer. Each seek starts Math.random anew from it and the time.

    Raises:
        ValueError: the seed has more than 32 bits.
    """
    if not -(2**31) <= seed < 2**32:
        raise ValueError(f"the seed {seed} has more than 32 bits")
    folder = Path(__file__).parent
    parts = "\n".join((folder / name).read_text(encoding="utf-8") for name in PARTS)
    return f'((CONTROL, SEED) => {{\n"use strict";\n{parts}}})({json.dumps(CONTROL)}, {seed});\n'


def ready_call(wait_ms: float) -> str:
    """The JavaScript expression of a promise of `ready`."""
    return f"window.{CONTROL}.ready({wait_ms!r})"


def seek_call(seconds: float) -> str:
    """The JavaScript expression of a promise of `seek`.

    >>> seek_call(0.5)
    'window.__codecap.seek(0.5)'
    """
    return f"window.{CONTROL}.seek({seconds!r})"


def settle_call() -> str:
    """The JavaScript expression of a promise of `settle`."""
    return f"window.{CONTROL}.settle()"
