"""What a page did while it was drawn that only a page which is not pure code does, however its source hides it.

Three witnesses: requests that the browser refused, loads from the page's own data: and blob: addresses (DevTools' Network events),
and a script in the page (`watch_script`), since pictures and fonts that scripts make of bytes cause no event.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

AT_RUN_TIME = "at run time: "
SEEN = "__codecap_seen"
MOST_SEEN = 5000  # notes of each kind that the script keeps; a page that exports its canvas in each of 60 s of frames stays below
KEY_END = 64
ASKED = {  # what was asked for, by the browser's name of the kind of request
    "image": "an image",
    "media": "a video or a sound",
    "font": "a font",
    "stylesheet": "a style sheet",
    "script": "a script",
    "document": "another page",
    "fetch": "data",
    "xhr": "data",
    "websocket": "a WebSocket",
    "webtransport": "a WebTransport session",
    "eventsource": "an event stream",
    "local": "a local file",
}


@dataclass(frozen=True)
class InlineLoad:
    """Something loaded from a data: or blob: address of the page.

    Attributes:
        kind: as in `ASKED`.
        media: its media type, as the browser understood it.
        key: of the address, without holding all of it.
    """

    kind: str
    media: str
    key: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> InlineLoad | None:
        """From DevTools' event Network.responseReceived; None for loads from elsewhere.

        >>> InlineLoad.of({"type": "Image", "response": {"url": "data:image/gif;base64,R0lG", "mimeType": "image/gif"}})
        InlineLoad(kind='image', media='image/gif', key='26:data:image/gif;base64,R0lG')
        """
        address = told["response"]["url"]
        if not address.startswith(("data:", "blob:")):
            return None
        return cls(told["type"].lower(), told["response"]["mimeType"].lower(), f"{len(address)}:{address[-KEY_END:]}")

    def finding(self) -> str:
        """What it brings that is no code; empty for vectors, scripts and styles."""
        if self.kind in ("font", "media") or (self.kind == "image" and not self.media.startswith("image/svg")):
            return f"made {ASKED[self.kind]} of its own data ({self.media or 'of no told type'})"
        return ""


@cache
def watch_script() -> str:
    """To run in the page's own world and in its frames, before their scripts."""
    source = (resources.files(__package__) / "watch.js").read_text(encoding="utf-8")
    return f'((SEEN, MOST) => {{\n"use strict";\n{source}}})({json.dumps(SEEN)}, {MOST_SEEN});\n'


def seen_call() -> str:
    """The JavaScript expression of what `watch_script` has noted until then, for `observed`."""
    return f"window.{SEEN}()"


def observed(
    requests_blocked: Sequence[str],
    inline_loads: Sequence[InlineLoad] = (),
    seen: Mapping[str, Sequence[str]] | None = None,
    page_address: str = "https://page.invalid/",
) -> list[str]:
    """Findings over what an engine has witnessed, each as `at run time: what`, without repetition, in order.

    Args:
        requests_blocked: "KIND ADDRESS" of each request that was refused; KIND as in `ASKED`.
        inline_loads: what was loaded from data: and blob: addresses. Pictures of the page's own canvases are no findings.
        seen: what `seen_call` gave; None if the page could not be asked any more, and then pictures made by it are not told, since
            they may be its canvases.
        page_address: where the page was served; what is asked for there is told as it was written in the page.

    >>> observed(["image https://page.invalid/a.png"])
    ["at run time: asked for an image 'a.png'"]
    """
    found = []
    for request in requests_blocked:
        kind, _, address = request.partition(" ")
        if request.startswith("and more than") or address == f"{page_address}favicon.ico":
            continue  # no request, and one that browsers make by themselves
        found.append(f"asked for {ASKED.get(kind, f'a {kind}')} {_short(address.removeprefix(page_address))}")
    own = set(seen["exported"]) if seen else set()
    unknown = seen is None or len(own) >= MOST_SEEN
    for load in inline_loads:
        if load.kind == "image" and (unknown or load.key in own):
            continue
        found.append(load.finding())
    if seen:
        found += [f"brought a font, {_short(family)}" for family in seen["fonts"]]
        found += [f"made a picture of bytes by {call}" for call in seen["decoded"]]
    return [AT_RUN_TIME + what for what in dict.fromkeys(found) if what]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:77] + "...")
