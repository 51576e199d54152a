"""The page that a person reads first in a published folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from codecap.publish import folder
from codecap.publish.about import About
from codecap.publish.licences import identifier
from codecap.publish.statistics import Statistics, spread
from codecap.records import CATEGORIES

MOST_LICENCES = 20


def readme(about: About, counted: Statistics, *, videos: int, lost: int, licences: Iterable[str]) -> str:
    """Markdown.

    Args:
        videos: how many clips have their video in the folder.
        lost: how many have neither their video here nor an address to fetch it from.
        licences: of the clips, as stated.
    """
    parts = [
        f"# {_plain(about.name)}",
        _plain(about.description) or "Clips of structured 2D video, with objects, their boxes in each frame, and focal points.",
        f"Version {about.version}, {about.published}."
        + (f" By {_plain(', '.join(about.creators))}." if about.creators else "")
        + (f" <{about.url}>" if about.url else ""),
        f"## What is in it\n\n{_table(counted)}\n\n![Statistics]({folder.FIGURE})",
        _files(videos, bool(counted.annotated)),
        _rebuilding(counted.clips, videos, lost),
        f"## Licences\n\nAnnotations, tables and metadata: {_plain(about.licence)}. Each video keeps the licence of its maker "
        f"(`{folder.ATTRIBUTION}`); videos are in this folder only where it allows it.\n\n{_licences(licences)}",
    ]
    if about.citation:
        quoted = "\n".join(f"    {line}" for line in about.citation.splitlines())
        parts.append(f"## To cite it\n\n{quoted}")
    return "\n\n".join(parts) + "\n"


def _table(counted: Statistics) -> str:
    lines = ["| | clips | share |", "|---|---|---|"]
    for letter, count in counted.categories.items():
        lines.append(f"| {letter} {CATEGORIES[letter]} | {count} | {count / counted.clips:.1%} |")
    lines.append(f"| all | {counted.clips} | |")
    numbers = [
        ("Duration, seconds", spread(counted.durations_s)),
        ("Objects in a clip", spread(counted.objects)),
        ("Focal points in a clip", spread(counted.focal_points)),
        ("Duration of a focal point, seconds", spread(counted.intervals_s)),
    ]
    more = ["| | mean | median | least | most |", "|---|---|---|---|---|"]
    more += [
        f"| {what} | {found.mean:.1f} | {found.median:.1f} | {found.least:.1f} | {found.most:.1f} |"
        for what, found in numbers
        if found is not None
    ]
    return "\n".join(lines) + "\n\n" + "\n".join(more)


def _files(videos: int, annotated: bool) -> str:
    lines = [
        f"- `{folder.TABLE}`: a line a clip: category, digest of its video, frames, size, source, licence, where it was cut",
        f"- `{folder.ANNOTATIONS}/<clip_id>.json`: objects with a box in each frame, and focal points" if annotated else "",
        f"- `{folder.CLIPS}/<clip_id>.mp4`: videos, {videos} of them" if videos else "",
        f"- `{folder.ORIGINS}`: from which file each clip was cut, its address, digest, first frame and frame after the last",
        f"- `{folder.PRINTS}`: what each frame looks like in 96 fields, by which a clip is found again in other bytes",
        f"- `{folder.LEDGER}`: all candidates, also those that are no more, and what became of them",
        f"- `{folder.RECIPE}`: versions and settings by which the clips were made",
        f"- `{folder.STATISTICS}`, `{folder.FIGURE}`, `{folder.CARD}` (Croissant 1.0), `{folder.DIGESTS}` (for `sha256sum -c`)",
    ]
    return "## Files\n\n" + "\n".join(line for line in lines if line)


def _rebuilding(clips: int, videos: int, lost: int) -> str:
    gone = f" {lost} of them have neither a video here nor an address, and cannot be had from this folder." if lost else ""
    return (
        "## To have the videos\n\n"
        f"{videos} of the {clips} clips have their video here; the others are fetched from their sites and cut again.{gone}\n\n"
        "```\ncodecap dataset verify .\ncodecap dataset rebuild . --out ../rebuilt\n```\n\n"
        "It says of each clip whether it is bit-equal to the published one, equivalent (the same pictures in other bytes, found by "
        "their looks), or lost."
    )


def _licences(stated: Iterable[str]) -> str:
    counts = Counter(identifier(one) or _plain(one) or "not stated" for one in stated)
    lines = [f"| {name} | {count} |" for name, count in counts.most_common(MOST_LICENCES)]
    rest = sum(counts.values()) - sum(count for _, count in counts.most_common(MOST_LICENCES))
    return "\n".join(["| licence of the video | clips |", "|---|---|", *lines, *([f"| others | {rest} |"] if rest else [])])


def _plain(text: str) -> str:
    """Text that Markdown takes as text: one line, and no sign of its own but those in ordinary prose."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in " ".join(text.split()))
