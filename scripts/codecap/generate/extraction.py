"""The page in a model's answer.

Where it is looked for, in this order: in code fences, the last complete document counts, as models that give several end with the
one they mean; then in the bare text, from where a document begins to its last `</html>`. A fence may be closed right behind the
page's `</html>`; where it is not closed at all, what follows `</html>` is no part of the page, since it may be prose. Thinking that
servers of open models leave before the answer is passed over.

A page is complete when it begins as a document (`<!doctype html>` or `<html`) and is closed by `</html>`, a tag of the document and
not a text in a script or an attribute. That is all that is asked of it here, **ours**: whether its script runs and defines
`window.seek` is found out by running it, and told apart by the renderer (`runtime_error`, `missing_seek`). Nothing is mended: what
was cut off stays incomplete, and files that a page refers to are not put together with it.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import NamedTuple

LONGEST_QUOTE = 160  # characters of what a model said in place of a page
MOST_BEGINNINGS = 20  # of documents that are looked at: each look reads the rest of the text
MOST_PARTS = 1_000_000  # tags and texts that all looks together read; a page of code has some thousands
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?(?![\w-])(?:.*?</think(?:ing)?>|.*\Z)", re.DOTALL)
_THOUGHT_ENDS = re.compile(r"</think(?:ing)?>")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_FENCE_BEHIND = re.compile(r"(?P<line>.*</html>)[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*", re.IGNORECASE)
_FENCE_LEFT = re.compile(r"(?:\A[ \t]*|^ {0,3})(?:`{3}|~{3})", re.MULTILINE)
_BEGINS = re.compile(r"<!doctype\s+html\b|<html[\s>]", re.IGNORECASE)
_CLOSES = re.compile(r"</html", re.IGNORECASE)
_FILE_NAME = re.compile(r"\A\s*(?:(?://|#|/\*)\s*)?[\w./-]+\.html?(?:\s*\*/)?:?[ \t]*\n")
_BEGINS_WHOLE = re.compile(r"\A(?:\s|\ufeff|<\?xml[^>]*>|<!--.*?-->)*(?:<!doctype\s+html\b|<html[\s>])", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Found:
    """Attributes:
    page: a complete document, ended by a line break; None where there is none.
    reason: why there is none, in words.
    """

    page: str | None
    reason: str = ""


def page_in(answer: str, cut_off: bool = False) -> Found:
    """The page in an answer.

    Args:
        cut_off: the answer ended at the limit of output tokens.

    >>> page_in("Here it is:\\n```html\\n<!doctype html><html><p>1</p></html>\\n```\\nIt moves.").page
    '<!doctype html><html><p>1</p></html>\\n'
    >>> page_in("<html><body>", cut_off=True).reason
    'cut off at the limit of output tokens, within the page'
    """
    text = without_thinking(answer.replace("\r\n", "\n"), page=True)
    whole = [page for page in map(_page_of, blocks(text)) if page is not None] or documents(text)
    if whole:
        return Found(whole[-1].strip("\ufeff \t\n") + "\n")
    return Found(None, _why_not(text, cut_off))


def without_thinking(answer: str, page: bool = False) -> str:
    """An answer without the thinking before it: in tags; without the opening one, which some chat templates put into the prompt; or
    never closed, and then it is all of the answer.

    Args:
        page: it may hold a page. What has begun as a page or a code block before the closing tag is no thinking.

    >>> without_thinking("A box, I see.</think>\\nA box moves.")
    '\\nA box moves.'
    """
    rest, opened = _THOUGHT.subn("", answer, count=1)
    closing = None if opened else _THOUGHT_ENDS.search(answer)
    if closing is None:
        return rest
    before = answer[: closing.start()]
    begun = page and (_BEGINS.search(before) or _FENCE_LEFT.search(before))
    return answer if begun or "<think" in before else answer[closing.end() :]


class Block(NamedTuple):
    """What a code fence holds, and whether the fence was closed."""

    text: str
    closed: bool = True


def blocks(text: str) -> list[Block]:
    """Code fences of a Markdown text, in order. One may be closed right behind `</html>`; one that is not reaches to the end."""
    found: list[Block] = []
    mark, held = "", []
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark:
            behind = _FENCE_BEHIND.fullmatch(line)
            ends = fence is not None and fence["mark"].startswith(mark) and not fence["info"].strip()
            if behind and behind["mark"].startswith(mark):
                held.append(behind["line"])
                ends = True
            if ends:
                found.append(Block("\n".join(held)))
                mark, held = "", []
            else:
                held.append(line)
        elif fence and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            mark = fence["mark"]
    return [*found, Block("\n".join(held), closed=False)] if mark else found


def _page_of(block: Block) -> str | None:
    """The whole block, where it is one page: its file's name may come before it, and a script after its `</html>`. Else its last
    document."""
    text = _FILE_NAME.sub("", block.text)
    found = documents(text) if _BEGINS_WHOLE.match(text) else []
    if not found:
        return None
    after = text[text.index(found[0]) + len(found[0]) :]
    return text if block.closed and not _FENCE_LEFT.search(after) else found[-1]


def documents(text: str) -> list[str]:
    """Complete documents in a text, each from its beginning to its `</html>`; what a script or an attribute holds is none.

    A document with more than `MOST_PARTS` tags and texts before its end is none either.
    """
    found, left = [], MOST_PARTS
    last_close = max((close.start() for close in _CLOSES.finditer(text)), default=-1)
    begin = _BEGINS.search(text)
    for _ in range(MOST_BEGINNINGS):
        if begin is None or begin.start() > last_close or left <= 0:
            break
        walk = _Walk(text[begin.start() :], left)
        left -= walk.parts
        if walk.end is not None:
            found.append(text[begin.start() : begin.start() + walk.end])
        goes_on = walk.end or walk.restart
        if goes_on is None:  # it is not closed: what follows is its own, such as a document in a script of it
            break
        begin = _BEGINS.search(text, begin.start() + goes_on)
    return found


class _Walk(HTMLParser):
    """Where the document that a text begins with ends, or where another one begins before it has.

    Args:
        most: parts of it that are read.

    Attributes:
        end: after its `</html>`; None where it has none.
        restart: of the other document; None where there is none.
        parts: that were read.
    """

    def __init__(self, text: str, most: int) -> None:
        super().__init__(convert_charrefs=False)
        self._most, self.parts = most, 0
        self.end: int | None = None
        self.restart: int | None = None
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._text = text
        with contextlib.suppress(_Over):
            self.feed(text)

    def updatepos(self, i: int, j: int) -> int:
        """Called for each part."""
        self.parts += 1
        if self.parts > self._most:
            raise _Over
        return super().updatepos(i, j)

    def handle_endtag(self, tag: str) -> None:
        if tag == "html":
            closed = self._text.find(">", self._place())
            self.end = closed + 1
            raise _Over

    def handle_decl(self, decl: str) -> None:
        if decl.lower().startswith("doctype") and self._place() > 0:
            self.restart = self._place()
            raise _Over

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """`<![anything[` is a comment to a browser, and an error to the parser."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


class _Over(Exception):
    """What was looked for is found."""


def _why_not(text: str, cut_off: bool) -> str:
    begun = _BEGINS.search(text) is not None
    thought_only = not text.strip()
    if cut_off:
        where = "within the page" if begun else "before anything but thinking" if thought_only else "before the page"
        return f"cut off at the limit of output tokens, {where}"
    if begun:
        return "the page is not closed by </html>"
    if thought_only:
        return "the answer is empty"
    words = " ".join(text.split())
    return f"no page in the answer: {words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + '…'}"
