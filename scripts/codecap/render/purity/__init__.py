"""Does a page hold only code? What its source holds (`findings`) and what it did while it was drawn (`observed`).

A finding is recorded with its place and judged elsewhere. SVG, CSS and scripts that draw are what a page should be made of: they
give no finding, and neither does text that only speaks of such things (a string or a comment that mentions `fetch(...)`).
"""

from codecap.render.purity.source import MOST_FINDINGS, findings
from codecap.render.purity.witnessed import AT_RUN_TIME, InlineLoad, observed, seen_call, watch_script

__all__ = ["AT_RUN_TIME", "MOST_FINDINGS", "InlineLoad", "findings", "observed", "seen_call", "watch_script"]
