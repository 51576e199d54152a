"""From an empty folder to a clips table over a site of the test's own with 60 candidates; killed on the way, and run to its end."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

import pytest
from drawn import figures, filmed, letterboxed, pictures, resized, still, write

from codecap.clips_table import read_clips
from codecap.records import Duplicate, LedgerEntry, Part, PassedOver, read_rows

pytestmark = pytest.mark.slow

WHITE = (255, 255, 255)
MASTERS, COPIED, NEGATIVES = 18, 4, 8
GONE = {f"gone-{number}": 410 if number == 3 else 404 for number in range(9)}
PRIVATE = {f"private-{number}": 401 if number == 2 else 403 for number in range(4)}
CUT = "master-00"  # its first answer ends early
LONG = "long"
KINDS = ("encoded", "resized", "trimmed", "boxed")
SHOTS = [  # of the long video: seconds, and what it shows
    (2.0, figures(100)),  # intro
    (4.0, figures(101, WHITE)),
    (3.0, filmed(102)),
    (4.0, figures(103, WHITE)),
    (4.0, still(104)),
    (4.0, figures(105, WHITE)),
    (3.0, figures(106)),  # end card
]
PARTS = {"long_f000048": (2.0, 6.0), "long_f000216": (9.0, 13.0), "long_f000408": (17.0, 21.0)}


def draw(folder: Path) -> dict[str, Path]:
    """The site's videos by name."""

    def file(name, frames, crf=18):
        return write(folder / f"{name}.mp4", frames, crf)

    found = {}
    for number in range(MASTERS):
        frames = list(pictures(figures(number, WHITE), 2.5))
        name = f"master-{number:02d}"
        found[name] = file(name, frames)
        if number < COPIED:
            found[f"encoded-{number}"] = file(f"encoded-{number}", frames, crf=36)
            found[f"resized-{number}"] = file(f"resized-{number}", [resized(picture, 96, 54) for picture in frames])
            found[f"trimmed-{number}"] = file(f"trimmed-{number}", frames[9:55])
            found[f"boxed-{number}"] = file(f"boxed-{number}", [letterboxed(picture)[::2, ::2] for picture in frames])
    found["once-more"] = folder / "once-more.mp4"
    found["once-more"].write_bytes(found["master-09"].read_bytes())
    for number in range(NEGATIVES):
        found[f"filmed-{number}"] = file(f"filmed-{number}", pictures(filmed(number), 2.5))
    for number in range(2):
        found[f"still-{number}"] = file(f"still-{number}", pictures(still(200 + number), 2.5))
    found[LONG] = file(LONG, [picture for seconds, scene in SHOTS for picture in pictures(scene, seconds)])
    return found


class Site:
    """Serves the videos, and counts what it was asked for and what it has given whole."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.asked: Counter[str] = Counter()
        self.given: Counter[str] = Counter()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = Path(self.path).stem
                site.asked[name] += 1
                if name in GONE or name in PRIVATE:
                    self.send_error((GONE | PRIVATE)[name])
                    return
                page = name == "page"
                body = b"<html><body>Please sign in</body></html>" if page else files[name].read_bytes()
                self.send_response(200)
                self.send_header("Content-Type", "text/html" if page else "video/mp4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                cut = name == CUT and site.asked[name] == 1
                self.wfile.write(body[: len(body) * 4 // 5] if cut else body)
                if cut:
                    self.close_connection = True
                elif not page:
                    site.given[name] += 1

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def kill(run: subprocess.Popen) -> None:
    """The run, and the jobs that it has started, some in groups of their own."""
    ours, found = set(), {run.pid}
    while found - ours:
        ours |= found
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found |= {int(entry.name)} if parent in ours else set()
    for process in ours:
        os.kill(process, signal.SIGKILL)
    run.communicate(timeout=30)


def test_sixty_candidates_become_the_expected_table_and_nothing_is_fetched_twice(workflow, tmp_path_factory):
    files = draw(tmp_path_factory.mktemp("site"))
    names = sorted([*files, *GONE, *PRIVATE, "page"])
    assert len(names) == 60
    with Site(files) as site:
        urls = [{"url": f"{site.address}/{name}.mp4", "whole": name != LONG} for name in names]
        source = {"plugin": "http", "urls": urls, "category": "F", "licence": "CC0-1.0", "pause_s": 0}
        parts = {"shortest_s": 3, "typical_s": 4, "longest_s": 6, "apart_s": 1, "intro_s": 3, "end_card_s": 4, "cards_above_s": 20}
        workflow.configure(
            sources={"demo": None, "site": source},
            parts=parts,
            filter={"still_share": 0.7},  # an encoder makes the first half second of a still picture better and better
            proposers={"embedded": {"width_px": 64}},
            buckets=1,
        )

        run = workflow.start("dataset", start_new_session=True)
        end = time.monotonic() + 300
        while sum(site.given.values()) < 25:
            assert run.poll() is None and time.monotonic() < end, run.stdout.read()[-3000:]
            time.sleep(0.05)
        kill(run)
        first = Counter(site.given)
        assert 25 <= sum(first.values()) < 40

        workflow.finish("dataset")
        twice = [name for name, count in site.given.items() if count > 1]
        assert len(twice) <= 1  # the one that was under way
        assert set(site.given) == set(files)
        assert all(site.asked[name] == 1 for name in set(files) - set(twice) - {CUT} - set(first))
        asked = Counter(site.asked)
        assert "Nothing to be done" in workflow.finish("dataset")
        assert site.asked == asked

    check(workflow.folder, names)


def check(folder: Path, names: list[str]) -> None:
    """The clips table, and what is said of those that are not in it."""
    results = folder / "results"
    clips = {clip.clip_id: clip for clip in read_clips(results / "3_annotate/clips.tsv", folder / "store/bulk/clips")}
    masters = {f"master-{number:02d}" for number in range(MASTERS)}
    assert set(clips) == masters | set(PARTS)
    assert all(clip.mp4.is_file() and clip.category == "F" and clip.licence == "CC0-1.0" for clip in clips.values())
    assert {clips[name].frames for name in masters} == {60}
    assert {name: (clips[name].source_start_s, clips[name].source_end_s) for name in PARTS} == PARTS
    assert {clips[name].frames for name in PARTS} == {96}

    twins = {row.candidate_id: row.twin for row in read_rows(results / "1_collect/duplicates.jsonl", Duplicate)}
    copies = {f"{kind}-{number}": f"master-{number:02d}" for kind in KINDS for number in range(COPIED)}
    assert twins == copies | {"once-more": "master-09"}
    assert {row.candidate_id for row in read_rows(results / "1_collect/passed_over.jsonl", PassedOver)} == set(twins)
    assert len(list(read_rows(results / "1_collect/parts.jsonl", Part))) == 60 - len(twins) - len(GONE) - len(PRIVATE) - 1 + 2

    ledger = {row.candidate.candidate_id: row for row in read_rows(results / "1_collect/ledger.jsonl", LedgerEntry)}
    assert set(ledger) == set(names)
    assert {name for name, row in ledger.items() if row.cause == "gone"} == set(GONE)
    assert {name for name, row in ledger.items() if row.cause == "private"} == set(PRIVATE)
    assert ledger["page"].cause == "not_a_video"
    assert sorted(ledger[LONG].clips) == sorted(PARTS)
    lines = (results / "3_annotate/verdicts.tsv").read_text().splitlines()[1:]
    decisions = Counter(line.split("\t")[2] for line in lines)
    assert decisions == {"keep": len(clips), "drop": NEGATIVES + 2, "failed": len(twins) + len(GONE) + len(PRIVATE) + 1}
