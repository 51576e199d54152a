"""From templates to pages. Whatever came from a file, a model or a judge is text: escaped in HTML, and in data blocks too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from codecap.compare.comparison import GROUPS, Column
from codecap.records import CATEGORIES
from codecap.report import links
from codecap.report.media import file_stem

RESOURCES = Path(__file__).resolve().parents[3] / "resources" / "report"
OUTCOMES = {
    "ok": "Video produced",
    "generation_timeout": "Generation timed out",
    "no_complete_html": "No complete page",
    "refused": "Refused",
    "runtime_error": "Script error",
    "missing_seek": "No window.seek",
    "render_timeout": "Rendering timed out",
    "render_crash": "Browser crashed on it",
    "infra_error": "Our failure (not scored)",
}
STATES = {"unscored": "not scored", "infra_error": "our failure", "absent": "does not apply", "failed": "failed"}


def environment(resources: Path = RESOURCES) -> Environment:
    """Templates with escaping on, undefined names an error, and the filters that pages use."""
    made = Environment(
        loader=FileSystemLoader(resources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["data"] = data_block
    made.filters["told"] = told
    made.filters["place"] = place_on_scale
    made.filters["file_stem"] = file_stem
    made.globals.update(outcomes=OUTCOMES, categories=CATEGORIES, groups=GROUPS, states=STATES, links=links)
    return made


def data_block(data: Any) -> Markup:
    """JSON for a `<script type="application/json">`: no `<`, `>` or `&` in it, so nothing in the data can end the element.

    >>> data_block("</script>")
    Markup('"\\\\u003c/script\\\\u003e"')
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def told(value: float | None, column: Column | None = None) -> str:
    """A number as a table prints it: 3 decimals on a scale of at most 4, else 1; whole numbers from 1,000 up.

    >>> told(None), told(1234.5), told(41.25), told(-0.01)
    ('–', '1,234', '41.2', '0.0')
    """
    if value is None:
        return "–"
    decimals = 0 if abs(value) >= 1000 and decimals_of(column) == 1 else decimals_of(column)
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def decimals_of(column: Column | None) -> int:
    fine = column is not None and column.lowest is not None and column.highest is not None and column.highest - column.lowest <= 4
    return 3 if fine else 1


def place_on_scale(value: float, lowest: float, highest: float) -> float:
    """Where a value lies between two ends, 0 to 100.

    >>> place_on_scale(0.5, 0.0, 2.0)
    25.0
    """
    if highest <= lowest:
        return 0.0
    return round(min(max(100.0 * (value - lowest) / (highest - lowest), 0.0), 100.0), 2)


def write_page(path: Path, made: Environment, template: str, context: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        made.get_template(template).stream(context).dump(file)
