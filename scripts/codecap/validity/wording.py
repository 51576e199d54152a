"""Wrong words: the page that a demo clip was made from, drawn with other letters in a share of its words."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from codecap.records import Certificate, Clip, Outcome
from codecap.render import InfraError, render_page
from codecap.render.settings import RenderSettings
from codecap.validity.demo import PAGES

SCRIPT = "wrong_words.js"
DRAWS_WORDS = "fillText"


def shows_words(clip_id: str, pages: Path = PAGES) -> bool:
    """Whether a clip's page draws words."""
    page = pages / f"{clip_id}.html"
    return page.is_file() and DRAWS_WORDS in page.read_text(encoding="utf-8")


def page_digest(clip_id: str, pages: Path = PAGES) -> str:
    """sha256 of a clip's page."""
    return hashlib.sha256((pages / f"{clip_id}.html").read_bytes()).hexdigest()


def worded(page: str, share: float) -> str:
    """A page that draws a share of its words with other letters, from its first script on.

    >>> worded("<!doctype html><script>1</script>", 0.5).startswith("<!doctype html><script>const WRONG_SHARE = 0.5;")
    True
    """
    script = (Path(__file__).parent / SCRIPT).read_text(encoding="utf-8")
    before, first, rest = page.partition("<script>")
    return f"{before}{first}const WRONG_SHARE = {share!r};\n{script}</script>\n{first}{rest}"


def draw(clip: Clip, share: float, mp4: Path, pages: Path = PAGES) -> Certificate:
    """Draw a clip's page with wrong words, as many frames as the clip has.

    Raises:
        InfraError: the page did not come out; the message says why.
    """
    source = pages / f"{clip.clip_id}.html"
    with tempfile.TemporaryDirectory(prefix="codecap-") as folder:
        page = Path(folder) / source.name
        page.write_text(worded(source.read_text(encoding="utf-8"), share), encoding="utf-8")
        made = render_page(page, clip.frames, clip.width_px, clip.height_px, mp4, RenderSettings())
    if made.outcome is not Outcome.OK:
        raise InfraError(f"{source}: cannot be drawn with wrong words: {made.outcome.value} {made.detail}")
    return made
