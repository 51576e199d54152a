"""What an agent did, as its logs tell it, and what its calls of tools were for.

A call's class is found from the tool and from what it was told, never from what came of it:

    view_reference    looks at a picture of the reference, with a tool that shows pictures
    analyse_frames    takes frames out of the reference, or measures them: `frames`, ffmpeg, Python with a library of pictures
    write_code        writes or edits the page: a file tool on HTML, CSS, JavaScript or SVG, a patch, a shell that writes one
    render_compare    draws the page or compares it: `render`, `compare`, a browser, and looking at what these have written
    other             all else: listing, reading texts, asking for the time left

A shell command of several parts counts once, for the first of render_compare, write_code, analyse_frames that any part is.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

ToolClass = Literal["view_reference", "analyse_frames", "write_code", "render_compare", "other"]
CLASSES: tuple[ToolClass, ...] = ("view_reference", "analyse_frames", "write_code", "render_compare", "other")

LONGEST_TOLD = 100_000  # characters of what a tool was told that are looked at
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
CODE = (".html", ".htm", ".css", ".js", ".mjs", ".svg")
DRAWN_INTO = {"render": "render", "compare": "compare.png"}  # where the commands write when they are not told
BROWSERS = re.compile(r"\b(chromium|chrome|google-chrome|playwright|puppeteer|selenium|firefox)\b")
MEASURES = re.compile(
    r"\b(ffmpeg|ffprobe|imageio|cv2|PIL|skimage|numpy)\b|\bimport av\b|\b(identify|magick)\b|/input/video\.mp4|CODECAP_VIDEO"
)
WRITES_CODE = re.compile(
    r"(>|\btee\b(\s+-a)?)\s*['\"]?[^\s'\"|;&<>]+\.(html?|css|m?js|svg)\b"
    r"|\bsed\b[^|;&\n]*\s-i[^|;&\n]*\.(html?|css|m?js|svg)\b"
    r"|\b(cp|mv)\b[^|;&\n]*\.(html?|css|m?js|svg)\b"
    r"|open\(\s*['\"][^'\"]+\.(html?|css|m?js|svg)['\"]\s*,\s*['\"][wa]"
    r"|['\"][^'\"]+\.(html?|css|m?js|svg)['\"]\s*\)\s*\.write_text"
    r"|\bapply_patch\b"
)
_SEPARATORS = re.compile(r"\|\||&&|[;|&\n(){}]")


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        action: what kind of tool it is: "shell", "look" (at a picture or a text), "write" (or edit a file), "other".
        told: the command, or the file's place; for a patch its text.
        tool: the agent's own name of it.
    """

    action: Literal["shell", "look", "write", "other"]
    told: str
    tool: str = ""


@dataclass(frozen=True)
class Trace:
    """What an agent's logs say of a run.

    Attributes:
        calls: of tools, in order.
        rounds: answers of the model that the agent has logged; the gateway's count is what a row has.
        said: the last that the model said in words.
        stop: why its last answer ended, in the agent's words: "end_turn", "toolUse", "refusal", "error"; "" where it does not say.
        errors: what the agent complained of, the last of them.
    """

    calls: tuple[ToolCall, ...] = ()
    rounds: int = 0
    said: str = ""
    stop: str = ""
    errors: tuple[str, ...] = ()

    @property
    def by_class(self) -> dict[str, int]:
        """Calls of each class, those that are 0 too."""
        counted = Counter(classes_of(self.calls))
        return {name: counted[name] for name in CLASSES}


@dataclass
class _Drawn:
    """Places that `render` and `compare` have written to, as far as the commands say."""

    places: set[str] = field(default_factory=set)

    def note(self, name: str, words: list[str]) -> None:
        place = DRAWN_INTO[name]
        for at, word in enumerate(words):
            if word in ("-o", "--out") and at + 1 < len(words):
                place = words[at + 1]
            elif word.startswith("--out="):
                place = word.removeprefix("--out=")
        self.places.add(_plain(place))

    def holds(self, path: str) -> bool:
        told = PurePosixPath(_plain(path))
        return any(str(place) in self.places for place in (told, *told.parents) if str(place) != ".")


def classes_of(calls: Iterable[ToolCall]) -> list[ToolClass]:
    """The class of each call, in order: what an earlier one has drawn, a later one may look at."""
    drawn = _Drawn()
    return [_class_of(call, drawn) for call in calls]


def _class_of(call: ToolCall, drawn: _Drawn) -> ToolClass:
    told = call.told[:LONGEST_TOLD]
    if call.action == "shell":
        return _of_shell(told, drawn)
    if call.action == "look":
        if not told.lower().endswith(PICTURES):
            return "other"
        return "render_compare" if drawn.holds(told) else "view_reference"
    if call.action == "write":
        if told.lower().endswith(CODE) or call.tool == "apply_patch":
            return "write_code"
        return "analyse_frames" if told.lower().endswith(".py") else "other"
    return "other"


def _of_shell(command: str, drawn: _Drawn) -> ToolClass:
    parts = [_words(part) for part in _SEPARATORS.split(_without_here_documents(command))]
    names = [(PurePosixPath(words[0]).name, words) for words in parts if words]
    draws = False
    for name, words in names:
        if name in DRAWN_INTO:
            drawn.note(name, words[1:])
            draws = True
    if draws or BROWSERS.search(command):
        return "render_compare"
    if WRITES_CODE.search(command):
        return "write_code"
    if any(name == "frames" for name, _ in names) or MEASURES.search(command):
        return "analyse_frames"
    return "other"


def _without_here_documents(command: str) -> str:
    """Without what a shell would hand to a program as its input: a page's text is no command."""
    kept, end = [], ""
    for line in command.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        begun = re.search(r"<<-?\s*['\"]?([A-Za-z_][A-Za-z0-9_]*)", line)
        end = begun[1] if begun else ""
    return "\n".join(kept)


def _words(part: str) -> list[str]:
    """The words of a simple command, without what is set before it (`A=1 timeout 60 render page`)."""
    try:
        words = shlex.split(part, comments=True)
    except ValueError:
        words = part.split()
    while words and (re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]) or words[0] in ("time", "exec", "then", "do", "else", "if", "!")):
        words = words[1:]
    if len(words) > 2 and words[0] == "timeout":
        words = words[2:]
    return words


def _plain(path: str) -> str:
    told = path.removeprefix("file://").removeprefix("/work/")
    return str(PurePosixPath(told))
