"""Where a number's rows are: addresses from the report's folder, for every page that shows a number.

A page in a folder of its own puts `../` before them. `#show=` names the systems whose videos a clip's page shows.
"""

from __future__ import annotations

from codecap.report.media import file_stem


def system_page(system: str) -> str:
    """
    >>> system_page("vtrace"), system_page("a/b")
    ('systems/vtrace.html', 'systems/a_b-c14cddc0.html')
    """
    return f"systems/{file_stem(system)}.html"


def column_rows(system: str, column: str) -> str:
    """A system's number in a column, and below it the videos that it is the mean of.

    >>> column_rows("vtrace", "kss")
    'systems/vtrace.html#column-kss'
    """
    return f"{system_page(system)}#{column_id(column)}"


def category_rows(system: str, category: str) -> str:
    return f"{system_page(system)}#category-{category}"


def outcome_rows(system: str) -> str:
    return f"{system_page(system)}#outcomes"


def spent_rows(system: str) -> str:
    """What a system's captions took: cost, tokens, rounds, minutes, tool calls."""
    return f"{system_page(system)}#spent"


def clip_page(clip_id: str, *systems: str, focal_id: str = "") -> str:
    """A clip's page, with these systems' videos beside the reference, at the start of a focal point where one is named.

    >>> clip_page("A_001", "vtrace", "a/b", focal_id="f 1")
    'clips/A_001.html#show=vtrace,a_b-c14cddc0&point=f_1-3b6abec1'
    """
    wanted = [f"show={','.join(map(file_stem, systems))}"] if systems else []
    if focal_id:
        wanted.append(f"point={file_stem(focal_id)}")
    return f"clips/{clip_id}.html" + (f"#{'&'.join(wanted)}" if wanted else "")


def compare_page(first: str, second: str = "") -> str:
    """The page that compares two systems, with these two chosen.

    >>> compare_page("vtrace", "still")
    'compare.html#first=vtrace&second=still'
    """
    return f"compare.html#first={file_stem(first)}" + (f"&second={file_stem(second)}" if second else "")


def column_id(column: str) -> str:
    """Id of a column's line on a system's page."""
    return f"column-{file_stem(column)}"
