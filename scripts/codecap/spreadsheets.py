"""Texts of others in tables that people open in a spreadsheet: a cell that looks like a formula would be computed there."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how one begins


def inert(text: str) -> str:
    """A text that no spreadsheet computes: behind an apostrophe where it begins like a formula and is no number.

    >>> inert("=1+1"), inert("-5"), inert("a-b")
    ("'=1+1", '-5', 'a-b')
    """
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
