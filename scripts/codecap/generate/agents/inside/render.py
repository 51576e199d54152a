"""render PAGE [--at SECONDS ...] [-o FOLDER]

Draws a page with the engine that will draw it in the end. With --at: these instants, as FOLDER/<seconds>.png, which is quick.
Without: all frames, as FOLDER/page.mp4, and says what came of it. FOLDER is `render` by default. Exit status 1: the page failed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from asking import ask, complaints, page_at, seconds, write


def main() -> int:
    parser = argparse.ArgumentParser("render", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("--at", nargs="+", type=seconds, action="extend", metavar="SECONDS")
    parser.add_argument("-o", "--out", default="render", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    told = ask("/codecap/render", {"page": page_at(asked.page), "at_s": asked.at})
    for time_s, png in told.get("pictures", {}).items():
        write(asked.out / f"{time_s}.png", png)
        print(asked.out / f"{time_s}.png")
    if told.get("video"):
        write(asked.out / "page.mp4", told["video"])
        print(asked.out / "page.mp4")
    if told.get("seek_repeatable") is False:
        print("note: seek gives another picture when the same time is asked for again")
    for finding in told.get("not_only_code", []):
        print(f"note: not only code: {finding}")
    for line in complaints(told):
        print(line)
    print(f"outcome: {told['outcome']}" if told["outcome"] == "ok" else "the page failed")
    return 0 if told["outcome"] == "ok" else 1


if __name__ == "__main__":
    sys.exit(main())
