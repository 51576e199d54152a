"""Code of captions for a clip's page, with its highlighting: one script a system, which the page takes in when it shows that code.

The script holds the text once, and beside it the lengths of its pieces with a letter for what each is. The page sets the pieces as
text, so that nothing in a model's page can become a part of ours.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

LONGEST_LIT = (
    50_000  # characters; what follows is plain: what fills it is drawn paths, and a hostile page costs the lexer its square
)
LONGEST_SHOWN = 1_000_000  # the whole page lies beside, as text
FEW_PAGES = 200  # below it, starting processes takes longer than they save
KINDS = {  # letters by Pygments' kinds of tokens, the most special first
    "Comment": "c",
    "Keyword": "k",
    "Literal.String": "s",
    "Literal.Number": "n",
    "Name.Tag": "t",
    "Name.Attribute": "a",
    "Name.Function": "f",
    "Name.Builtin": "b",
    "Name.Class": "f",
    "Name.Constant": "n",
    "Operator.Word": "k",
}
PLAIN = "."


class CodeFiles:
    """Writes scripts of code; where there are many, by a process for each processor: they are most of a large report's work.

    To be used in a `with`; at its end all scripts are there. The processes are programs of their own (this module), since one that
    `multiprocessing` starts would first run the workflow's script again.

    Args:
        pages: how many there will be.

    Raises:
        RuntimeError: at the end, when a process ended early; what it says stands in the log.
    """

    def __init__(self, pages: int) -> None:
        count = len(os.sched_getaffinity(0)) if pages > FEW_PAGES else 1
        self._workers = [_start() for _ in range(count)] if count > 1 else []
        self._turn = 0

    def __enter__(self) -> CodeFiles:
        return self

    def place(self, page: Path, script: Path, name: str) -> None:
        """As `place_code`, now or later."""
        if not self._workers:
            place_code(page, script, name)
            return
        worker = self._workers[self._turn % len(self._workers)]
        self._turn += 1
        with contextlib.suppress(BrokenPipeError):  # told at the end
            worker.stdin.write(json.dumps([str(page), str(script), name]) + "\n")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for worker in self._workers:
            if kind is not None:
                worker.kill()
            with contextlib.suppress(BrokenPipeError):
                worker.stdin.close()
        ends = [worker.wait() for worker in self._workers]
        if kind is None and any(ends):
            raise RuntimeError(f"a process that highlights code ended with {next(filter(None, ends))}")


def _start() -> subprocess.Popen[str]:
    library = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(library), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", "codecap.report.code_files"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True, encoding="utf-8", env=os.environ | {"PYTHONPATH": path})


def place_code(page: Path, script: Path, name: str) -> None:
    """Write the script of a page's code.

    Args:
        page: as it lies in the report's folder.
        name: the system's in addresses, which the page's script knows it by.
    """
    whole = page.read_bytes().decode("utf-8-sig", "replace")
    text = whole[:LONGEST_SHOWN].replace("\r\n", "\n").replace("\r", "\n")
    told: dict[str, Any] = {"text": text, "runs": runs_of(text), "cut": len(whole) - min(len(whole), LONGEST_SHOWN)}
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        f"takeCode({json.dumps(name)}, {json.dumps(told, ensure_ascii=False, separators=(',', ':'))});\n", encoding="utf-8"
    )


def runs_of(text: str) -> str:
    """Pieces of an HTML page as `4t12.`: four units of a tag's name, twelve of nothing special. What no piece is of stays plain.

    Units are those of JavaScript's strings, of which a character outside of the basic plane takes two.

    Blanks belong to the piece before them.

    >>> runs_of("<b>1</b>")
    '1.1t4.1t1.'
    """
    runs: list[str] = []
    last, units = PLAIN, 0
    for _, token, value in _lexer().get_tokens_unprocessed(text[:LONGEST_LIT]):
        kind = last if value.isspace() else _kind(token)
        if kind != last and units:
            runs.append(f"{units}{last}")
            units = 0
        last = kind
        units += len(value) if value.isascii() else len(value.encode("utf-16-le")) // 2
    return "".join(runs) + (f"{units}{last}" if units else "")


@cache
def _lexer() -> Any:
    """Pygments' lexer of HTML, scripts and styles, but for entities: its own rule looks for their end through all the page."""
    from pygments.lexers.html import HtmlLexer
    from pygments.token import Name

    class Page(HtmlLexer):
        tokens = {
            **HtmlLexer.tokens,
            "root": [(r"&[#\w]{1,32};", Name.Entity) if rule[0].startswith("&") else rule for rule in HtmlLexer.tokens["root"]],
        }

    return Page()


@cache
def _kind(token: Any) -> str:
    """The letter of a kind of token, or of the nearest kind above it."""
    path = str(token).removeprefix("Token.")
    while path:
        if path in KINDS:
            return KINDS[path]
        path = path.rpartition(".")[0]
    return PLAIN


if __name__ == "__main__":
    for line in sys.stdin:
        page_of, script_of, system = json.loads(line)
        place_code(Path(page_of), Path(script_of), system)
