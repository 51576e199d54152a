"""One style for all figures on paper: column widths, small letters that lie in the file, colours that all can tell apart.

The same numbers give the same bytes: no date, no name of a program, and ids from a fixed salt. Whatever text comes from a
configuration is drawn as it is, never read as mathematics. Colours: Okabe and Ito 2008, without their yellow, which white drowns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

COLUMN_IN, PAGE_IN = 3.3, 6.9  # widths of one column and of two
INK, SOFT, GRID = "#1c2321", "#59635f", "#dcdeda"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5cc4", "#6b6f76")
HATCHES = ("", "////", "....", "xxxx")  # with the colours: 32 kinds
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
OTHER_LETTERS = ("Noto Sans CJK SC", "Noto Sans CJK JP")  # for what the first font lacks, where they are installed
FIRST_OF_EAST_ASIA = 0x2E80
SHORT_NAME, LONGEST_NAME, KEPT = 14, 31, 18  # letters

STYLE = {
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "errorbar.capsize": 1.5,
    "hatch.linewidth": 0.4,
    "patch.linewidth": 0.4,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "codecap",
    "pdf.fonttype": 42,
    "pdf.compression": 9,
}


@contextmanager
def paper(letters: str = "") -> Iterator[None]:
    """Figures made and saved within are in this style, whatever the user's own settings.

    Args:
        letters: that will be drawn; those of East Asia need a font of their own.
    """
    fonts = ["DejaVu Sans"]
    if any(ord(letter) >= FIRST_OF_EAST_ASIA for letter in letters):
        there = set(font_manager.get_font_names())
        fonts += [name for name in OTHER_LETTERS if name in there]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE | {"font.family": fonts})
        yield


def figure(width_in: float, height_in: float) -> Figure:
    """An empty figure, which belongs to no window."""
    return Figure(figsize=(width_in, height_in))


def save(made: Figure, stem: Path) -> None:
    """Write `stem.svg` (letters as outlines) and `stem.pdf` (fonts embedded); the same figure gives the same bytes."""
    made.get_layout_engine().execute(made)
    made.set_layout_engine("none")  # it stays as it is for both
    for ending, metadata in (
        ("svg", {"Date": None, "Creator": None, "Format": None, "Type": None}),
        ("pdf", {"CreationDate": None, "Creator": None, "Producer": None}),
    ):
        held = BytesIO()
        made.savefig(held, format=ending, metadata=metadata)
        stem.with_name(f"{stem.name}.{ending}").write_bytes(held.getvalue())


def short(name: str) -> str:
    """A name as a figure has room for it; long ones often differ at their end.

    >>> short("GPT-6-astra, Codex, another effort, second try")
    'GPT-6-astra, Codex…, second try'
    """
    return name if len(name) <= LONGEST_NAME else f"{name[:KEPT]}…{name[KEPT + 1 - LONGEST_NAME :]}"


def on_two_lines(name: str) -> str:
    """
    >>> on_two_lines("2D games"), on_two_lines("Data and scientific visualization")
    ('2D games', 'Data and\\nscientific visualization')
    """
    words = name.split() if len(name) > SHORT_NAME else [name]
    half = (len(words) + 1) // 2
    return "\n".join(" ".join(part) for part in (words[:half], words[half:]) if part)


def letters_on(colour: str) -> str:
    """Black or white, whichever can be read on a colour (relative luminance, WCAG 2.1)."""
    linear = [(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.18 else INK


def look(number: int) -> dict[str, str]:
    """Colour and hatch of the `number`-th of several things."""
    return {"color": COLOURS[number % len(COLOURS)], "hatch": HATCHES[number // len(COLOURS) % len(HATCHES)], "edgecolor": "white"}


def ends(means: Sequence[float], lows: Sequence[float | None], highs: Sequence[float | None]) -> list[list[float]]:
    """Lengths of error bars below and above; none where there is no interval."""
    return [
        [0.0 if low is None else max(mean - low, 0.0) for mean, low in zip(means, lows, strict=True)],
        [0.0 if high is None else max(high - mean, 0.0) for mean, high in zip(means, highs, strict=True)],
    ]


def legend_below(made: Figure, handles: Sequence[object], labels: Sequence[str], columns: int) -> None:
    made.legend(handles, labels, loc="outside lower center", ncols=min(columns, max(len(labels), 1)))


def only_across(axes: Axes) -> None:
    """Grid lines of the horizontal axis alone, as bars to the right need."""
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)


def only_up(axes: Axes) -> None:
    axes.grid(False, axis="x")
    axes.tick_params(axis="x", length=0)
