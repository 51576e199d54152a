"""What the report costs at full scale: time and memory of building it, its size, and how long its pages take to open.

A finished run is drawn (see `drawn_run`). The report is built in a process of its own, so that its peak is its own, and its pages
are opened from the disk in the headless browser: from the address to the first picture of all that the page shows.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.bench.drawn_run import lay
from codecap.bench.scale import Finding
from codecap.compare.comparison import Comparison
from codecap.render.browser import find_browser
from codecap.report import links

MB = 2**20
BUILD_S, MEMORY_MB, FOLDER_MB, LOAD_MS = 180, 1536, 1536, 2000  # at full size
REPEATS = 3
PATIENCE_MS = 60_000
READY_WHEN = {  # what a page shows when it is open, by its kind
    "first page": "() => document.querySelectorAll('.card .bars .line').length > 0",
    "page of a system": "() => document.querySelectorAll('#best img').length > 0",
    "page of a clip": """() => [...document.querySelectorAll('.screen:not([hidden]) video')].every(
        (video) => !video.seeking && video.readyState >= 2)""",
    "comparison of two systems": "() => document.querySelectorAll('#clip-rows tr').length > 0",
}


@dataclass(frozen=True)
class Built:
    """A report that was built: what it took, and what is in the folder.

    Attributes:
        own_mb: without what is hard-linked to the store.
        linked_mb: what is.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    files: int
    own_mb: float
    linked_mb: float
    largest_page_mb: float


def measure(systems: int, clips: int, *, tenth: bool = False) -> list[Finding]:
    """Draw a run of this size, or with a tenth of its clips; build its report and open its pages.

    Raises:
        RuntimeError: the report could not be built.
    """
    held = max(round(clips / 10), 2) if tenth else clips
    with tempfile.TemporaryDirectory(prefix="codecap-report-") as scratch:
        folder = Path(scratch)
        comparison = lay(folder, systems, held)
        built = build(folder)
        return findings(built, loads(folder / "8_report", comparison), clips=clips, held=held)


def build(folder: Path) -> Built:
    """Build the report of a drawn run in a process of its own.

    Raises:
        RuntimeError: it could not be built.
    """
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", __name__, folder])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.monotonic() - began
    if process.returncode:
        raise RuntimeError(f"building the report ended with {process.returncode}")
    files = [path for path in (folder / "8_report").rglob("*") if path.is_file()]
    sizes = {path: path.stat() for path in files}
    return Built(
        wall_s=wall_s,
        cpu_s=used.ru_utime + used.ru_stime,
        peak_mb=used.ru_maxrss / 1024,
        files=len(files),
        own_mb=sum(told.st_size for told in sizes.values() if told.st_nlink == 1) / MB,
        linked_mb=sum(told.st_size for told in sizes.values() if told.st_nlink > 1) / MB,
        largest_page_mb=max(told.st_size for path, told in sizes.items() if path.suffix == ".html") / MB,
    )


def loads(report: Path, comparison: Comparison) -> dict[str, float]:
    """Milliseconds until each kind of page is open; the median of some."""
    from playwright.sync_api import sync_playwright

    first, second = comparison.systems[0].name, comparison.systems[1].name
    pages = {
        "first page": "index.html",
        "page of a system": links.system_page(first),
        "page of a clip": links.clip_page(comparison.clips[0].clip_id),
        "comparison of two systems": links.compare_page(first, second),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), headless=True)
        found = {
            kind: statistics.median(_load(browser, f"{report.as_uri()}/{address}", READY_WHEN[kind]) for _ in range(REPEATS))
            for kind, address in pages.items()
        }
        browser.close()
    return found


def _load(browser: Any, address: str, ready: str) -> float:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address, wait_until="load")
    page.wait_for_function(ready)
    took = page.evaluate("performance.now()")
    context.close()
    return took


def findings(built: Built, loaded: dict[str, float], *, clips: int, held: int) -> list[Finding]:
    """All numbers; what grows with the clips is multiplied where a part of them was built."""
    times, by = clips / held, "" if held == clips else f" x {clips}/{held} clips"

    def grown(what: str, value: float, unit: str = "", most: float | None = None) -> Finding:
        return Finding(what, round(value * times, 1 if unit else None), unit, most, f"{value:,.1f}{by}" if by else "")

    def opened() -> Iterator[Finding]:
        for kind, took_ms in loaded.items():
            yield Finding(f"{kind} opens", round(took_ms), "ms", LOAD_MS, f"of {held} clips" if by else "")

    return [
        grown("building", built.wall_s, "s", BUILD_S),
        grown("building, CPU", built.cpu_s, "CPU s"),
        Finding("building, peak memory", round(built.peak_mb), "MB", MEMORY_MB, f"with {held} clips" if by else ""),
        grown("files", built.files),
        grown("folder without linked media", built.own_mb, "MB", FOLDER_MB),
        grown("linked videos and pages", built.linked_mb, "MB"),
        Finding("largest page", round(built.largest_page_mb, 2), "MB", None, f"of {held} clips" if by else ""),
        *opened(),
    ]


def _build(folder: Path) -> None:
    """What the workflow's script does, with the files of a drawn run."""
    from codecap.records import Annotation, read_record, read_rows
    from codecap.report.site import build_report

    build_report(
        read_record(folder / "7_compare" / "comparison.json", Comparison),
        annotations=read_rows(folder / "annotations.jsonl", Annotation),
        tracks=sorted((folder / "tracks").glob("*.jsonl")),
        tables=folder / "7_compare" / "tables",
        out_dir=folder / "8_report",
    )


if __name__ == "__main__":
    _build(Path(sys.argv[1]))
